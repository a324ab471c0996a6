import { constants } from "node:fs";
import { lstat, open, readFile, readlink, rm } from "node:fs/promises";
import { at, type LeftOut, type Listing, listTree, type ListedFile, sentences, shown, TreeRefused } from "./listing.ts";
import { isObjectName, type Repository } from "./repository.ts";
import { git, type GitCall, GitFailure, gitText } from "./run.ts";

/** A tree that an agent left, and the index of its attempt, which only Parley reads and writes. */
export interface Left {
  dir: string;
  indexFile: string;
  /** The commit that the attempt started from. */
  start: string;
  /** Paths that stayed out before the agent began, as the setup command may have made: they are not reported. */
  before?: LeftOut;
}

export interface Staged {
  /** The name of the tree object. */
  tree: string;
  warnings: string[];
}

/** The limits of one commit; ignored files do not count. */
export interface CommitLimits {
  treeBytes: number;
  fileBytes: number;
  files: number;
}
const LIMITS: CommitLimits = { treeBytes: 5 * 1024 ** 3, fileBytes: 100 * 1024 ** 2, files: 200_000 };

interface StageOptions {
  /** Too much is left out with a warning instead of refused: for what is kept of an attempt that is over. */
  isPartial?: boolean;
  limits?: CommitLimits;
}

interface Entry {
  mode: string;
  object: string;
  bytes: number;
}

const GITLINK = "160000";
const MIB = 1024 ** 2;

/**
 * Returns the tree object that holds what an agent left: its files, whatever it committed itself. The index is that of the
 * start commit, from which goes what is gone, and into which comes what is there; git is handed every path, and walks
 * nowhere. Submodules stay as the start commit has them.
 *
 * @throws {TreeRefused} beyond a limit, or when something cannot be read
 */
