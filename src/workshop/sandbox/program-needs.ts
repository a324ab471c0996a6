import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";

/** The files and folders that a program must be able to read in the jail. */
export interface ProgramNeeds {
  /** The command line, its program by its real path. */
  argv: [string, ...string[]];
  /** Files and folders outside the system's own. */
  reads: string[];
  /** Folders of programs, for PATH. */
  folders: string[];
}

/** The system's folders, which every jail has. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Returns the command with what it needs: the program behind its links, the packages it is part of, the files among its
 * arguments, and the `node` that is found first (spec/assignment 5). A folder that holds one of
 * `hidden`, or the user's home, is never among them; then it is the file alone.
 *
 * @throws {Error} when the program is not there
 */
export function needsOf(
  argv: readonly [string, ...string[]],
  { path, hidden }: { path: string; hidden: readonly string[] },
): ProgramNeeds {
  const [name, ...args] = argv;
  const program = findProgram(name, path);
  if (program === null) throw new Error(`${name} is not on this machine, or not on the PATH`);
  const mayRead = (folder: string) => ![...hidden, homedir()].some((one) => isWithin(real(one), folder));
  const needed = (file: string, isProgram: boolean) => {
    const root = packagesOf(file) ?? (isProgram ? packageOf(file) : null);
    return root !== null && mayRead(root) ? root : file;
  };

  const node = findProgram("node", path) ?? process.execPath;
  const files = args.filter((arg) => isAbsolute(arg) && isFile(arg)).map(real);
  const reads = [
    needed(program, true),
    nodePrefix(node, mayRead),
    process.execPath,
    ...files.map((one) => needed(one, false)),
  ];
  return {
    argv: [program, ...args],
    reads: [...new Set(reads)].filter((one) => !SYSTEM.some((folder) => isWithin(one, folder))),
    folders: [...new Set([dirname(node)])],
  };
}

/** Returns the real path of a program, as a shell would find it; null if it is not found. */
export function findProgram(name: string, path: string): string | null {
  const places = name.includes("/")
    ? [resolve(name)]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((one) => join(one, name));
  const found = places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return isFile(place);
    } catch {
      return false;
    }
  });
  return found === undefined ? null : realpathSync(found);
}

/** Returns bwrap's arguments that give the jail the system's folders as this system has them. */
export function systemFolders(): string[] {
  return SYSTEM.flatMap((folder) => {
    const entry = lstatSync(folder, { throwIfNoEntry: false });
    if (entry?.isSymbolicLink()) return ["--symlink", readlinkSync(folder), folder];
    return entry ? ["--ro-bind", folder, folder] : [];
  });
}

/** A package may use its neighbours: the outermost folder of packages holds all it can find. */
function packagesOf(file: string): string | null {
  const parts = file.split(sep);
  const at = parts.indexOf("node_modules");
  return at === -1 ? null : parts.slice(0, at + 1).join(sep);
}

function packageOf(file: string): string | null {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  return null;
}

/** The folder that a Node was installed in, where it holds nothing else; its npm stands there. */
function nodePrefix(node: string, mayRead: (folder: string) => boolean): string {
  const packages = packagesOf(node);
  if (packages !== null && mayRead(packages)) return packages;
  const prefix = dirname(dirname(node));
  const isPrefix = existsSync(join(prefix, "lib", "node_modules", "npm")) || holdsNode(prefix);
  return isPrefix && mayRead(prefix) ? prefix : node;
}

function holdsNode(prefix: string): boolean {
  const include = join(prefix, "include");
  return existsSync(include) && readdirSync(include).includes("node");
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
