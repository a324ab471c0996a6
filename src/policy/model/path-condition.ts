import type { Truth } from "./argument-conditions.ts";
import type { ArgumentValue } from "./call-arguments.ts";
import { inputOf } from "./command-condition.ts";
import { isRootOrClimbs } from "./folder.ts";
import { fits } from "./match.ts";
import { pathsOfPatch } from "./patch-paths.ts";

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
export const PATHS =
  "file_path filePath filepath path absolute_path notebook_path dir_path directory old_path new_path target_file".split(
    " ",
  );

/** opencode shows them beside the input of an edit: the file once more, and what changes in it. */
const BESIDE_EDITS = new Set(["filepath", "diff"]);

/** Other members that may name files, as the pattern of a search and the destination of a copy do; `file_text` is a text. */
const MAY_NAME = /path|(?<!pro)file(?!_text$)|folder|director|dest|^source|target|glob|pattern|root|workdir|includ/i;
/** They look for files below the path. */
const SEARCHES = /pattern|glob|includ/i;
/** A search that leaves the path. */
const LEADS_OUT = /^[/\\~]|^[A-Za-z][\w+.-]*:|(?:^|[/\\{,])\.\.(?:[/\\},]|$)/;

/** Returns the paths of these arguments, or undefined where they have none, or may have one of another kind. */
export function pathsOf(root: ArgumentValue | undefined, fn: unknown): CalledPaths | undefined {
  if (!(root instanceof Map)) return undefined;
  const shown = root as ReadonlyMap<string, ArgumentValue>;
  const members = inputOf(shown, BESIDE_EDITS);
  const cwd = members.get("cwd");
  const folder = typeof cwd === "string" ? cwd : null;
  const patched = pathsOfPatch(fn, members);
  if (patched) return { folder, paths: patched };
  const named = PATHS.filter((name) => members.has(name)).map((name) => members.get(name));
  const paths = named.flatMap((value) => (typeof value === "string" ? [value] : []));
  if (paths.length === 0 || paths.length < named.length) return undefined;
  const others = [...members].filter(([name]) => !PATHS.includes(name) && name !== "cwd");
  if (others.some(([name, value]) => mayLeadOut(name, value))) return undefined;
  const repeated = members === shown ? undefined : shown.get("filepath");
  const all = typeof repeated === "string" ? new Set([...paths, repeated]) : paths;
  return { folder, paths: [...all] };
}

/** A text under such a name leads out by how it begins or climbs; of a list or a block nobody knows. */
function mayLeadOut(name: string, value: ArgumentValue): boolean {
  if (Array.isArray(value)) return MAY_NAME.test(name) || value.some((item: ArgumentValue) => mayLeadOut("", item));
  if (value instanceof Map)
    return [...value].some(([inner, item]: [string, ArgumentValue]) => MAY_NAME.test(inner) || mayLeadOut(inner, item));
  return MAY_NAME.test(name) && typeof value === "string" && (!SEARCHES.test(name) || LEADS_OUT.test(value));
}

/**
 * Returns whether the patterns cover every path: `*` stands for anything within one name, `**` for any folders, and a
 * pattern begins in the folder of the call. The answer stays open for a path that leads out of it or holds a variable,
 * and for one that differs from a pattern in case alone, or by a name with a dot in front where the pattern has a star;
 * and where the folder is the root, for a pattern that begins with a star. Links are not followed.
 */
export function judgePaths({ patterns }: PathCondition, called: CalledPaths | undefined): Truth {
  if (called === undefined) return null;
  const isAtRoot = called.folder !== null && isRootOrClimbs(called.folder);
  const answers = called.paths.map((path): Truth => {
    const names = namesWithin(path, called.folder);
    if (names === null) return null;
    const parts = patterns.map((pattern) => pattern.normalize("NFC").split("/"));
    const covering = parts.filter((pattern) => covers(pattern, names, isHidden));
    // A star there would take every file of the disk.
    const isNamed = !isAtRoot || covering.some(([first = ""]) => !first.includes("*"));
    if (covering.length > 0) return isNamed || null;
    const folded = names.map(foldedCase);
    return parts.some((pattern) => covers(pattern.map(foldedCase), folded, () => false)) ? null : false;
  });
  if (answers.every((answer) => answer === true)) return true;
  return answers.every((answer) => answer === false) ? false : null;
}

/** Systems differ in whether they tell such names apart; Windows drops dots and blanks at the end. */
const foldedCase = (text: string): string =>
  text
    .normalize("NFKC")
    .toUpperCase()
    .toLowerCase()
    .replace(/(?<![. ])[. ]+$/, "");
const isHidden = (name: string): boolean => name.startsWith(".");

/** Signs that a shell, a tool or Windows may expand, and characters that a person does not see, or a tool cuts off. */
const EXPANDED = /[\\$%*?`]|^~|[\p{C}\p{DI}]|^\s|\s$/u;
/** A drive, or the scheme of a URL, stands before a colon. */
const ABSOLUTE = /^(?:\/|[A-Za-z][\w+.-]*:)/;
/** A system takes no longer path. */
const MOST_CHARS = 4096;

/** Returns the names of a path as seen from a folder, with `..` resolved; null for one outside, or one that is not certain. */
export function namesWithin(path: string, folder: string | null): string[] | null {
  if (path === "" || path.length > MOST_CHARS || EXPANDED.test(path)) return null;
  const inFolder =
    folder !== null && ABSOLUTE.test(folder) && (path === folder || path.startsWith(`${folder.replace(/\/$/, "")}/`));
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

/**
 * Each name of the pattern takes one of the path; `**` takes any number. No star takes a name that `isApart`. The places
 * in the pattern that the names so far may end at are kept, so that each name is looked at once.
 */
function covers(pattern: readonly string[], names: readonly string[], isApart: (name: string) => boolean): boolean {
  const parts = pattern.map((part) => part.split("*"));
  const skipped = (places: ReadonlySet<number>): Set<number> => {
    const all = new Set(places);
    for (const at of all) if (pattern[at] === "**") all.add(at + 1);
    return all;
  };
  let places = skipped(new Set([0]));
  for (const name of names) {
    const next = new Set<number>();
    for (const at of places) {
      const part = pattern[at];
      if (part === undefined || (part.startsWith("*") && isApart(name))) continue;
      if (part === "**") next.add(at);
      else if (fits(parts[at] ?? [], name)) next.add(at + 1);
    }
    if (next.size === 0) return false;
    places = skipped(next);
  }
  return places.has(pattern.length);
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
