import { memberPointer } from "../../lib/json/json-pointer.ts";
import { isUnknownOption, onlyReads } from "../../lib/shell/writing-options.ts";
import { startedCommands } from "../../lib/shell/started-commands.ts";
import type { SimpleCommand } from "../../lib/shell/simple-command.ts";
import { type ArgumentValue, NumberText } from "./call-arguments.ts";
import { PolicyMistake } from "./check.ts";
import { commandOf, inputOf, lineOf, namesCommand } from "./command-condition.ts";
import { pathsOfPatch } from "./patch-paths.ts";
import { namesWithin, PATHS, pathsOf } from "./path-condition.ts";
import type { GrantPattern } from "./pattern.ts";
import { readPattern } from "./pattern.ts";
import { holds, type PolicyInput } from "./policy.ts";
import type { SeenValues, ValuesAt } from "./seen-values.ts";

type Conditions = GrantPattern["when"];

const MOST_PATTERNS = 3;
/** A person reads no longer list of commands, arguments or values. */
const MOST_COMMANDS = 8;
const MOST_WORDS = 100;
const MOST_ARGUMENTS = 12;
const MOST_WITHIN = 100;
const MOST_VALUES = 10;

/** A text that differed: `any` text in its place, or `alike`, one with the same ends that is no longer. */
export type FreeText = "any" | "alike";

/**
 * Returns at most three patterns that cover a function call and more calls like it, the narrowest first: its commands,
 * its file or its arguments. `seen` are the values of earlier calls of the same agent and function that people approved:
 * an argument that differed there may differ. A call that cannot be read with certainty has no pattern.
 */
export function patternsLike(input: PolicyInput, seen: SeenValues): Conditions[] {
  return unreadPatterns(input, seen, "any").filter((when) => coversCall(when, input));
}

/** Returns patterns as `patternsLike` does, before it is known whether a rule can hold them and covers the call. */
export function unreadPatterns({ fn, agent, args }: PolicyInput, seen: SeenValues, text: FreeText): Conditions[] {
  const root = args?.root;
  if (typeof fn !== "string" || typeof agent !== "string" || !(root instanceof Map)) return [];
  if (fn.includes("*") || agent.includes("*")) return [];
  const patterns = ofPatch(root, fn) ?? ofCommand(root) ?? ofPath(root, fn) ?? ofArguments(root, seen, text);
  return patterns.map((more) => ({ fn, agent, ...more })).slice(0, MOST_PATTERNS);
}

/** Returns whether a pattern covers a call. A text that a rule cannot hold makes no pattern. */
export function coversCall(when: Conditions, input: PolicyInput): boolean {
  try {
    return holds(readPattern({ when }).rule, input);
  } catch (error) {
    if (error instanceof PolicyMistake) return false;
    throw error;
  }
}

type Members = ReadonlyMap<string, ArgumentValue>;
type Tests = Readonly<Record<string, unknown>>;

function inFolder(root: Members): { args?: Tests } {
  const folder = root.get("cwd");
  return typeof folder === "string" ? { args: { "/cwd": { equals: folder } } } : {};
}

function ofCommand(root: Members): Conditions[] | null {
  const called = commandOf(root);
  if (!called) return namesCommand(root) ? [] : null;
  const line = lineOf(called);
  if (line?.kind !== "read") return [];
  const started = line.commands.flatMap((one) => (one.program === "" ? [] : (startedCommands(one) ?? [])));
  if (started.length === 0 || started.length > MOST_COMMANDS) return [];
  if (started.some(leadsAway)) return [];
  const exact = started.map(exactPattern);
  // A command may read the words of another one: `echo …` beside `psql` would be any statement.
  const isLooking = started.every(({ program }) => onlyReads(program));
  const isRead = started.some((one) => mayTakeInput(one.program, textsOf(one)));
  const open = started.map((one) => {
    const isFixed = isRead ? !mayTakeInput(one.program, textsOf(one)) : SAYS.has(one.program) && !isLooking;
    return isFixed ? exactPattern(one) : openPattern(one);
  });
  const isOpen = !open.includes(null) && open.some((pattern, at) => pattern !== exact[at]);
  return [
    ...commandsIn(exact, inFolder(root)),
    ...(isOpen ? commandsIn(open, inFolder(root)) : []),
    ...(isOpen && root.has("cwd") ? commandsIn(open, {}) : []),
  ];
}