export async function stageTree(repo: Repository, left: Left, options: StageOptions = {}): Promise<Staged> {
  try {
    return await stage(repo, left, options);
  } catch (error) {
    // A file system that gives no more: what cannot be read cannot be in a commit.
    const { code, path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
    if (code === undefined || path === undefined) throw error;
    throw new TreeRefused(`"${shown(String(path))}" could not be read (${code}).`);
  }
}

/** Returns the paths of a tree that would stay out of a commit now. @throws {TreeRefused} when it cannot be read */
export async function leftOutOf(repo: Repository, { dir, start }: Left): Promise<LeftOut> {
  return (await listingOf(repo, dir, await entriesIn(repo, start))).leftOut;
}

function listingOf(repo: Repository, dir: string, before: ReadonlyMap<string, Entry>): Promise<Listing> {
  const gitlinks = submodulesIn(before);
  const tracked = new Set([...before.keys()].filter((path) => !gitlinks.has(path)));
  return listTree(repo, { dir, tracked, gitlinks });
}

function submodulesIn(entries: ReadonlyMap<string, Entry>): Set<string> {
  return new Set([...entries].flatMap(([path, { mode }]) => (mode === GITLINK ? [path] : [])));
}

async function stage(repo: Repository, left: Left, options: StageOptions): Promise<Staged> {
  const { dir, indexFile, start } = left;
  const before = await entriesIn(repo, start);
  const listing = await listingOf(repo, dir, before);
  const { files, warnings } = withinLimits(listing.files, before, options);

  const call: GitCall = { gitDir: repo.store, workTree: dir, indexFile, config: ["core.bare=false"] };
  // A lock left by a git that was killed would block the next one.
  await rm(`${indexFile}.lock`, { force: true });
  await rm(indexFile, { force: true });
  await git(["read-tree", start], call);
  const there = new Set(listing.files.map(({ path }) => path));
  const gone = [...before].flatMap(([path, { mode }]) => (mode === GITLINK || there.has(path) ? [] : [path]));
  await updateIndex(["--force-remove"], gone, call);
  await addAll(files, call, warnings);
  const tree = await gitText(["write-tree"], call);
  const taken = await entriesIn(repo, tree);
  const refused = files.flatMap(({ path }) => (taken.has(path) ? [] : [path]));
  const nameless = sentences("has a name that git does not take, and stays out of the commit", refused);
  return { tree, warnings: [...leftOutWarnings(listing.leftOut, left.before ?? {}), ...warnings, ...nameless] };
}

/** Returns a sentence for each path that stays out, but for those that stayed out before. */
function leftOutWarnings(leftOut: LeftOut, before: LeftOut): string[] {
  return Object.entries(leftOut).flatMap(([why, paths]) => {
    const known = new Set(before[why]);
    return sentences(
      why,
      paths.filter((path) => !known.has(path)),
    );
  });
}

/**
 * Returns a sentence for each file and submodule of the start commit that a fresh tree has not as it is in a checkout:
 * submodules are empty, and filters such as Git LFS are not run.
 */
export async function lackWarnings(repo: Repository, left: Omit<Left, "before">): Promise<string[]> {
  const entries = await entriesIn(repo, left.start);
  const submodules = sentences("is a submodule: the agent's folder has none of its files", [...submodulesIn(entries)]);
  const paths = [...entries.keys()];
  if (!paths.some((path) => /(?:^|\/)\.gitattributes$/.test(path))) return submodules;
  const call = { gitDir: repo.store, workTree: left.dir, indexFile: left.indexFile, config: ["core.bare=false"] };
  const filtered = [...(await attributesOf("filter", paths, call))].flatMap(([path, filter]) =>
    ["unspecified", "unset"].includes(filter) ? [] : [path],
  );
  const why = "has a filter in .gitattributes, which was not run: the agent's folder has the file as git stores it";
  return [...submodules, ...sentences(why, filtered)];
}

/** A marker of a merge that Parley made: it names one of the two commits. Other tools name branches there. */
const OWN_MARKER = "^(<{7,}|>{7,}) [0-9a-f]{40,64}";

/**
 * Returns the files of a tree in which a conflict marker is left: any in those of `paths`, where the markers were, and
 * in all others those of Parley's own merges, unless a parent has the file so already.
 */
export async function markersLeft(
  repo: Repository,
  tree: string,
  { paths, parents }: { paths: readonly string[]; parents: readonly string[] },
): Promise<string[]> {
  if (paths.length === 0) return [];
  const before = new Set((await Promise.all(parents.map((parent) => withOwnMarkers(repo, parent)))).flat());
  const moved = (await withOwnMarkers(repo, tree)).filter((path) => !before.has(path));
  return [...new Set([...(await markedOf(repo, tree, paths)), ...moved])];
}

async function withOwnMarkers(repo: Repository, tree: string): Promise<string[]> {
  const args = ["grep", "-z", "-l", "-a", "-E", "-e", OWN_MARKER, tree];
  const { stdout } = await git(args, { gitDir: repo.store, allow: [1] });
  const found = stdout.toString("utf8").split("\0").filter(Boolean);
  return found.map((line) => line.slice(line.indexOf(":") + 1));
}

async function markedOf(repo: Repository, tree: string, paths: readonly string[]): Promise<string[]> {
  const marked: string[] = [];
  const entries = await entriesIn(repo, tree);
  for (const path of paths) {
    const entry = entries.get(Buffer.from(path, "utf8").toString("latin1"));
    if (!entry?.mode.startsWith("100")) continue;
    const { stdout } = await git(["cat-file", "blob", entry.object], {
      gitDir: repo.store,
      mostBytes: 2 * LIMITS.fileBytes,
    });
    if (/^(?:<{7,}|>{7,}) /m.test(stdout.toString("latin1"))) marked.push(path);
  }
  return marked;
}

const LFS_POINTER = "version https://git-lfs.github.com/spec/";

/** Returns a sentence for each changed file that `.gitattributes` gives to Git LFS, and which is no pointer. */
export async function lfsWarnings(repo: Repository, left: Left, changed: readonly string[]): Promise<string[]> {
  const call = { gitDir: repo.store, workTree: left.dir, indexFile: left.indexFile, config: ["core.bare=false"] };
  const contents: string[] = [];
  for (const [path, filter] of await attributesOf("filter", changed, call)) {
    if (filter === "lfs" && !(await beginsWith(at(left.dir, path), LFS_POINTER))) contents.push(path);
  }
  return sentences("belongs to Git LFS, which was not run: its content is in the commit itself", contents);
}

/** Returns what `.gitattributes` of the tree say of each path. */
async function attributesOf(name: string, paths: readonly string[], call: GitCall): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map();
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  const { stdout } = await git(["check-attr", "-z", "--stdin", name], { ...call, input });
  const fields = stdout.toString("latin1").split("\0");
  return new Map(paths.map((path, i) => [path, fields[3 * i + 2] ?? ""]));
}

