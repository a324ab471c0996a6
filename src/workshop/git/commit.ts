import type { Diffstat } from "../../tasks/model/task.ts";
import { TreeRefused } from "./listing.ts";
import { carryObjects } from "./objects.ts";
import { changedBytes, changedPaths, diffstat } from "./read.ts";
import { keepRef, takeRef, valueOfRef } from "./refs.ts";
import { type Repository, RepositoryTrouble, signed } from "./repository.ts";
import { git, GitFailure, gitText } from "./run.ts";
import { parentsOnTopOf } from "./start.ts";
import { submoduleWarnings } from "./submodules.ts";
import { type Left, lfsWarnings, type CommitLimits, markersLeft, stageTree } from "./staging.ts";

export interface CommitInput extends Left {
  slug: string;
  /** The attempt's number. */
  n: number;
  message: string;
  /** Files that had conflict markers when the attempt started. */
  markersIn?: readonly string[];
  limits?: CommitLimits;
}

export interface CommittedTree {
  commit: string;
  changed: boolean;
  diffstat: Diffstat;
  /** Sentences about what is not as somebody could expect. */
  warnings: string[];
}

/**
 * Commits the agent's work as one commit on its start commit, named `refs/aa/<slug>/<n>` in the store. The commit is
 * empty if nothing changed. If the start commit has conflict markers in it, the new commit takes its place. A repeated
 * call with the same tree, start and message returns the same commit.
 *
 * @throws {TreeRefused} beyond a limit, where a conflict marker is left, or when something cannot be read
 */
export async function commitTree(repo: Repository, input: CommitInput): Promise<CommittedTree> {
  const ref = attemptRef(input.slug, input.n);
  const { tree, warnings } = await stageTree(repo, input, { limits: input.limits });
  const parents = await parentsOnTopOf(repo, input.start);
  const marked = await markersLeft(repo, tree, { paths: input.markersIn ?? [], parents });
  if (marked.length > 0) throw new TreeRefused(`Conflict markers are left in ${marked.join(", ")}.`);
  const made = await makeCommit(repo, tree, parents, input.message);
  const isSame = (before: string) => saysTheSame(repo, before, made);
  const commit = await repo.inTurn(() => takeRef(repo, repo.store, { ref, value: made }, isSame));
  const between = { from: input.start, to: commit };
  const names = await changedBytes(repo, between);
  const more = [...(await lfsWarnings(repo, input, names)), ...(await submoduleWarnings(repo, commit, names))];
  const changed = tree !== (await treeOf(repo, input.start));
  return { commit, changed, diffstat: await diffstat(repo, between), warnings: [...warnings, ...more] };
}

/**
 * Returns a commit of the unfinished work of an attempt, or null when nothing changed. It is
 * `refs/aa/<slug>/<n>-wip` in the store (`-wip2` and on, where an earlier one holds something else), and in the user's
 * repository as soon as that can be written. Files beyond the limits are left out.
 *
 * @throws {TreeRefused} when something cannot be read
 */
export async function snapshot(
  repo: Repository,
  input: Omit<CommitInput, "message" | "markersIn">,
): Promise<string | null> {
  const { tree } = await stageTree(repo, input, { isPartial: true, limits: input.limits });
  if (tree === (await treeOf(repo, input.start))) return null;
  return repo.inTurn(async () => {
    for (let i = 1; ; i += 1) {
      const ref = `${attemptRef(input.slug, input.n)}-wip${i === 1 ? "" : i}`;
      const kept = await valueOfRef(repo.store, ref);
      if (kept !== null && (await treeOf(repo, kept)) !== tree) continue;
      const message = `Unfinished work of ${input.slug}, attempt ${input.n}\n`;
      const commit = kept ?? (await makeCommit(repo, tree, [input.start], message));
      await keepRef(repo, repo.store, ref, commit);
      await showUser(repo, ref, commit);
      return commit;
    }
  });
}

/** Returns the paths in which a tree that is not committed yet differs from its start commit. @throws {TreeRefused} */
export async function treeChangedPaths(repo: Repository, left: Left): Promise<string[]> {
  const { tree } = await stageTree(repo, left, { isPartial: true });
  return changedPaths(repo, { from: left.start, to: tree });
}

/** The name under which the commit of an attempt is kept. */
export function attemptRef(slug: string, n: number): string {
  if (!/^[a-z0-9-]{1,60}$/.test(slug) || !Number.isSafeInteger(n) || n < 1) throw new Error("no name of an attempt");
  return `refs/aa/${slug}/${n}`;
}

async function showUser(repo: Repository, ref: string, commit: string): Promise<void> {
  if (repo.gitDir === null) return;
  try {
    await carryObjects(repo.store, repo.gitDir, commit);
    await takeRef(repo, repo.gitDir, { ref, value: commit });
  } catch (error) {
    // The store has it; the user's repository may be away, and that must not hold up the end of an attempt.
    if (!(error instanceof GitFailure || error instanceof RepositoryTrouble)) throw error;
  }
}

async function makeCommit(
  repo: Repository,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
  return gitText(args, { gitDir: repo.store, env: signed(repo), input: message });
}

/** Whether two commits differ only in their times. */
async function saysTheSame(repo: Repository, one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map(async (commit) => {
      const { stdout } = await git(["cat-file", "commit", commit], { gitDir: repo.store });
      return stdout.toString("latin1").replaceAll(/^(author|committer) (.*) \d+ [+-]\d{4}$/gm, "$1 $2");
    }),
  );
  return first === second;
}

async function treeOf(repo: Repository, commit: string): Promise<string> {
  return gitText(["rev-parse", "--verify", `${commit}^{tree}`], { gitDir: repo.store });
}
