import { carryObjects } from "./objects.ts";
import { checkedOutAt } from "./publish.ts";
import { keepRef, moveRef, type Repository, RepositoryTrouble, signed, userGitDir, valueOfRef } from "./repository.ts";
import { git, GitFailure, gitText } from "./run.ts";
import { isAncestor, mergeTrees } from "./start.ts";

export interface ApproveWish {
  commit: string;
  /** A branch of the user's repository. */
  target: string;
  how: "ff" | "merge" | "squash";
}

/** What became of it; where nothing was done, `why` says so and `command` is what a person may run. */
export type Approved = { is: "done"; commit: string } | { is: "left"; why: string; command: string };

/**
 * The target branch holds the work, unless somebody has it checked out, it moved meanwhile, or git cannot merge
 * (contract-assignment.md, section 12). Repeated it changes nothing.
 *
 * @throws {RepositoryTrouble} when there is no such branch
 */
export async function approveInto(repo: Repository, wish: ApproveWish): Promise<Approved> {
  const gitDir = userGitDir(repo);
  const { target, commit, how } = wish;
  const ref = `refs/heads/${target}`;
  return repo.inTurn(async () => {
    await checkBranch(target);
    const now = await valueOfRef(gitDir, ref);
    if (now === null)
      throw new RepositoryTrouble(`The repository ${repo.name} has no branch ${JSON.stringify(target)}.`);
    const left = (why: string): Approved => ({ is: "left", why, command: byHand(wish) });
    const place = await checkedOutAt(gitDir, ref);
    if (now !== commit && place !== null) return left(`The branch ${target} is checked out in ${place}.`);

    await carryObjects(gitDir, repo.store, now);
    await keepRef(repo, repo.store, `refs/parley/base/${now}`, now);
    const next = await nextOf(repo, now, wish);
    if (typeof next !== "string") return left(next.why);
    if (next === now) return { is: "done", commit: now };
    try {
      await carryObjects(repo.store, gitDir, next);
      await moveRef(repo, gitDir, ref, next, now);
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      return left(`The branch ${target} could not be moved: ${error.message}`);
    }
    return { is: "done", commit: next };

    async function checkBranch(name: string): Promise<void> {
      const isName =
        !name.startsWith("-") && (await git(["check-ref-format", `refs/heads/${name}`], { allow: [1] })).code === 0;
      if (!isName) throw new RepositoryTrouble(`${JSON.stringify(name)} is not the name of a branch.`);
    }

    function byHand({ how: by, commit: what }: ApproveWish): string {
      const how = { ff: "--ff-only", merge: "--no-ff", squash: "--squash" }[by];
      return `git merge ${how} ${what}${by === "squash" ? " && git commit" : ""}`;
    }
  });

  /** Returns what the branch is to stand for, or why it cannot. */
  async function nextOf(own: Repository, now: string, wished: ApproveWish): Promise<string | { why: string }> {
    if (await isAncestor(own, commit, now)) return now;
    const isAhead = await isAncestor(own, now, commit);
    if (how === "ff") {
      return isAhead
        ? commit
        : { why: `The branch ${wished.target} went on since; it cannot be moved without a merge.` };
    }
    const { tree, paths } = await mergeTrees(own, now, commit);
    if (paths.length > 0) return { why: `${wished.target} and the work conflict in ${paths.join(", ")}.` };
    const parents = how === "merge" ? [now, commit] : [now];
    // A squash that is repeated finds that there is nothing to add.
    if (how === "squash" && tree === (await gitText(["rev-parse", `${now}^{tree}`], { gitDir: own.store }))) return now;
    const body = await gitText(["log", "-1", "--no-show-signature", "--format=%B", commit], { gitDir: own.store });
    const subject = `Merge ${body.split("\n")[0] ?? ""}`;
    return gitText(["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"], {
      gitDir: own.store,
      env: signed(own),
      input: how === "merge" ? `${subject}\n` : `${body}\n`,
    });
  }
}