/** Returns what a commit or tree holds, by path. */
async function entriesIn(repo: Repository, commit: string): Promise<Map<string, Entry>> {
  const { stdout } = await git(["ls-tree", "-r", "-z", "-l", "--full-tree", commit], {
    gitDir: repo.store,
    mostBytes: 512 * MIB,
  });
  const entries = new Map<string, Entry>();
  for (const line of stdout.toString("latin1").split("\0")) {
    const tab = line.indexOf("\t");
    const [mode = "", , object = "", bytes = ""] = line.slice(0, tab).split(/ +/);
    if (tab !== -1) entries.set(line.slice(tab + 1), { mode, object, bytes: Number(bytes) || 0 });
  }
  return entries;
}

function withinLimits(
  files: readonly ListedFile[],
  before: ReadonlyMap<string, Entry>,
  { isPartial = false, limits = LIMITS }: StageOptions,
): { files: ListedFile[]; warnings: string[] } {
  const kept: ListedFile[] = [];
  const out: string[] = [];
  let bytes = 0;
  for (const file of files) {
    // A file that was too big in the start commit already is not the agent's doing.
    const isBig = file.bytes > limits.fileBytes && (before.get(file.path)?.bytes ?? 0) <= limits.fileBytes;
    const isTooMuch = bytes + file.bytes > limits.treeBytes || kept.length >= limits.files;
    if (!isBig && !isTooMuch) {
      kept.push(file);
      bytes += file.bytes;
    } else if (isPartial) {
      out.push(file.path);
    } else if (isBig) {
      throw new TreeRefused(
        `The file "${shown(file.path)}" has more than ${Math.floor(limits.fileBytes / MIB)} MiB; add it to .gitignore or make it smaller.`,
      );
    } else {
      throw new TreeRefused(
        kept.length >= limits.files
          ? `The tree has more than ${limits.files} files that no .gitignore names.`
          : `The tree has more than ${Math.floor(limits.treeBytes / MIB)} MiB that no .gitignore names.`,
      );
    }
  }
  return { files: kept, warnings: sentences("is too much to keep", out) };
}

/** A file that is not in the encoding its attributes name makes git refuse; such files are taken byte for byte then. */
async function addAll(files: readonly ListedFile[], call: GitCall, warnings: string[]): Promise<void> {
  const pathsOf = (some: readonly ListedFile[]) => some.map(({ path }) => path);
  try {
    await updateIndex(["--add"], pathsOf(files), call);
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const encodings = await attributesOf("working-tree-encoding", pathsOf(files), call);
    const isEncoded = ({ path }: ListedFile) => !["unspecified", "unset"].includes(encodings.get(path) ?? "");
    const encoded = files.filter(isEncoded);
    if (encoded.length === 0) throw new TreeRefused(`Git could not take the tree in: ${error.message}`);
    await updateIndex(["--add"], pathsOf(files.filter((file) => !isEncoded(file))), call);
    await addAsTheyAre(encoded, call);
    warnings.push(
      ...sentences("is not in the encoding that .gitattributes names, and was taken as it is", pathsOf(encoded)),
    );
  }
}

async function updateIndex(how: readonly string[], paths: readonly string[], call: GitCall): Promise<void> {
  if (paths.length === 0) return;
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  await git(["update-index", ...how, "-z", "--stdin"], { ...call, input });
}

async function addAsTheyAre(files: readonly ListedFile[], call: GitCall): Promise<void> {
  const lines: string[] = [];
  for (const { path, isLink } of files) {
    const place = at(call.workTree ?? "", path);
    const input = isLink ? await readLink(place) : await readFile(place);
    const object = await gitText(["hash-object", "-w", "--stdin", "--no-filters"], { ...call, input });
    if (!isObjectName(object)) throw new TreeRefused(`Git could not take "${shown(path)}" in.`);
    lines.push(`${isLink ? "120000" : await modeOf(place)} ${object}\t${path}\0`);
  }
  const input = Buffer.from(lines.join(""), "latin1");
  await git(["update-index", "--add", "-z", "--index-info"], { ...call, input });
}

async function readLink(place: Buffer): Promise<Buffer> {
  return readlink(place, { encoding: "buffer" });
}

async function modeOf(place: Buffer): Promise<string> {
  return ((await lstat(place)).mode & 0o100) !== 0 ? "100755" : "100644";
}

async function beginsWith(place: Buffer, text: string): Promise<boolean> {
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (!file) return true;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(text.length), 0, text.length, 0);
    return buffer.toString("latin1", 0, bytesRead) === text;
  } finally {
    await file.close();
  }
}
