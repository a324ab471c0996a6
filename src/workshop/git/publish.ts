import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { attemptRef } from "./commit.ts";
import { carryObjects } from "./objects.ts";
import { takeRef, moveRef, removeRef, valueOfRef } from "./refs.ts";
import { type Repository, RepositoryTrouble, userGitDir } from "./repository.ts";
import { git, GitFailure, gitText } from "./run.ts";

export interface PublishInput {
  slug: string;
  n: number;
  commit: string;
  /** The commit that Parley last set the branch to; null if it never did. */
  last: string | null;
}

export interface Published {
  ref: string;
  /** The branch that stands for the commit now; null when it was left alone. */
  branch: string | null;
  /** Why it was left alone, as a sentence. */
  why?: string;
}

/**
 * The user's repository has the commit as `refs/aa/<slug>/<n>`, and as the branch `<prefix><slug>` unless somebody works
 * on that branch, moved it, or has given its name away (spec/assignment 4.2). Repeated it changes nothing.
 *
 * @throws {RepositoryTrouble} when the user's repository could not take the commit
 */
export async function publish(repo: Repository, input: PublishInput): Promise<Published> {
  const gitDir = userGitDir(repo);
  const ref = attemptRef(input.slug, input.n);
  const branch = `${repo.branchPrefix}${input.slug}`;
  return repo.inTurn(async () => {
    try {
      if ((await valueOfRef(gitDir, ref)) !== input.commit) await carryObjects(repo.store, gitDir, input.commit);
      await takeRef(repo, gitDir, { ref, value: input.commit });
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      throw new RepositoryTrouble(`${ref} could not be written into ${repo.name}: ${error.message}`);
    }
    const why = await advance(repo, gitDir, branch, input);
    return why === null ? { ref, branch } : { ref, branch: null, why };
  });
}

/** Whether a commit is kept as one of the task's attempts. A branch at such a commit holds no work of a person. */
async function isAttempt(gitDir: string, slug: string, commit: string): Promise<boolean> {
  const output = await gitText(["for-each-ref", "--format=%(objectname)", `refs/aa/${slug}/`], { gitDir });
  return output.split("\n").includes(commit);
}

/** The branch of a task is gone from the user's repository, if it still stands for `value` and nobody works on it. */
export async function dropBranch(repo: Repository, { slug, value }: { slug: string; value: string }): Promise<boolean> {
  const gitDir = userGitDir(repo);
  const ref = `refs/heads/${repo.branchPrefix}${slug}`;
  return repo.inTurn(async () => {
    if ((await valueOfRef(gitDir, ref)) !== value || (await checkedOutAt(repo, ref)) !== null) return false;
    await removeRef(repo, gitDir, ref, value);
    return true;
  });
}

/** Returns the working tree in which a branch of the user's is checked out, rebased or bisected, or null. */
export async function checkedOutAt(repo: Repository, ref: string): Promise<string | null> {
  const gitDir = userGitDir(repo);
  const { stdout } = await git(["worktree", "list", "--porcelain", "-z"], { gitDir });
  let place = "";
  for (const line of stdout.toString("utf8").split("\0")) {
    if (line.startsWith("worktree ")) place = line.slice("worktree ".length);
    if (line === `branch ${ref}`) return place;
  }
  return busyWith(repo.commonDir ?? gitDir, ref);
}

/** While these last, HEAD is detached, and git sets the branch when they end. */
const BUSY = ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];

async function busyWith(commonDir: string, ref: string): Promise<string | null> {
  const others = await readdir(join(commonDir, "worktrees")).catch(() => []);
  for (const dir of [commonDir, ...others.map((name) => join(commonDir, "worktrees", name))]) {
    for (const name of BUSY) {
      const branch = (await readFile(join(dir, name), "utf8").catch(() => "")).trim();
      if (branch !== "" && ref === (branch.startsWith("refs/") ? branch : `refs/heads/${branch}`)) return dir;
    }
  }
  return null;
}

async function advance(repo: Repository, gitDir: string, branch: string, input: PublishInput): Promise<string | null> {
  const ref = `refs/heads/${branch}`;
  const now = await valueOfRef(gitDir, ref);
  if (now === input.commit) return null;
  const place = await checkedOutAt(repo, ref);
  if (place !== null) return `The branch ${branch} is checked out in ${place}.`;
  if (now !== input.last && (now === null || !(await isAttempt(gitDir, input.slug, now)))) {
    return now === null ? `The branch ${branch} was deleted.` : `The branch ${branch} was moved by somebody else.`;
  }
  try {
    await moveRef(repo, gitDir, ref, { from: now, to: input.commit });
    return null;
  } catch (error) {
    if (!(error instanceof GitFailure || error instanceof RepositoryTrouble)) throw error;
    return `The branch ${branch} could not be set: ${error.message}`;
  }
}