function commandsIn(patterns: readonly (string | null)[], folder: Conditions): Conditions[] {
  const written = patterns.filter((pattern) => pattern !== null);
  return written.length === patterns.length ? [{ command: [...new Set(written)], ...folder }] : [];
}

const SAYS = new Set(["echo", "printf"]);
const textsOf = ({ words }: SimpleCommand): string[] => words.map(({ text }) => text);

const TAKE_NONE = new Set("mkdir rmdir touch rm cp mv".split(" "));
const GIT_TAKES_NONE = new Set(
  "branch checkout clone fetch merge pull push rebase reset restore stash switch tag".split(" "),
);

/** Whether a command may do what its input says, or pass it on; a look, and a task that is known, do neither. */
export function mayTakeInput(program: string, texts: readonly string[]): boolean {
  if (onlyReads(program) || TAKE_NONE.has(program)) return false;
  if (texts.some((text) => /^@?-$|=-$|stdin/.test(text))) return true;
  if (program === "git" && GIT_TAKES_NONE.has(texts[0] ?? "")) return false;
  return (INTERPRETERS.has(program) && texts[0] !== "-m") || wordsOfTask(program, texts) === null;
}

/** Such a step, taken again, ends anywhere. */
function leadsAway({ program, words }: SimpleCommand): boolean {
  const isStep = program === "cd" && words.length === 1 && !/(?:^|\/)\.\.(?:\/|$)|^-/.test(words[0]?.text ?? "");
  return ["cd", "pushd", "popd"].includes(program) && !isStep;
}

/** A star in a word would stand for any characters. */
function exactPattern({ program, words }: SimpleCommand): string | null {
  const texts = [program, ...words.map(({ text }) => text)];
  return texts.some((text) => text.includes("*")) ? null : texts.join(" ");
}

const SCRIPTS = "run+ test t lint build check typecheck format coverage e2e ls list why";
const CHECKS =
  "tsc eslint prettier jest vitest mocha pytest mypy black isort tox rspec phpunit ctest gofmt unittest".split(" ");
/**
 * Tasks of programs that build, test and look: none of them sends, fetches or destroys by its further words. A `+` stands
 * behind a task that its next word names, a `>` behind one whose next word is a program of these.
 */
const TASKS: Readonly<Record<string, string>> = {
  npm: "run+ run-script+ test t ls list why outdated exec>",
  pnpm: `${SCRIPTS} exec>`,
  yarn: `${SCRIPTS} exec>`,
  bun: SCRIPTS,
  npx: ">",
  python: "-m>",
  python3: "-m>",
  uv: "tree run>",
  poetry: "check show run>",
  bundle: "list show info check exec>",
  deno: "test check lint fmt bench task+ run+",
  cargo: "build b check c clippy test t fmt doc bench tree run+ nextest+",
  go: "build test vet fmt list doc version run+",
  dotnet: "build test format",
  composer: "test run+",
  mix: "test compile format credo dialyzer",
  swift: "build test",
  ruff: "check format",
  playwright: "test",
  git: "log status diff show blame shortlog describe rev-parse ls-files grep add commit",
  kubectl: "get+ describe+ logs version",
  docker: "ps images logs version",
  podman: "ps images logs version",
  terraform: "plan show validate fmt",
};
/** Each task is one of their files, but for these. */
const RUNS_FILES = new Set("make just rake gradle mvn".split(" "));
const OUTWARD = new Set("install uninstall publish push deploy upload release clean".split(" "));
const INTERPRETERS = new Set("node python python3 ruby php".split(" "));

/**
 * Returns the pattern of a command with any further words; null for a program whose further words may do anything. It
 * keeps what names the task, and the options that a star does not take, each with the word behind it.
 */
