/**
 * Lists the files of a tree that an agent left. Git does not walk the tree: it would look into nested repositories, and
 * wait at a pipe for ever. Paths are bytes, kept as text of one character each (`latin1`).
 */
import { chmod, lstat, readdir, rm } from "node:fs/promises";
import type { Dirent } from "node:fs";
import { git, GitFailure } from "./run.ts";
import type { Repository } from "./repository.ts";

/** The commit cannot be made of what the agent left; the message is one sentence for people. */
export class TreeRefused extends Error {}

export interface ListedFile {
  path: string;
  bytes: number;
  isLink: boolean;
}

/** Paths that stay out of a commit, by a reason that completes the sentence which begins with one of them. */
export type LeftOut = Readonly<Record<string, readonly string[]>>;

export interface Listing {
  files: ListedFile[];
  leftOut: LeftOut;
}

const IGNORED = "is ignored by .gitignore and stays out of the commit";
const EMPTY = "is an empty folder, which git does not keep";
const IN_SUBMODULE = "is a submodule: the files that the agent's folder has in it stay out of the commit";
const NO_SUBMODULE = "is a submodule that the agent removed or replaced: the commit still has it";

export interface ListingInput {
  dir: string;
  /** Files and links of the start commit: they are listed even where patterns ignore them. */
  tracked: ReadonlySet<string>;
  /** Submodules of the start commit: nothing below these is read. */
  gitlinks: ReadonlySet<string>;
}

const DEEPEST = 200;
const MOST_ENTRIES = 5_000_000;
const MOST_NAMED = 5;
const LOOKS_AT_ONCE = 64;

/**
 * Returns every file and link that belongs into a commit: what the start commit has, and what no `.gitignore` names.
 * Links are never followed. `.git` in any spelling, nested repositories, empty folders, and what is neither file, link
 * nor folder stay out.
 *
 * @throws {TreeRefused} when a folder cannot be read, or the tree has no end
 */
export async function listTree(repo: Repository, input: ListingInput): Promise<Listing> {
  const { dir, tracked, gitlinks } = input;
  const trackedDirs = foldersOf([...tracked, ...gitlinks]);
  const out = new Map<string, string[]>();
  const leaveOut = (why: string, path: string) => out.set(why, [...(out.get(why) ?? []), path]);
  const files: ListedFile[] = [];
  const missing = new Set(gitlinks);
  let entries = 0;

  let level = [""];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) throw new TreeRefused(`The tree has folders more than ${DEEPEST} deep.`);
    const found: Found[] = [];
    for (const folder of level) {
      const inFolder = await entriesOf(dir, folder);
      entries += inFolder.length;
      if (entries > MOST_ENTRIES) throw new TreeRefused("The tree has more files than can be looked at.");
      const isNested = folder !== "" && inFolder.some((entry) => entry.name.toString("latin1") === ".git");
      if (isNested && !trackedDirs.has(folder)) {
        leaveOut("is a nested repository and stays out of the commit", folder);
        continue;
      }
      if (inFolder.length === 0 && folder !== "") leaveOut(EMPTY, folder);
      for (const entry of inFolder) {
        const name = entry.name.toString("latin1");
        const path = folder === "" ? name : `${folder}/${name}`;
        if (gitlinks.has(path)) {
          if (entry.isDirectory()) missing.delete(path);
          if (entry.isDirectory() && (await entriesOf(dir, path)).length > 0) leaveOut(IN_SUBMODULE, path);
          continue;
        }
        if (meansGit(name)) {
          if (path !== ".git") leaveOut("is a name of git's own and stays out of the commit", path);
        } else {
          found.push({ path, entry });
        }
      }
    }
    found.sort((one, other) => (one.path < other.path ? -1 : 1));
    await removePipes(dir, found);
    const unsure = found.filter(({ path, entry }) => !tracked.has(path) || entry.isDirectory()).map(({ path }) => path);
    const ignored = await ignoredOf(repo, dir, unsure);
    const wanted = found.filter(({ path, entry }) => {
      return !ignored.has(path) || (entry.isDirectory() ? trackedDirs.has(path) : tracked.has(path));
    });
    for (const path of ignored) {
      if (!tracked.has(path) && !trackedDirs.has(path)) leaveOut(IGNORED, path);
    }
    level = wanted.flatMap(({ path, entry }) => (entry.isDirectory() ? [path] : []));
    for (const { path, entry } of wanted) {
      if (isSpecial(entry)) leaveOut("is no ordinary file and stays out of the commit", path);
    }
    const ordinary = wanted.filter(({ entry }) => entry.isFile() || entry.isSymbolicLink());
    for (let i = 0; i < ordinary.length; i += LOOKS_AT_ONCE) {
      files.push(...(await Promise.all(ordinary.slice(i, i + LOOKS_AT_ONCE).map(({ path }) => look(dir, path)))));
    }
  }
  for (const path of missing) leaveOut(NO_SUBMODULE, path);
  return { files, leftOut: Object.fromEntries(out) };
}

