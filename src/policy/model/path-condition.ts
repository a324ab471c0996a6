import type { Answer } from "./argument-conditions.ts";
import type { ArgumentValue } from "./call-arguments.ts";
import { inputOf } from "./command-condition.ts";
import { fits } from "./match.ts";

/** The line of `when` or `unless` about the file of a call, or of an ask: patterns such as `src/**` (spec/relay 8). */
export interface PathCondition {
  input: "path";
  patterns: readonly string[];
}

/** The files of a call, and the folder that relative names begin in. */
export interface CalledPaths {
  folder: string | null;
  paths: readonly string[];
}

/** Where agents name a file or folder. */
const PATHS = (
  "file_path filePath filepath path absolute_path " + "notebook_path dir_path directory old_path new_path target_file"
).split(" ");

/** Returns the paths of these arguments, or undefined where they have none. */
export function pathsOf(root: ArgumentValue | undefined): CalledPaths | undefined {
  if (!(root instanceof Map)) return undefined;
  const members = inputOf(root as ReadonlyMap<string, ArgumentValue>);
  const named = PATHS.filter((name) => members.has(name)).map((name) => members.get(name));
  const paths = named.flatMap((value) => (typeof value === "string" ? [value] : []));
  if (paths.length === 0 || paths.length < named.length) return undefined;
  const folder = members.get("cwd");
  return { folder: typeof folder === "string" ? folder : null, paths };
}

/**
 * Returns whether the patterns cover every path: `*` stands for anything within one name, `**` for any folders, and a
 * pattern begins in the folder of the call. The answer stays open for a path that leads out of it or holds a variable,
 * and for one that differs from a pattern in case alone, or by a name with a dot in front where the pattern has a star.
 * Links are not followed.
 */
export function judgePaths({ patterns }: PathCondition, called: CalledPaths | undefined): Answer {
  if (called === undefined) return null;
  const answers = called.paths.map((path): Answer => {
    const names = namesWithin(path, called.folder);
    if (names === null) return null;
    const parts = patterns.map((pattern) => pattern.normalize("NFC").split("/"));
    if (parts.some((pattern) => covers(pattern, names, isHidden))) return true;
    const folded = names.map(foldedCase);
    return parts.some((pattern) => covers(pattern.map(foldedCase), folded, () => false)) ? null : false;
  });
  if (answers.every((answer) => answer === true)) return true;
  return answers.every((answer) => answer === false) ? false : null;
}

const foldedCase = (text: string): string => text.normalize("NFKC").toLowerCase();
const isHidden = (name: string): boolean => name.startsWith(".");

/** Signs that a shell, a tool or Windows may expand, and characters that a person does not see. */
const EXPANDED = /[\\$%*?`]|^~|\p{C}/u;
const ABSOLUTE = /^(?:\/|[A-Za-z]:)/;

/** Returns the names of a path as seen from a folder, with `..` resolved; null for one outside, or one that is not certain. */
function namesWithin(path: string, folder: string | null): string[] | null {
  if (path === "" || EXPANDED.test(path)) return null;
  const inFolder = folder !== null && (path === folder || path.startsWith(`${folder.replace(/\/$/, "")}/`));
  if (ABSOLUTE.test(path) && !inFolder) return null;
  const names: string[] = [];
  for (const name of (inFolder ? path.slice(folder.replace(/\/$/, "").length) : path).split("/")) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (names.pop() === undefined) return null;
    } else names.push(name.normalize("NFC"));
  }
  return names;
}

/** Each name of the pattern takes one of the path; `**` takes any number. No star takes a name that `isApart`. */
function covers(pattern: readonly string[], names: readonly string[], isApart: (name: string) => boolean): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return names.length === 0;
  const [name, ...others] = names;
  if (first === "**") {
    if (covers(rest, names, isApart)) return true;
    return name !== undefined && !isApart(name) && covers(pattern, others, isApart);
  }
  if (name === undefined || (first.startsWith("*") && isApart(name))) return false;
  return fits(first.split("*"), name) && covers(rest, others, isApart);
}

/** Returns the problem of a text as a pattern of paths, as the rest of a sentence; null for a pattern. */
export function pathPatternProblem(pattern: string): string | null {
  if (pattern === "" || ABSOLUTE.test(pattern) || pattern.startsWith("~"))
    return "must begin in the folder of the call, as src/**";
  const parts = pattern.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".." || (part.includes("**") && part !== "**")))
    return "must have whole names between its slashes: no empty one, no . or .., and ** alone";
  if (parts.filter((part) => part === "**").length > 2) return "must have ** at most twice";
  return /[\\$%?`]|\p{C}/u.test(pattern) ? "holds a sign other than * that is no part of a name" : null;
}