function openPattern({ program, words }: SimpleCommand): string | null {
  if (onlyReads(program)) return `${program} *`;
  if (words.length > MOST_WORDS) return null;
  const texts = words.map(({ text }) => text);
  const named = wordsOfTask(program, texts);
  if (named === null || texts.slice(0, named).includes("")) return null;
  const last = texts.findLastIndex((text) => isUnknownOption(program, text));
  const kept = texts.slice(0, Math.max(named, last < 0 || texts[last]?.includes("=") ? last + 1 : last + 2));
  return kept.some((text) => text.includes("*")) ? null : [program, ...kept, "*"].join(" ");
}

/** Returns how many words name the task of a program; null for a task that may do anything. */
function wordsOfTask(program: string, [task = "", next = "", ...rest]: readonly string[]): number | null {
  if (CHECKS.includes(program)) return 0;
  if (RUNS_FILES.has(program)) return /^[A-Za-z]/.test(task) && !OUTWARD.has(task) ? 1 : null;
  const tasks = Object.hasOwn(TASKS, program) ? (TASKS[program]?.split(" ") ?? []) : [];
  const within = tasks.includes(">") ? [task, next, ...rest] : tasks.includes(`${task}>`) ? [next, ...rest] : null;
  if (within) {
    const [started = "", ...texts] = within;
    const named = RUNS_FILES.has(started) ? null : wordsOfTask(started, texts);
    return named === null ? null : named + (tasks.includes(">") ? 1 : 2);
  }
  if (tasks.includes(task)) return 1;
  if (tasks.includes(`${task}+`)) return /^[\w.]/.test(next) ? 2 : null;
  // A script may have tasks of its own.
  return INTERPRETERS.has(program) && /^[\w./]/.test(task) ? (/^[\w:]+$/.test(next) ? 2 : 1) : null;
}

/** Members of an agent's own tools: the text that they write or look for, and where within the file. */
const CONTENT =
  "old_string new_string oldString newString replace_all replaceAll content file_text old_str new_str insert_line " +
  "insert_text view_range offset limit pages edits new_source cell_id cell_type edit_mode instruction instructions " +
  "code_edit expected_replacements allow_multiple description pattern glob include output_mode -n -i -A -B -C head_limit " +
  "multiline";

/** A patch of one file stands where other tools have a command. */
function ofPatch(root: Members, fn: string): Conditions[] | null {
  return pathsOfPatch(fn, root) ? (ofPath(root, fn) ?? []) : null;
}

function ofPath(root: Members, fn: string): Conditions[] | null {
  const [path, another] = pathsOf(root, fn)?.paths ?? [];
  if (path === undefined || another !== undefined) return null;
  const folder = root.get("cwd");
  const names = namesWithin(path, typeof folder === "string" ? folder : null);
  const args = pathsOfPatch(fn, root) ? {} : argumentsBeside(root);
  if (names === null || names.length === 0 || args === null) return [];
  const file = names.join("/");
  const folders = [names.slice(0, -1), names.slice(0, 1)].map((parts) => [...parts, "**"].join("/"));
  const wider = names.length === 1 ? ["**"] : names.length === 2 ? [folders[0] ?? "", "**"] : folders;
  return [file, ...wider].map((pattern) => ({ path: pattern, args: { ...args, ...inFolder(root).args } }));
}

/** Returns what all arguments but the path, its folder and the content must be; null for too many. */
function argumentsBeside(root: Members): Tests | null {
  const members = inputOf(root);
  const isWrapped = members !== root;
  const inner = [...members].filter(([name]) => !isWrapped || !["cwd", "tool_cwd"].includes(name));
  const free = new Set([...CONTENT.split(" "), ...PATHS, ...(isWrapped ? [] : ["cwd"])]);
  const others = new Map(inner.filter(([name]) => !free.has(name)));
  if (countOf(others) > MOST_WITHIN) return null;
  const { properties = {} } = shapeOf(others);
  const shape = { type: "object", properties, propertyNames: { enum: [...free, ...others.keys()] } };
  const leaves = leavesOf(others, isWrapped ? "/input" : "");
  if (leaves.length > MOST_ARGUMENTS) return null;
  const tests = leaves.map(({ pointer, value }) => [pointer, testOfSeen(value, null)] as const);
  return { [isWrapped ? "/input" : ""]: { schema: shape }, ...Object.fromEntries(tests) };
}

