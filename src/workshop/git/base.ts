import { keepRef, valueOfRef } from "./refs.ts";
import { keepShallow, isObjectName, type Repository, RepositoryTrouble, userGitDir } from "./repository.ts";
import { carryObjects, hasCommit } from "./objects.ts";
import { git, GitFailure } from "./run.ts";

/** The accepted name of a branch, a remote's branch or a tag. It excludes options and expressions of git. */
const PLAIN_REF = /^(?![-./])(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)|[./]$))[^\s\p{Cc}~^:?*[\]\\]{1,250}$/u;

/**
 * Returns the commit that a ref of the user's repository stands for now; the store holds it afterwards, under
 * `refs/parley/base/<sha>`. Nothing is fetched from anywhere else (spec/assignment 4).
 *
 * @throws {RepositoryTrouble} when there is no such ref, or its commit is not whole
 */
export async function resolveBase(repo: Repository, ref: string): Promise<string> {
  const gitDir = userGitDir(repo);
  const commit = await commitOf(repo, gitDir, ref);
  const kept = `refs/parley/base/${commit}`;
  await repo.inTurn(async () => {
    if ((await valueOfRef(repo.store, kept)) === commit) return;
    if (repo.commonDir !== null) await keepShallow(repo.commonDir, repo.store);
    try {
      await carryObjects(gitDir, repo.store, commit);
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      throw new RepositoryTrouble(
        `The commit ${commit} of ${repo.name} could not be read whole; in a partial clone, fetch what is missing first. ${error.message}`,
      );
    }
    await keepRef(repo, repo.store, kept, commit);
  });
  return commit;
}

/**
 * The store holds each of these commits that the user's repository has: what another server published there, from a store
 * of its own, can be built on here.
 */
export async function bringPublished(repo: Repository, commits: readonly string[]): Promise<void> {
  const { gitDir, store } = repo;
  if (gitDir === null) return;
  await repo.inTurn(async () => {
    for (const commit of commits) {
      if ((await hasCommit(store, commit)) || !(await hasCommit(gitDir, commit))) continue;
      await carryObjects(gitDir, store, commit);
      await keepRef(repo, store, `refs/parley/dependency/${commit}`, commit);
    }
  });
}

async function commitOf(repo: Repository, gitDir: string, ref: string): Promise<string> {
  if (!PLAIN_REF.test(ref)) throw new RepositoryTrouble(`${JSON.stringify(ref)} is not the name of a branch.`);
  const names = [
    ...(ref === "HEAD" || ref.startsWith("refs/") || isObjectName(ref) ? [ref] : []),
    `refs/heads/${ref}`,
    `refs/remotes/${ref}`,
    `refs/tags/${ref}`,
  ];
  const { stdout } = await git(["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    gitDir,
    input: names.map((name) => `${name}^{commit}\n`).join(""),
  });
  for (const line of stdout.toString("utf8").split("\n")) {
    const [commit = "", type] = line.split(" ");
    if (type === "commit" && isObjectName(commit)) return commit;
  }
  const why = ref === "HEAD" ? "has no commit yet" : `has no branch ${JSON.stringify(ref)}`;
  throw new RepositoryTrouble(`The repository ${repo.name} ${why}.`);
}
