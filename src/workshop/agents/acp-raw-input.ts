import type { JsonObject } from "../../lib/json/json-body.ts";
import { isInTree, pathFromTree } from "../../tasks/model/action.ts";
import { isObject, objectOf, textOf } from "./json-lines.ts";

const wordsOf = (text: string) => new Set(text.trim().split(/\s+/));

/** Names under which agents keep a command, as a line or as a list of words. */
const COMMANDS = ["command", "cmd"];
/** Names under which agents keep the folder in which a call runs. */
const FOLDERS = wordsOf(`
  cwd workdir working_dir workingDirectory working_directory
`);
/** Names that say how long a command may take, or why it is run. */
const ABOUT_COMMANDS = wordsOf(`
  description reason justification timeout timeout_ms call_id turn_id
`);
/** Names of paths, such as `filePath`, `new_path` and `destination`. */
const PATH_NAME =
  /(?:path|paths|file|files|filename|file_name|dir|directory|folder|dest|destination|target|source|src|uri)$/i;
const PATH_NAMES = new Set(["to", "from"]);
/** Names of patterns of paths. */
const PATTERNS = wordsOf(`
  glob globs include exclude ignore pattern file_pattern query
`);
/** Names of what is written, of what is looked for, and of which part of a file is meant: plain values. */
const PLAIN = wordsOf(`
  line limit offset start_line end_line depth recursive case_sensitive head tail content
  text diff file_text new_string old_string newString oldString newText oldText new_text
  old_text old_str new_str replace_all replaceAll expected_replacements instruction
  description reason title type kind unified_diff auto_approved call_id turn_id format
  timeout timeout_ms max_length
`);
const ADDRESSES = ["url", "prompt"];
/** Names of lists of edits, whose members are those of one edit. */
const EDITS = "edits";
/** The name of an object of edits by their paths. */
const CHANGES = "changes";

/** The parts of a raw input that say where a call reads, writes or reaches. */
export interface RawInput {
  paths: readonly string[];
  address: string | undefined;
}

/** Returns whether a raw input says nothing. */
export function isEmptyInput(raw: unknown): boolean {
  return raw === undefined || raw === null || (isObject(raw) && Object.keys(raw).length === 0);
}

/** Returns the parts of a raw input; null where a member of it is not understood. */
export function readRawInput(raw: unknown, tree: string): RawInput | null {
  if (isEmptyInput(raw)) return { paths: [], address: undefined };
  const paths = isObject(raw) ? pathsIn(raw, tree) : null;
  const [url, prompt] = ADDRESSES.map((name) => textOf(objectOf(raw)[name]));
  return paths && { paths, address: url ?? prompt };
}

/**
 * Returns the command line in a raw input, whatever type it has; undefined where nothing stands. A line that is only a
 * part of what would run holds the rest as well, in a form that no allowed command has.
 */
export function commandIn(raw: unknown, tree: string): string | undefined {
  const members = objectOf(raw);
  const [first, ...others] = COMMANDS.filter((name) => (members[name] ?? undefined) !== undefined);
  if (first === undefined) return undefined;
  const line = lineOf(members[first]);
  const rest = Object.entries(members).filter(([name, value]) => {
    if (name === first || value === undefined || value === null) return false;
    if (FOLDERS.has(name)) return !isFolderOfTree(value, tree);
    return others.includes(name) || !(ABOUT_COMMANDS.has(name) && typeof value !== "object");
  });
  return rest.length === 0 ? line : `${line} (${JSON.stringify(Object.fromEntries(rest))})`;
}

/** Returns a title in the place of a command: it is the agent's own description, and so no allowed command. */
export function titledCommand(title: string): string {
  return `${title} (the agent's title)`;
}

/** A word that a shell, and the list of allowed commands, take as it stands. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Returns a command as one line, whose words are those of the list. */
function lineOf(command: unknown): string {
  if (typeof command === "string") return command;
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string")) {
    return `(${JSON.stringify(command)})`;
  }
  const quoted = (word: string) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  return command.map(quoted).join(" ");
}

function isFolderOfTree(value: unknown, tree: string): boolean {
  return typeof value === "string" && isInTree(pathFromTree(value, tree));
}

/** Returns the paths in the members of an object; null where one of them is not understood. */
function pathsIn(members: JsonObject, tree: string): string[] | null {
  const paths: string[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || value === null) continue;
    const own = pathsOf(name, value, tree);
    if (own === null) return null;
    paths.push(...own);
  }
  return paths;
}

function pathsOf(name: string, value: unknown, tree: string): string[] | null {
  if (FOLDERS.has(name)) return typeof value === "string" && pathFromTree(value, tree) === "." ? [] : null;
  if (name === EDITS && Array.isArray(value)) return together(value.map((edit) => changeIn(edit, tree)));
  if (name === CHANGES && isObject(value)) {
    return together(Object.entries(value).map(([path, change]) => together([[path], changeIn(change, tree)])));
  }
  if (PATH_NAMES.has(name) || PATH_NAME.test(name)) return pathList(value);
  if (PATTERNS.has(name)) return isPattern(value) ? [] : null;
  return (PLAIN.has(name) || ADDRESSES.includes(name)) && typeof value !== "object" ? [] : null;
}

/** A change may be nested once more below the name of its kind, as in `{"update": {"move_path": "b"}}`. */
function changeIn(change: unknown, tree: string): string[] | null {
  if (!isObject(change)) return null;
  const nested = Object.entries(change).filter(
    ([name, value]) => /^(add|delete|update)$/.test(name) && isObject(value),
  );
  const [plain, inner] = [{ ...change }, nested.map(([, value]) => pathsIn(objectOf(value), tree))];
  for (const [name] of nested) delete plain[name];
  return together([pathsIn(plain, tree), ...inner]);
}

function together(lists: readonly (string[] | null)[]): string[] | null {
  const all: string[] = [];
  for (const list of lists) {
    if (list === null) return null;
    all.push(...list);
  }
  return all;
}

/** Returns the paths of a member; null for a value that is no path. An address is no path. */
function pathList(value: unknown): string[] | null {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.every((one) => typeof one === "string" && !/^[a-z][a-z0-9+.-]+:/i.test(one)) ? (list as string[]) : null;
}

/** Returns whether a value is a pattern, or some, that leads nowhere out of the folder in which it is looked for. */
function isPattern(value: unknown): boolean {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.every((one) => typeof one === "string" && !/^[/\\~]|^[a-z]:|\.\.[/\\]|[/\\]\.\./i.test(one));
}
