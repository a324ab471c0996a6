import { isUnknownOption, onlyReads } from "../../lib/shell/writing-options.ts";
import { startedCommands } from "../../lib/shell/started-commands.ts";
import type { SimpleCommand } from "../../lib/shell/simple-command.ts";
import { type ArgumentValue, NumberText } from "./call-arguments.ts";
import { PolicyMistake } from "./check.ts";
import { commandOf, lineOf } from "./command-condition.ts";
import { pathsOfPatch } from "./patch-paths.ts";
import { namesWithin, pathsOf } from "./path-condition.ts";
import type { GrantPattern } from "./pattern.ts";
import { readPattern } from "./pattern.ts";
import { holds, type PolicyInput } from "./policy.ts";
import { SeenValues, type ValuesAt } from "./seen-values.ts";

type Conditions = GrantPattern["when"];

const MOST_PATTERNS = 3;
/** A person reads no longer list of commands, arguments or values. */
const MOST_COMMANDS = 8;
const MOST_ARGUMENTS = 12;
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

function inFolder(root: Members): Conditions {
  const folder = root.get("cwd");
  return typeof folder === "string" ? { args: { "/cwd": { equals: folder } } } : {};
}

function ofCommand(root: Members): Conditions[] | null {
  const called = commandOf(root);
  if (!called) return null;
  const line = lineOf(called);
  if (line?.kind !== "read") return [];
  const started = line.commands.flatMap((one) => (one.program === "" ? [] : (startedCommands(one) ?? [])));
  if (started.length === 0 || started.length > MOST_COMMANDS) return [];
  const exact = started.map(exactPattern);
  const open = started.map((one) => openPattern(one) ?? exactPattern(one));
  const isOpen = open.some((pattern, at) => pattern !== exact[at]);
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

/** A star in a word would stand for any characters. */
function exactPattern({ program, words }: SimpleCommand): string | null {
  const texts = [program, ...words.map(({ text }) => text)];
  return texts.some((text) => text.includes("*")) ? null : texts.join(" ");
}

/** Programs of building, testing and looking, whose first word names the task. */
const TOOLS = new Set(
  (
    "npm pnpm yarn bun npx node deno tsc eslint prettier jest vitest mocha playwright cargo rustc go gofmt make just rake gradle " +
    "mvn dotnet python python3 pytest ruff mypy black isort tox uv poetry bundle rspec ruby php composer phpunit mix cmake " +
    "ctest swift"
  ).split(" "),
);
/** Tasks that fetch or send code: only as they were. */
const OUTWARD = new Set(
  "install i add ci publish push deploy upload release login config update upgrade get".split(" "),
);
/** Tasks that are named by their second word. */
const NAMED_BY_NEXT = new Set("run exec workspace tool -m".split(" "));
/** Tasks of programs that also change other computers, or the history of the work. */
const HARMLESS_TASKS: Readonly<Record<string, string>> = {
  git: "log status diff show blame shortlog describe rev-parse ls-files grep add commit",
  gh: "view list status diff",
  glab: "view list status diff",
  kubectl: "get describe logs version",
  docker: "ps images logs version",
  podman: "ps images logs version",
  terraform: "plan show validate fmt",
};

/**
 * Returns the pattern of a command with any further words; null for a program whose further words may do anything. It
 * keeps what names the task, and the options that a star does not take.
 */
function openPattern({ program, words }: SimpleCommand): string | null {
  if (onlyReads(program)) return `${program} *`;
  const texts = words.map(({ text }) => text);
  const named = NAMED_BY_NEXT.has(texts[0] ?? "") ? 2 : 1;
  const task = texts[named - 1] ?? "-";
  const harmless = HARMLESS_TASKS[program]?.split(" ");
  const isOpen = harmless ? harmless.includes(task) : TOOLS.has(program) && !OUTWARD.has(task);
  if (!isOpen || task.startsWith("-")) return null;
  const kept = texts.slice(0, Math.max(named, texts.findLastIndex((text) => isUnknownOption(program, text)) + 1));
  return kept.some((text) => text.includes("*")) ? null : [program, ...kept, "*"].join(" ");
}

/** A patch of one file stands where other tools have a command. */
function ofPatch(root: Members, fn: string): Conditions[] | null {
  return pathsOfPatch(fn, root) ? (ofPath(root, fn) ?? []) : null;
}

function ofPath(root: Members, fn: string): Conditions[] | null {
  const [path, another] = pathsOf(root, fn)?.paths ?? [];
  if (path === undefined || another !== undefined) return null;
  const folder = root.get("cwd");
  const names = namesWithin(path, typeof folder === "string" ? folder : null);
  if (names === null || names.length === 0) return [];
  const file = names.join("/");
  const folders = [names.slice(0, -1), names.slice(0, 1)].map((parts) => [...parts, "**"].join("/"));
  const wider = names.length === 1 ? ["**"] : names.length === 2 ? [folders[0] ?? "", "**"] : folders;
  return [file, ...wider].map((pattern) => ({ path: pattern, ...inFolder(root) }));
}

/** One value of the arguments that is neither a list nor a block, with its JSON Pointer. */
interface Leaf {
  pointer: string;
  value: null | boolean | string | NumberText;
}

/** A text under such a name decides where a call goes and what it does, so that it never differs freely. */
const ACTS =
  /comm?and|cmd|script|code|sql|query|expr|url|uri|path|file|folder|dir|host|^to$|recipient|iban|account|role|perm|scope/i;

function ofArguments(root: Members, seen: SeenValues, text: FreeText): Conditions[] {
  const shape: Record<string, unknown> = { "": { schema: shapeOf(root) } };
  const leaves = leavesOf(root, "", shape);
  if (leaves.length === 0 || leaves.length > MOST_ARGUMENTS) return [];
  const pattern = (testOf: (leaf: Leaf) => unknown): Conditions => {
    const tests = leaves.map((leaf) => [leaf.pointer, testOf(leaf)] as const).filter(([, test]) => test !== undefined);
    return { args: { ...shape, ...Object.fromEntries(tests) } };
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

/** No other members than these, in any block. */
function shapeOf(value: ArgumentValue): Record<string, unknown> {
  if (!(value instanceof Map)) return {};
  const members = [...value].map(([name, inner]: [string, ArgumentValue]) => [name, shapeOf(inner)]);
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(members) as unknown };
}

/** Returns the leaves, and notes beside the shape how long each list is. */
function leavesOf(value: ArgumentValue, pointer: string, shape: Record<string, unknown>): Leaf[] {
  if (Array.isArray(value)) {
    shape[pointer] = { length: value.length };
    return value.flatMap((item: ArgumentValue, at) => leavesOf(item, `${pointer}/${at}`, shape));
  }
  if (value instanceof Map) {
    return [...value].flatMap(([name, inner]: [string, ArgumentValue]) =>
      leavesOf(inner, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, shape),
    );
  }
  return [{ pointer, value: value as Leaf["value"] }];
}
