/**
 * How files are written that have to survive a loss of power: their bytes are synced, and the folder in which their names
 * stand. Nothing else under `src/` writes or renames a file without saying why that need not survive (eslint.config.js).
 */
import { closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { type FileHandle, link, open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "../clock.ts";

/** Flushes the entries of `folder` to the disk, so that they survive a loss of power. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The folder exists, and its name, and that of each folder above it that had to be made, survives a loss of power. Not
 * `mkdir` with `recursive`, which never returns where nothing can be made, as under /proc.
 */
export function makeFolder(path: string, mode: number): void {
  const above = dirname(path);
  if (!existsSync(path)) {
    if (above !== path) makeFolder(above, mode);
    try {
      mkdirSync(path, mode);
    } catch (error) {
      // Another process has made it meanwhile, perhaps without syncing it yet.
      if (!existsSync(path)) throw error;
    }
    syncFolder(above);
  }
  if (!statSync(path).isDirectory()) throw Object.assign(new Error(`${path} is a file`), { code: "EEXIST" });
}

/** Writes a new file that survives a loss of power. @throws {Error} `EEXIST` if the file exists already */
export async function writeNewFile(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncLater(dirname(path));
}

/** Writes all of it where the last write to the file ended, at first at its beginning. The caller syncs it. */
export function writeAll(file: FileHandle, bytes: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  return file.writeFile(bytes);
}

let count = 0;

/** Writes a file, whole and on disk, that only its owner can read. A process that reads meanwhile gets the old file. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.${(count += 1)}.new`;
  await writeFresh(fresh, text, 0o600);
  await renameForGood(fresh, path);
}

/**
 * The file holds the new text, whole and on disk, and never a part of it: it is written beside it and takes its place.
 * It keeps its permissions, and stays a link where it is one.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const place = await realpath(path);
  const mode = (await stat(place)).mode & 0o777;
  const fresh = `${place}.${process.pid}.new`;
  await writeFresh(fresh, text, mode);
  await renameForGood(fresh, place);
}

async function writeFresh(fresh: string, text: string, mode: number): Promise<void> {
  const file = await open(fresh, constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY, mode);
  try {
    // One that a killed process left keeps its own, and the process's mask takes from those of a new one.
    // Some file systems know no permissions.
    await file.chmod(mode).catch(() => undefined);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Every file and folder below a folder, which another program wrote, is on disk, and the folder itself. */
export async function syncWhole(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncWhole(path);
    else if (entry.isFile()) await syncLater(path);
  }
  await syncLater(folder);
}

/** When each folder was last changed before `syncNames` synced it. */
const changedBeforeSync = new Map<string, number>();
/** Two changes that are no further apart may leave a folder with the same time. */
const SAME_TIME_MS = 2000;

/**
 * The names in a folder, which another program wrote, survive a loss of power; one that is not there has none. A folder
 * in which nothing has changed since the last call is not synced again.
 */
export async function syncNames(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  });
  if (!found?.isDirectory() || changedBeforeSync.get(folder) === found.mtimeMs) return;
  await syncLater(folder);
  if (systemClock.now() - found.mtimeMs > SAME_TIME_MS) changedBeforeSync.set(folder, found.mtimeMs);
}

/** The file or folder that was written at `fresh` has the place of whatever stood at `path`, for good; else neither is changed. */
export async function renameForGood(fresh: string, path: string): Promise<void> {
  try {
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  await syncLater(dirname(path));
}

/** The error codes of link() on a file system without hard links, such as exFAT. */
const WITHOUT_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * The file that was written at `fresh` is at `path` for good, where nothing was before.
 *
 * @throws {Error} `EEXIST` where something is; it stays as it is, and so does `fresh`
 */
export async function placeNewFile(fresh: string, path: string): Promise<void> {
  try {
    // Unlike a rename, this never takes the place of a file that somebody has put there meanwhile.
    await link(fresh, path);
  } catch (error) {
    if (!WITHOUT_LINKS.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    if (existsSync(path)) throw Object.assign(new Error(`${path} exists`), { code: "EEXIST" });
    return renameForGood(fresh, path);
  }
  await rm(fresh);
  await syncLater(dirname(path));
}

/** As `syncFolder`, of a file too, beside whatever else there is to do. */
async function syncLater(path: string): Promise<void> {
  const opened = await open(path, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
