import { carryObjects } from "./objects.ts";
import { checkedOutAt } from "./publish.ts";
import { keepRef, moveRef, valueOfRef } from "./refs.ts";
import { type Repository, RepositoryTrouble, signed, userGitDir } from "./repository.ts";
import { git, GitFailure, gitText } from "./run.ts";
import { isAncestor, mergeTrees } from "./start.ts";

export interface ApproveInput {
  commit: string;
  /** A branch of the user's repository. */
  target: string;
  how: "ff" | "merge" | "squash";
}

/** The result of an approval. Where the branch was left as it is, `why` is the reason and `command` does it by hand. */
export type Approved = { kind: "done"; commit: string } | { kind: "left"; why: string; command: string };

const BY_HAND = {
  ff: (commit: string) => `git merge --ff-only ${commit}`,
  merge: (commit: string) => `git merge --no-ff ${commit}`,
  squash: (commit: string) => `git merge --squash ${commit} && git commit`,
};

/**
 * The target branch holds the work, unless somebody has it checked out, it moved meanwhile, or git cannot merge
 * (spec/assignment 12). Repeated it changes nothing.
 *
 * @throws {RepositoryTrouble} when there is no such branch
 */
export async function approveInto(repo: Repository, input: ApproveInput): Promise<Approved> {
  const gitDir = userGitDir(repo);
  const { target, commit, how } = input;
  const ref = `refs/heads/${target}`;
  const left = (why: string): Approved => ({ kind: "left", why, command: BY_HAND[how](commit) });
  return repo.inTurn(async () => {
    const now = (await isBranchName(target)) ? await valueOfRef(gitDir, ref) : null;
    if (now === null) throw new RepositoryTrouble(`${repo.name} has no branch ${JSON.stringify(target)}.`);
    await carryObjects(gitDir, repo.store, now);
    await keepRef(repo, repo.store, `refs/parley/base/${now}`, now);
    if (await isThere(repo, now, input)) return { kind: "done", commit: now };
    const place = await checkedOutAt(repo, ref);
    if (place !== null) return left(`The branch ${target} is checked out in ${place}.`);

    const next = await nextOf(repo, now, input);
    if (next.kind === "left") return left(next.why);
    try {
      await carryObjects(repo.store, gitDir, next.commit);
      await moveRef(repo, gitDir, ref, { from: now, to: next.commit });
      return next;
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      return left(`The branch ${target} could not be moved: ${error.message}`);
    }
  });
}

async function isBranchName(name: string): Promise<boolean> {
  return (await git(["check-ref-format", `refs/heads/${name}`], { allow: [1] })).code === 0;
}

/** Whether the branch has the work: in its history, or where it was squashed, because a merge would add nothing. */
async function isThere(repo: Repository, now: string, { commit, how }: ApproveInput): Promise<boolean> {
  if (await isAncestor(repo, commit, now)) return true;
  if (how !== "squash") return false;
  const { tree, paths } = await mergeTrees(repo, now, commit);
  return paths.length === 0 && tree === (await gitText(["rev-parse", `${now}^{tree}`], { gitDir: repo.store }));
}

/** Returns what the branch is to stand for, or why it cannot. */
async function nextOf(
  repo: Repository,
  now: string,
  { commit, target, how }: ApproveInput,
): Promise<{ kind: "done"; commit: string } | { kind: "left"; why: string }> {
  if (how === "ff") {
    if (await isAncestor(repo, now, commit)) return { kind: "done", commit };
    return { kind: "left", why: `The branch ${target} went on since, and cannot be moved without a merge.` };
  }
  const { tree, paths } = await mergeTrees(repo, now, commit);
  if (paths.length > 0) return { kind: "left", why: `${target} and the work conflict in ${paths.join(", ")}.` };
  const message = (await gitText(["cat-file", "commit", commit], { gitDir: repo.store })).replace(/^[^]*?\n\n/, "");
  const parents = how === "merge" ? ["-p", now, "-p", commit] : ["-p", now];
  const made = await gitText(["commit-tree", tree, ...parents, "-F", "-"], {
    gitDir: repo.store,
    env: signed(repo),
    input: how === "merge" ? `Merge ${message.split("\n")[0] ?? ""}\n` : `${message}\n`,
  });
  return { kind: "done", commit: made };
}