/** One value of the arguments that is neither a list nor a block, with its JSON Pointer. */
interface Leaf {
  pointer: string;
  value: null | boolean | string | NumberText;
}

/** A text under such a name decides where a call goes and what it does, so that it never differs freely. */
const ACTS =
  /comm?and|cmd|patch|script|code|sql|query|expr|input|url|uri|path|file|folder|dir|dest|host|\/to(?:\/|$)|recipient|iban|account|role|perm|scope/i;

function ofArguments(root: Members, seen: SeenValues, text: FreeText): Conditions[] {
  if (countOf(root) > MOST_WITHIN) return [];
  const leaves = leavesOf(root, "");
  if (leaves.length === 0 || leaves.length > MOST_ARGUMENTS) return [];
  const pattern = (testOf: (leaf: Leaf) => unknown): Conditions => {
    const tests = leaves.map((leaf) => [leaf.pointer, testOf(leaf)] as const).filter(([, test]) => test !== undefined);
    return { args: { "": { schema: shapeOf(root) }, ...Object.fromEntries(tests) } };
  };
  const upTo = pattern(({ value }) => {
    if (!(value instanceof NumberText)) return { equals: value };
    return value.text.startsWith("-") ? testOfSeen(value, null) : { min: "0", max: value.text };
  });
  const likeSeen = (pointer: string, value: Leaf["value"]) =>
    text === "alike" && typeof value === "string" && !ACTS.test(pointer) ? seen.alike(pointer, value) : null;
  const asSeen = pattern(({ pointer, value }) => likeSeen(pointer, value) ?? testOfSeen(value, seen.at(pointer)));
  const free = pattern(({ pointer, value }) => {
    const values = seen.at(pointer);
    const isFree = typeof value === "string" && !ACTS.test(pointer) && values.texts.some((one) => one !== value);
    return isFree && text === "any" ? undefined : (likeSeen(pointer, value) ?? testOfSeen(value, values));
  });
  const exact = JSON.stringify(pattern(({ value }) => testOfSeen(value, null)));
  const distinct = new Map([upTo, asSeen, free].map((one) => [JSON.stringify(one), one]));
  distinct.delete(exact);
  return [...distinct.values()];
}

/** Returns what a value must be that was this now, and those before: one of them, or a number between them. */
function testOfSeen(value: Leaf["value"], seen: ValuesAt | null): Record<string, unknown> {
  if (value instanceof NumberText) {
    const numbers = [value.text, ...(seen?.numbers ?? [])];
    const sorted = numbers.toSorted((one, other) => Number(one) - Number(other));
    return { min: sorted[0], max: sorted.at(-1) };
  }
  const before = typeof value === "string" ? seen?.texts : typeof value === "boolean" ? seen?.switches : [];
  const values = [...new Set([value, ...(before ?? [])])].toSorted();
  return values.length === 1 || values.length > MOST_VALUES ? { equals: value } : { one_of: values };
}

/** No other members than these in any block, and no longer list; where a text is, a text. */
function shapeOf(value: ArgumentValue): Record<string, unknown> {
  if (Array.isArray(value)) {
    const items = value.map((item: ArgumentValue) => shapeOf(item));
    const each = items.length > 0 && { prefixItems: items };
    return { type: "array", minItems: items.length, maxItems: items.length, ...each };
  }
  if (!(value instanceof Map)) return typeof value === "string" ? { type: "string" } : {};
  const members = [...value].map(([name, inner]: [string, ArgumentValue]) => [name, shapeOf(inner)]);
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(members) as unknown };
}

/** Returns the number of values in a value, with the empty lists and blocks. */
function countOf(value: ArgumentValue): number {
  const inner: Iterable<ArgumentValue> = Array.isArray(value) ? value : value instanceof Map ? value.values() : [];
  let count = 1;
  for (const one of inner) count += countOf(one);
  return count;
}

function leavesOf(value: ArgumentValue, pointer: string): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item: ArgumentValue, at) => leavesOf(item, `${pointer}/${at}`));
  if (value instanceof Map) {
    return [...value].flatMap(([name, inner]: [string, ArgumentValue]) =>
      leavesOf(inner, memberPointer(pointer, name)),
    );
  }
  return [{ pointer, value: value as Leaf["value"] }];
}
