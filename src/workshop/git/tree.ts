import { chmod, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder, renameForGood, writeWhole } from "../../lib/files/durable-files.ts";
import { copyIncluded } from "./include.ts";
import { isObjectName, keepShallow, type Repository, RepositoryTrouble } from "./repository.ts";
import { git, GitFailure } from "./run.ts";

export interface TreeInput {
  /** Where it is to stand; what stands there now goes. */
  dir: string;
  slug: string;
  start: string;
  /** The user's checkout whose `.worktreeinclude` names untracked files that come along; null for none. */
  include: string | null;
}

export interface MadeTree {
  /** How many files came along from the checkout. */
  copied: number;
  warnings: string[];
}

/**
 * A folder with the start commit checked out, and a repository of its own that borrows objects from the store. From now
 * on that `.git` is the agent's: Parley never uses it again. It is made beside its place, so that what stands there is
 * whole (spec/assignment 4.2).
 *
 * @throws {RepositoryTrouble} when the commit holds what no file system should
 */
export async function makeTree(repo: Repository, input: TreeInput): Promise<MadeTree> {
  const { dir, slug, start, include } = input;
  if (!isObjectName(start)) throw new Error("not the name of a commit");
  const fresh = `${dir}.new`;
  await removeTree(fresh);
  makeFolder(dirname(dir), 0o700);
  await mkdir(fresh, { mode: 0o700 });
  const branch = `${repo.branchPrefix}${slug}`;
  const format = repo.digits === 40 ? "sha1" : "sha256";
  await git(["init", "--quiet", "--template=", `--object-format=${format}`, `--initial-branch=${branch}`, fresh]);

  const gitDir = join(fresh, ".git");
  await mkdir(join(gitDir, "objects", "info"), { recursive: true });
  await writeWhole(join(gitDir, "objects", "info", "alternates"), `${join(repo.store, "objects")}\n`);
  await keepShallow(repo.store, gitDir);
  await git(["config", "user.name", repo.author.name], { gitDir });
  await git(["config", "user.email", repo.author.email], { gitDir });
  await git(["update-ref", `refs/heads/${branch}`, start], { gitDir });
  try {
    await git(["reset", "--quiet", "--hard", start], { gitDir, workTree: fresh });
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    await removeTree(fresh);
    throw new RepositoryTrouble(`The commit ${start} of ${repo.name} cannot be checked out: ${error.message}`);
  }

  const made =
    include === null ? { copied: 0, warnings: [] } : await copyIncluded(repo, { from: include, to: fresh, start });
  await removeTree(dir);
  await renameForGood(fresh, dir);
  return made;
}

/** The folder is gone with all that is in it, also where an agent took its own permissions away; links are not followed. */
export async function removeTree(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true });
  } catch {
    await openUp(Buffer.from(dir));
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Makes every folder within writable again. An entry may vanish meanwhile, because the first removal may still run. */
async function openUp(folder: Buffer): Promise<void> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) return;
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true, encoding: "buffer" }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await openUp(Buffer.concat([folder, Buffer.from("/"), entry.name]));
  }
}