interface Found {
  path: string;
  entry: Dirent<Buffer>;
}

/** Removes pipes whose name would hold up every git that looks for patterns. */
async function removePipes(dir: string, found: readonly Found[]): Promise<void> {
  for (const { path, entry } of found) {
    if (!isSpecial(entry) || !/(?:^|\/)\.git(?:ignore|attributes|modules)$/.test(path)) continue;
    await rm(at(dir, path));
  }
}

/** Returns the path of a file as the file system takes it. */
export function at(dir: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(path === "" ? dir : `${dir}/`), Buffer.from(path, "latin1")]);
}

/** Returns a path as people read it. */
export function shown(path: string): string {
  return JSON.stringify(Buffer.from(path, "latin1").toString("utf8")).slice(1, -1);
}

/** Returns at most a few sentences that say the same of many paths. */
export function sentences(why: string, paths: readonly string[]): string[] {
  const named = paths.slice(0, MOST_NAMED).map((path) => `${shown(path)} ${why}.`);
  const more = paths.length - named.length;
  return more === 0 ? named : [...named, `The same of ${more} more.`];
}

/** All folders that paths lead through. */
function foldersOf(paths: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

/** An agent may have taken its own permissions away; what it left is read all the same. */
async function entriesOf(dir: string, folder: string): Promise<Dirent<Buffer>[]> {
  const place = at(dir, folder);
  try {
    const found = await lstat(place);
    if (!found.isDirectory()) throw new TreeRefused("The tree is gone, or is no folder any more.");
    if ((found.mode & 0o500) !== 0o500) await chmod(place, found.mode | 0o700);
    return await readdir(place, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    if (error instanceof TreeRefused) throw error;
    throw new TreeRefused(`The folder "${shown(folder)}" of the tree cannot be read (${codeOf(error)}).`);
  }
}

/** Returns what a file or link is; it can be read afterwards. */
async function look(dir: string, path: string): Promise<ListedFile> {
  const place = at(dir, path);
  const found = await lstat(place);
  if (found.isFile() && (found.mode & 0o400) === 0) await chmod(place, found.mode | 0o400);
  return { path, bytes: found.size, isLink: found.isSymbolicLink() };
}

/** Whether some file system could take the name for `.git`: by case, by Windows' short names and streams, by what macOS ignores. */
function meansGit(name: string): boolean {
  const seen = Buffer.from(name, "latin1")
    .toString("utf8")
    .replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "")
    .toLowerCase();
  return /^(?:\.git|git~1)(?:[. ]*(?:$|[:\\]))/.test(seen);
}

function isSpecial(entry: Dirent<Buffer>): boolean {
  return !entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink();
}

/** Returns the ignored paths among these. Git reads the patterns, and looks into no folder for further paths. */
async function ignoredOf(repo: Repository, dir: string, paths: readonly string[]): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  try {
    // A path that begins with a colon would be read as an expression.
    const { stdout } = await git(["check-ignore", "--no-index", "-z", "--stdin"], {
      gitDir: repo.store,
      workTree: dir,
      config: ["core.bare=false"],
      input: Buffer.from(paths.map((path) => `./${path}\0`).join(""), "latin1"),
      allow: [1],
    });
    return new Set(
      stdout
        .toString("latin1")
        .split("\0")
        .filter(Boolean)
        .map((path) => path.slice(2)),
    );
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new TreeRefused(`Git could not tell which files are ignored: ${error.message}`);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
