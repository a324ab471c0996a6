import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncNames } from "../../lib/files/durable-files.ts";
import { type Repository, RepositoryTrouble, signed } from "./repository.ts";
import { git, GitFailure, gitText } from "./run.ts";

/** Returns the object that a ref names; null if the ref does not exist. */
export async function valueOfRef(gitDir: string, ref: string): Promise<string | null> {
  const output = await gitText(["for-each-ref", "--format=%(refname) %(objectname)", ref], { gitDir });
  for (const line of output.split("\n")) {
    const [name, value] = line.split(" ");
    if (name === ref && value) return value;
  }
  return null;
}

/**
 * The ref stands for `to`, if it stood for `from` (null: it did not exist). Both survive a loss of power: git syncs
 * the files that it writes (`core.fsync`), but none of the folders in which they stand.
 *
 * @throws {GitFailure} when it stood for something else, or its name cannot be
 */
export async function moveRef(
  repo: Repository,
  gitDir: string,
  ref: string,
  { from, to }: { from: string | null; to: string },
): Promise<void> {
  const old = from ?? "0".repeat(repo.digits);
  await syncObjects(repo, gitDir);
  await updateRef(repo, gitDir, ref, ["-m", "parley", "--end-of-options", ref, to, old]);
  await syncRef(repo, gitDir, ref);
}

/** Every object that was written into the repository survives a loss of power by name. */
async function syncObjects(repo: Repository, gitDir: string): Promise<void> {
  const objects = join(sharedFolder(repo, gitDir), "objects");
  for (const name of await readdir(objects)) await syncNames(join(objects, name));
  await syncNames(objects);
}

/** The ref survives a loss of power by name, whether it has a file of its own or is kept in tables. */
async function syncRef(repo: Repository, gitDir: string, ref: string): Promise<void> {
  const folder = sharedFolder(repo, gitDir);
  const steps = ref.split("/");
  for (let end = steps.length - 1; end >= 0; end -= 1) await syncNames(join(folder, ...steps.slice(0, end)));
  await syncNames(join(folder, "reftable"));
}

/** A process that ended may have written the ref and what it stands for, and synced neither. */
async function syncAgain(repo: Repository, gitDir: string, ref: string): Promise<void> {
  await syncObjects(repo, gitDir);
  await syncRef(repo, gitDir, ref);
}

/** Returns where a git directory keeps what the working trees of its repository share. */
function sharedFolder(repo: Repository, gitDir: string): string {
  return gitDir === repo.store ? gitDir : (repo.commonDir ?? gitDir);
}

/** The ref stands for `value`, which it may have done before. @throws {GitFailure} when it stands for something else */
export async function keepRef(repo: Repository, gitDir: string, ref: string, value: string): Promise<void> {
  if ((await valueOfRef(gitDir, ref)) === value) return syncAgain(repo, gitDir, ref);
  try {
    await moveRef(repo, gitDir, ref, { from: null, to: value });
  } catch (error) {
    if ((await valueOfRef(gitDir, ref)) !== value) throw error;
  }
}

/**
 * Sets a ref, and returns its value: `value`, or its former value if that is as good. A former value that is not as
 * good is kept as `<ref>-<its first digits>`: a data folder that was lost, or an older one, has used the same name
 * before.
 */
export async function takeRef(
  repo: Repository,
  gitDir: string,
  { ref, value }: { ref: string; value: string },
  isAsGood: (before: string) => Promise<boolean> = () => Promise.resolve(false),
): Promise<string> {
  for (;;) {
    const before = await valueOfRef(gitDir, ref);
    if (before !== null && (before === value || (await isAsGood(before)))) {
      await syncAgain(repo, gitDir, ref);
      return before;
    }
    try {
      if (before !== null) await keepRef(repo, gitDir, `${ref}-${before.slice(0, KEPT_REF_DIGITS)}`, before);
      await moveRef(repo, gitDir, ref, { from: before, to: value });
      return value;
    } catch (error) {
      // Another process may have been the first.
      if ((await valueOfRef(gitDir, ref)) === before) throw error;
    }
  }
}

/** The ref is gone, if it stood for `value`. @throws {GitFailure} when it stood for something else */
export async function removeRef(repo: Repository, gitDir: string, ref: string, value: string): Promise<void> {
  await updateRef(repo, gitDir, ref, ["-d", "--end-of-options", ref, value]);
}

const KEPT_REF_DIGITS = 12;

/** A ref is locked for as long as it takes to write a line; what is older was left by a git that was killed. */
const STALE_LOCK_MS = 20_000;
const PAUSE_MS = 1000;
const MOST_PAUSES = 30;

async function updateRef(repo: Repository, gitDir: string, ref: string, args: readonly string[]): Promise<void> {
  if (gitDir !== repo.store) await checkNoLinks(sharedFolder(repo, gitDir), ref);
  for (let pauses = 0; ; pauses += 1) {
    try {
      await git(["update-ref", "--no-deref", ...args], { gitDir, env: signed(repo) });
      return;
    } catch (error) {
      const lock =
        error instanceof GitFailure ? /Unable to create '(\/.*\.lock)': File exists/.exec(error.stderr)?.[1] : null;
      if (!lock || !isOurs(repo, lock) || pauses === MOST_PAUSES) throw error;
      const found = await lstat(lock).catch(() => null);
      if (found && found.mtimeMs < repo.clock.now() - STALE_LOCK_MS) await rm(lock, { force: true });
      else await repo.clock.sleep(PAUSE_MS);
    }
  }
}

/** Git would write through a link that stands for one of the folders of a ref, wherever it leads. */
async function checkNoLinks(commonDir: string, ref: string): Promise<void> {
  const steps = ref.split("/");
  for (let end = 2; end < steps.length; end += 1) {
    const folder = steps.slice(0, end).join("/");
    for (const path of [join(commonDir, folder), join(commonDir, "logs", folder)]) {
      const found = await lstat(path).catch(() => null);
      if (found?.isSymbolicLink()) throw new RepositoryTrouble(`${path} is a link; nothing is written where it leads.`);
    }
  }
}

/** In the user's repository nothing is taken away but what lies below `refs/aa`. */
function isOurs(repo: Repository, lock: string): boolean {
  return lock.startsWith(`${repo.store}/`) || lock.startsWith(`${repo.commonDir}/refs/aa/`);
}
