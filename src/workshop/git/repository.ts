import { lstat, mkdtemp, readFile, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeFolder, renameForGood, syncWhole, writeWhole } from "../../lib/files/durable-files.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { git, GitFailure, gitText } from "./run.ts";

/** Who a commit is by. */
export interface CommitIdentity {
  name: string;
  email: string;
}

/** A configured repository, and the store that Parley owns for it. */
export interface Repository {
  readonly name: string;
  /** The bare repository of Parley's own, in which every commit is made. */
  readonly store: string;
  /** The user's `.git`, of which only objects, `refs/aa` and branches under the prefix are written; null on a server whose workers have it. */
  readonly gitDir: string | null;
  /** Where that keeps what its working trees share. */
  readonly commonDir: string | null;
  /** The user's working tree, or bare repository. */
  readonly path: string | null;
  readonly branchPrefix: string;
  readonly committer: CommitIdentity;
  readonly author: CommitIdentity;
  /** Digits of an object's name: 40, or 64 in a repository of SHA-256. */
  readonly digits: number;
  /** Warnings for its owner, as sentences. */
  readonly warnings: readonly string[];
  readonly clock: Clock;
  /** Runs what writes refs after all other such work of this repository that was begun before. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

export interface RepositorySettings {
  name: string;
  /** The user's repository; null where workers have it. */
  path: string | null;
  storeDir: string;
  /** Such as `aa/`. */
  branchPrefix: string;
  /** As `Name <address>`. */
  committer: string;
  author: string;
  clock?: Clock;
}

/** Something about a repository that a person has to put right; the message is a sentence for them. */
export class RepositoryTrouble extends Error {}

/**
 * The store is there, and the user's repository is one that can be worked with. Nothing is written to the latter.
 *
 * @throws {RepositoryTrouble} when `path` holds no repository, or one whose names the store does not share
 */
export async function openRepository(settings: RepositorySettings): Promise<Repository> {
  const { name, branchPrefix, clock = systemClock } = settings;
  const found = settings.path === null ? null : await findRepository(settings.path);
  checkPrefix(branchPrefix);
  const store = await makeStore(settings.storeDir, found?.format ?? "sha1");
  if (found) await keepShallow(found.commonDir, store);

  let line: Promise<unknown> = Promise.resolve();
  return {
    name,
    store,
    gitDir: found?.gitDir ?? null,
    commonDir: found?.commonDir ?? null,
    path: found?.path ?? null,
    branchPrefix,
    committer: identityOf(settings.committer),
    author: identityOf(settings.author),
    digits: (found?.format ?? "sha1") === "sha1" ? 40 : 64,
    warnings: found?.warnings ?? [],
    clock,
    inTurn(work) {
      const own = line.then(work, work);
      line = own.catch(() => undefined);
      return own;
    },
  };
}

/** Returns the user's git directory. @throws {RepositoryTrouble} on a server whose workers have the repository */
export function userGitDir(repo: Repository): string {
  if (repo.gitDir === null) throw new RepositoryTrouble(`The repository ${repo.name} is not on this machine.`);
  return repo.gitDir;
}

/** Returns the environment of a commit, by whom and when; reflogs are signed with the same. */
export function signed(repo: Repository, atSeconds = Math.floor(repo.clock.now() / 1000)): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: repo.author.name,
    GIT_AUTHOR_EMAIL: repo.author.email,
    GIT_AUTHOR_DATE: `@${atSeconds} +0000`,
    GIT_COMMITTER_NAME: repo.committer.name,
    GIT_COMMITTER_EMAIL: repo.committer.email,
    GIT_COMMITTER_DATE: `@${atSeconds} +0000`,
  };
}

/** Whether a text is the whole name of an object, and nothing else. */
export function isObjectName(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** A call that only reads a few files takes longer only if one of them is a pipe. */
const LOOK_MS = 30_000;

interface Found {
  path: string;
  gitDir: string;
  commonDir: string;
  format: string;
  warnings: string[];
}

async function findRepository(named: string): Promise<Found> {
  const path = await realpath(named).catch(() => {
    throw new RepositoryTrouble(`There is no folder ${named}.`);
  });
  const inside = join(path, ".git");
  const gitDir = (await lstat(inside).catch(() => null)) ? inside : path;
  try {
    const output = await gitText(["rev-parse", "--show-object-format", "--git-common-dir"], {
      gitDir,
      timeoutMs: LOOK_MS,
    });
    const [format = "", common = ""] = output.split("\n");
    const commonDir = await realpath(common.startsWith("/") ? common : join(path, common));
    return { path, gitDir, commonDir, format, warnings: await ownerWarnings(commonDir) };
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new RepositoryTrouble(`${named} is no git repository that this git can read: ${error.message}`);
  }
}

/**
 * With its directory named, git does not check the owner of a repository, and starts nothing that its configuration
 * names. But files written there belong to the user who runs Parley.
 */
async function ownerWarnings(commonDir: string): Promise<string[]> {
  const owner = (await stat(commonDir)).uid;
  const self = process.getuid?.() ?? owner;
  if (owner === self) return [];
  return [
    `${commonDir} belongs to another user (${owner}) than the one who runs Parley (${self}): what Parley writes there belongs to ${self}, and its owner's git may be refused to write beside it. Run Parley as the owner.`,
  ];
}

async function makeStore(storeDir: string, format: string): Promise<string> {
  const parent = dirname(storeDir);
  makeFolder(parent, 0o700);
  const store = join(await realpath(parent), basename(storeDir));
  if (!(await lstat(join(store, "HEAD")).catch(() => null))) {
    // It is made beside its place, so that whatever is in its place is whole.
    const fresh = await mkdtemp(`${store}.new-`);
    await git(["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, fresh], {
      config: ["init.defaultBranch=main"],
    });
    // Git syncs what is committed, and not what it begins with.
    await syncWhole(fresh);
    await renameForGood(fresh, store).catch(async (error: unknown) => {
      await rm(fresh, { recursive: true, force: true });
      if (!(await lstat(join(store, "HEAD")).catch(() => null))) throw error;
    });
  }
  const own = await gitText(["rev-parse", "--show-object-format"], { gitDir: store });
  if (own === format) return store;
  throw new RepositoryTrouble(
    `The store ${store} was made for a repository of ${own}, and this one is of ${format}. Move the store away.`,
  );
}

/** Copies the marks of a shallow clone, so that the store does not look for commits that the clone does not have. */
export async function keepShallow(from: string, to: string): Promise<void> {
  const missing = await readFile(join(from, "shallow"), "utf8").catch(() => "");
  const known = await readFile(join(to, "shallow"), "utf8").catch(() => "");
  const all = new Set([...known.split("\n"), ...missing.split("\n")].filter(isObjectName));
  if (all.size === known.split("\n").filter(isObjectName).length) return;
  await writeWhole(join(to, "shallow"), `${[...all].sort().join("\n")}\n`);
}

function identityOf(text: string): CommitIdentity {
  const [, name = "", email = ""] = /^([^<>\n]*)<([^<>\s]+)>$/.exec(text.trim()) ?? [];
  if (/\p{Cc}/u.test(text) || !/[\p{L}\p{N}]/u.test(name)) {
    throw new RepositoryTrouble(`"${text}" is not of the form "Name <address>".`);
  }
  return { name: name.trim(), email };
}

function checkPrefix(prefix: string): void {
  const isGood = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]*\/)+$/.test(prefix) && !/\.\.|\.\/|\.lock\//.test(prefix);
  if (!isGood)
    throw new RepositoryTrouble(`branch_prefix "${prefix}" cannot begin a branch's name; use one such as aa/.`);
}
