import type { Diffstat } from "../../tasks/model/task.ts";
import { removeRef, valueOfRef } from "./refs.ts";
import { isObjectName, type Repository } from "./repository.ts";
import { git, gitText } from "./run.ts";

/** Two commits, or trees. */
export interface Between {
  from: string;
  to: string;
}

const MOST_DIFF_BYTES = 4 * 1024 * 1024;
const MOST_READ_BYTES = 256 * 1024;
/** Neither a program nor a setting decides how a change is shown. */
const PLAIN = ["--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--ignore-submodules=none"];

/** Returns what changed as a patch; the end of a very long one is cut, and its last line says so. */
export async function diff(repo: Repository, { from, to }: Between, mostBytes = MOST_DIFF_BYTES): Promise<string> {
  checkNames(from, to);
  const { stdout, isCut } = await git(["diff-tree", "-r", "-p", "-M", "--full-index", ...PLAIN, from, to], {
    gitDir: repo.store,
    mostBytes,
    isCut: true,
  });
  const text = stdout.toString("utf8");
  return isCut ? `${text.slice(0, text.lastIndexOf("\n") + 1)}[The rest of the patch is not shown.]\n` : text;
}

/** Returns how much changed. */
export async function diffstat(repo: Repository, { from, to }: Between): Promise<Diffstat> {
  checkNames(from, to);
  const output = await gitText(["diff-tree", "-r", "-M", "--shortstat", ...PLAIN, from, to], { gitDir: repo.store });
  const count = (word: RegExp) => Number(word.exec(output)?.[1] ?? 0);
  return {
    files: count(/(?<!\d)(\d+) files? changed/),
    insertions: count(/(?<!\d)(\d+) insertions?\(\+\)/),
    deletions: count(/(?<!\d)(\d+) deletions?\(-\)/),
  };
}

/** Returns the paths that changed, renamed ones under both names. */
export async function changedPaths(repo: Repository, between: Between): Promise<string[]> {
  return (await changedBytes(repo, between)).map((path) => Buffer.from(path, "latin1").toString("utf8"));
}

/** Returns the same paths as they are on disk, each byte as one character. */
export async function changedBytes(repo: Repository, { from, to }: Between): Promise<string[]> {
  checkNames(from, to);
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", ...PLAIN, from, to];
  const { stdout } = await git(args, { gitDir: repo.store });
  return stdout.toString("latin1").split("\0").filter(Boolean);
}

/**
 * Returns the text of a file in a commit, cut where it is very long; null when there is no ordinary file of that name.
 * Links are not followed.
 */
export async function readAt(repo: Repository, commit: string, path: string): Promise<string | null> {
  checkNames(commit);
  const { stdout } = await git(["ls-tree", "-z", "--full-tree", commit, "--", path], {
    gitDir: repo.store,
    env: { GIT_LITERAL_PATHSPECS: "1" },
  });
  const [, mode = "", type, object = "", name] =
    /^(\d+) (\w+) ([0-9a-f]+)\t([^\0]*)\0$/.exec(stdout.toString("utf8")) ?? [];
  if (type !== "blob" || !mode.startsWith("100") || name !== path) return null;
  const call = { gitDir: repo.store, mostBytes: MOST_READ_BYTES, isCut: true };
  return (await git(["cat-file", "blob", object], call)).stdout.toString("utf8");
}

/** Every ref of Parley's own, with what it stands for. */
export interface KnownRefs {
  store: ReadonlyMap<string, string>;
  /** Those of the user's repository, branches under the prefix among them; null where it is elsewhere. */
  user: ReadonlyMap<string, string> | null;
}

/** Returns which commits of attempts exist where, to be compared with what should be (spec/assignment 10). */
export async function refsOf(repo: Repository): Promise<KnownRefs> {
  const branches = `refs/heads/${repo.branchPrefix}`;
  return {
    store: await refsBelow(repo.store, ["refs/aa/"]),
    user: repo.gitDir === null ? null : await refsBelow(repo.gitDir, ["refs/aa/", branches]),
  };
}

/** A ref below `refs/aa` is gone from the store, and from the user's repository where it stands for the same there. */
export async function dropRef(repo: Repository, ref: string): Promise<void> {
  if (!ref.startsWith("refs/aa/")) throw new Error("not a ref of Parley's own");
  await repo.inTurn(async () => {
    const value = await valueOfRef(repo.store, ref);
    if (value === null) return;
    // First the user's: what is met again is known by the store's.
    if (repo.gitDir !== null && (await valueOfRef(repo.gitDir, ref)) === value) {
      await removeRef(repo, repo.gitDir, ref, value);
    }
    // point: task-retention-between-refs
    await removeRef(repo, repo.store, ref, value);
  });
}

async function refsBelow(gitDir: string, below: readonly string[]): Promise<Map<string, string>> {
  const output = await gitText(["for-each-ref", "--format=%(objectname) %(refname)", ...below], { gitDir });
  return new Map(
    output.split("\n").flatMap((line) => {
      const space = line.indexOf(" ");
      return space === -1 ? [] : [[line.slice(space + 1), line.slice(0, space)] as const];
    }),
  );
}

function checkNames(...names: readonly string[]): void {
  if (!names.every(isObjectName)) throw new Error("not the name of an object");
}
