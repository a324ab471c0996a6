import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "./durable-files.ts";

/** A file that was received whole, is on disk, and has no place yet. */
export interface Received {
  name: string;
  size: number;
  sha256: string;
}

/** There is no such file, or its path leads over something that is no folder of ours: a file, or a link. */
export class NoSuchPlace extends Error {}

/** More came than was welcome. */
export class TooLong extends Error {}

/** Files below one folder, which no path leaves: every step of one is opened without following links. */
export interface ContainedFiles {
  /**
   * Writes a new file outside of all places; it is on disk afterwards.
   *
   * @throws {TooLong} beyond `mostBytes`; nothing is left then
   */
  receive(name: string, source: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Received>;
  /** The file is at `path`, in the place of what was there, and stays there. @throws {NoSuchPlace} */
  place(received: Received, path: readonly string[]): Promise<void>;
  discard(received: Received): Promise<void>;
  /**
   * The file at `path` holds these bytes, and stays there; one that was there keeps its mode, and everybody who has it open
   * sees them.
   * @throws {NoSuchPlace}
   */
  overwrite(path: readonly string[], bytes: Uint8Array): Promise<void>;
  /** Opens a file to be read; the caller closes it. @throws {NoSuchPlace} */
  open(path: readonly string[]): Promise<{ file: FileHandle; size: number }>;
  /** Nothing is at `path` any more; a folder goes with all that is in it. */
  remove(path: readonly string[]): Promise<void>;
  /** Removes what was received before this moment and never found a place. */
  removeLeftovers(beforeMs: number): Promise<void>;
  /** Runs work on one subject after all other work on it that was begun before. */
  inTurn<T>(subject: string, work: () => Promise<T>): Promise<T>;
}

interface Folder {
  handle: FileHandle;
  path: string;
}

/** No path of a file begins so. */
const INCOMING = ".incoming";
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** The mode of a file that other users may share, as far as the umask permits it. */
const SHARED_MODE = 0o666;
// Some systems lack some of these.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const NO_PLACE = new Set(["ENOENT", "ELOOP", "ENOTDIR", "EISDIR", "ENOTEMPTY", "EEXIST", "EMLINK", "ENXIO"]);

/** Opens the files below `root`, which is made with the first of them. Its own path may hold links. */
export function openContainedFiles(root: string): ContainedFiles {
  return {
    receive: (name, source, mostBytes) =>
      within(root, { steps: [INCOMING], make: true }, (incoming) => receiveIn(incoming, name, source, mostBytes)),
    place: ({ name }, path) =>
      within(root, { steps: [INCOMING], make: true }, (incoming) =>
        placing(
          within(root, { steps: path.slice(0, -1), make: true }, async (folder) => {
            // eslint-disable-next-line no-restricted-syntax -- its folder is synced below, by what was opened
            await rename(at(incoming, name), at(folder, lastOf(path)));
            await folder.handle.sync();
          }),
        ),
      ),
    discard: ({ name }) =>
      within(root, { steps: [INCOMING], make: true }, (incoming) => rm(at(incoming, name), { force: true })),
    overwrite: (path, bytes) =>
      placing(
        within(root, { steps: path.slice(0, -1), make: true }, (folder) => overwriteIn(folder, lastOf(path), bytes)),
      ),
    open: (path) =>
      placing(within(root, { steps: path.slice(0, -1), make: false }, (folder) => openIn(folder, lastOf(path)))),
    remove: (path) =>
      ifThere(
        within(root, { steps: path.slice(0, -1), make: false }, (folder) =>
          rm(at(folder, lastOf(path)), { recursive: true, force: true }),
        ),
      ),
    removeLeftovers: (beforeMs) =>
      ifThere(within(root, { steps: [INCOMING], make: false }, (incoming) => removeFilesOlderThan(incoming, beforeMs))),
    inTurn: openTurns(),
  };
}

/**
 * Runs work in the folder that some steps below the root lead to. On Linux a step begins at the open folder itself, so
 * that nobody can put a link into a path that was looked at; elsewhere each step is looked at when it is taken.
 */
async function within<T>(
  root: string,
  { steps, make }: { steps: readonly string[]; make: boolean },
  work: (folder: Folder) => Promise<T>,
): Promise<T> {
  if (make) makeFolder(root, FOLDER_MODE);
  let folder: Folder = { handle: await open(root, O_RDONLY | O_DIRECTORY), path: root };
  try {
    for (const step of steps) {
      const path = at(folder, step);
      if (make && (await isMade(path))) await folder.handle.sync();
      const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await folder.handle.close();
      folder = { handle, path: join(folder.path, step) };
    }
    return await work(folder);
  } finally {
    await folder.handle.close();
  }
}

async function receiveIn(
  folder: Folder,
  name: string,
  source: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<Received> {
  const path = at(folder, name);
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of source) {
      size += chunk.length;
      if (size > mostBytes) throw new TooLong();
      hash.update(chunk);
      // eslint-disable-next-line no-restricted-syntax -- it is synced below, once it is whole
      await file.appendFile(chunk);
    }
    await file.sync();
    return { name, size, sha256: hash.digest("hex") };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function overwriteIn(folder: Folder, name: string, bytes: Uint8Array): Promise<void> {
  // A pipe that nobody reads is no place, and is not waited for; so nothing is cut before it is known what it is.
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const file = await open(at(folder, name), flags, SHARED_MODE);
  try {
    if (!(await file.stat()).isFile()) throw new NoSuchPlace();
    await file.truncate();
    // eslint-disable-next-line no-restricted-syntax -- it is synced below
    await file.writeFile(bytes);
    await file.sync();
    await folder.handle.sync();
  } finally {
    await file.close();
  }
}

async function openIn(folder: Folder, name: string): Promise<{ file: FileHandle; size: number }> {
  // Without O_NONBLOCK the opening of a pipe that somebody planted would never end.
  const file = await open(at(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const found = await file.stat();
  if (found.isFile()) return { file, size: found.size };
  await file.close();
  throw new NoSuchPlace();
}

async function removeFilesOlderThan(folder: Folder, beforeMs: number): Promise<void> {
  for (const name of await readdir(at(folder, "."))) {
    const found = await lstat(at(folder, name)).catch(() => null);
    if (found && found.mtimeMs < beforeMs) await rm(at(folder, name), { force: true });
  }
}

/** Returns what runs work on each subject in the order in which it came. */
function openTurns(): ContainedFiles["inTurn"] {
  const turns = new Map<string, Promise<unknown>>();
  return async (subject, work) => {
    const before = turns.get(subject) ?? Promise.resolve();
    const own = before.then(work, work);
    turns.set(subject, own);
    try {
      return await own;
    } finally {
      if (turns.get(subject) === own) turns.delete(subject);
    }
  };
}

/** Returns the path of a name in an open folder. */
function at({ handle, path }: Folder, name: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name);
}

async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path, FOLDER_MODE);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

async function placing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (NO_PLACE.has(codeOf(error))) throw new NoSuchPlace();
    throw error;
  }
}

async function ifThere(work: Promise<void>): Promise<void> {
  try {
    await placing(work);
  } catch (error) {
    if (!(error instanceof NoSuchPlace)) throw error;
  }
}

function lastOf(path: readonly string[]): string {
  const last = path.at(-1);
  if (last === undefined) throw new Error("a path has no end");
  return last;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
