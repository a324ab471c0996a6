import { validate, type Schema } from "@cfworker/json-schema";
import { readSchema } from "../../lib/json/schema-rules.ts";
import { compareNumberTexts, isNumberText } from "../../lib/json/number-text.ts";
import { pointerParts } from "../../lib/json/json-pointer.ts";
import { type ArgumentValue, type CallArguments, NumberText } from "./call-arguments.ts";
import { fits, patternOf, type Pattern } from "./match.ts";

/** One line of `when.args`: a place in the arguments, and what must hold there (spec/relay 8). */
export interface ArgumentCondition {
  input: "args";
  pointer: string;
  path: readonly string[];
  /** All of these must hold. */
  tests: readonly ArgumentTest[];
}

/** One requirement on an argument. */
export type ArgumentTest =
  | { kind: "any"; values: readonly WantedValue[] }
  | { kind: "min" | "max"; number: string }
  | { kind: "length"; min: number; max: number }
  | { kind: "exists"; is: boolean }
  | { kind: "schema"; schema: Schema; size: number };

/** A number is compared by its text. */
type WantedValue = null | boolean | { text: string } | { number: string } | { pattern: Pattern };
type ScalarValue = null | boolean | string | NumberText;

/** Whether a condition holds: true, false, or null where it cannot be decided. */
export type Truth = boolean | null;

/** Returns whether a condition on arguments holds. A missing member leaves open what its value would have said. */
export function judgeArgument({ path, tests }: ArgumentCondition, args: CallArguments | undefined): Truth {
  const value = args?.at(path);
  return allOf(tests.map((test) => judgeTest(test, value, args?.root !== undefined)));
}

/** Returns false where one answer is false, true where all are true, and null otherwise. */
function allOf(answers: readonly Truth[]): Truth {
  if (answers.includes(false)) return false;
  return answers.includes(null) ? null : true;
}

function judgeTest(test: ArgumentTest, value: ArgumentValue | undefined, isRead: boolean): Truth {
  if (test.kind === "exists") return isRead ? (value !== undefined) === test.is : null;
  if (value === undefined) return null;
  switch (test.kind) {
    case "any":
      return isScalar(value) ? judgeAny(test.values, value) : null;
    case "min":
      return value instanceof NumberText ? compared(value, test.number, (order) => order >= 0) : null;
    case "max":
      return value instanceof NumberText ? compared(value, test.number, (order) => order <= 0) : null;
    case "length": {
      const length = lengthOf(value);
      return length === null ? null : length >= test.min && length <= test.max;
    }
    case "schema":
      return fitsSchema(test, value);
  }
}

function isScalar(value: ArgumentValue): value is ScalarValue {
  return value === null || typeof value !== "object" || value instanceof NumberText;
}

function judgeAny(values: readonly WantedValue[], value: ScalarValue): Truth {
  const answers = values.map((wanted) => judgeWanted(wanted, value));
  if (answers.includes(true)) return true;
  return answers.includes(null) ? null : false;
}

function judgeWanted(wanted: WantedValue, value: ScalarValue): Truth {
  if (wanted === null || typeof wanted === "boolean") return wanted === value;
  if (value instanceof NumberText)
    return "number" in wanted ? compared(value, wanted.number, (order) => order === 0) : false;
  if (typeof value !== "string") return false;
  if ("text" in wanted) return wanted.text === value.normalize("NFC");
  return "pattern" in wanted ? judgePattern(wanted.pattern, value.normalize("NFC")) : false;
}

const IN_LISTS = /[\s,;<>"()\p{C}]/u;
/** Signs by which mail goes to another place, unless the pattern has them itself. */
const ROUTES = /[|!%:/\\]/g;
/** A name of a host and its port; another sign may end the host for some program. */
const PLAIN_HOST = /^[\w.-]*(?::\d+)?$/;
/** A folder above, from which an address leaves the one that a pattern names. */
const CLIMBS = /[/?#](?:\.|%2e){2}(?:[/?#]|$)/i;
const URL_PARTS = /^([^:/?#]*):\/\/([^/?#]*)((?:[/?#].*)?)$/su;

/** A star within an address of mail takes no second address, and one within the host of a URL takes no path. */
function judgePattern(pattern: Pattern, text: string): Truth {
  if (pattern === null || pattern.length < 2 || !fits(pattern, text)) return fits(pattern, text);
  const written = pattern.join("*");
  const [, ...wanted] = URL_PARTS.exec(written) ?? [];
  if (wanted.length > 0) {
    const [, ...parts] = URL_PARTS.exec(text) ?? [];
    const isPlain = PLAIN_HOST.test(parts[1] ?? "@") && !CLIMBS.test(text) && !/[\s\\\p{C}]/u.test(text);
    return isPlain && wanted.every((part, at) => fits(part.split("*"), parts[at] ?? "")) ? true : null;
  }
  if (!written.includes("@")) return true;
  const isRouted = text.match(ROUTES)?.some((sign) => !written.includes(sign)) ?? false;
  return !isRouted && !IN_LISTS.test(text) && text.split("@").length === written.split("@").length ? true : null;
}

function compared({ text }: NumberText, number: string, holds: (order: number) => boolean): Truth {
  return isNumberText(text) ? holds(compareNumberTexts(text, number)) : null;
}

/** Characters are code points. */
function lengthOf(value: ArgumentValue): number | null {
  if (typeof value === "string") return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : null;
}

/** Parts of a schema, times those of a value that they judge: in most schemas far less than 50 ms of them. */
const MOST_SCHEMA_STEPS = 500_000;
/** Characters that are read in the time of one such step. */
const CHARS_OF_STEP = 30;

/** A number that a double cannot hold leaves the answer open, and so does a value that would take too long. */
function fitsSchema({ schema, size }: Extract<ArgumentTest, { kind: "schema" }>, value: ArgumentValue): Truth {
  const plain = plainValue(value);
  if (plain === undefined || size * sizeOf(plain) > MOST_SCHEMA_STEPS) return null;
  try {
    return validate(plain, schema, "2020-12").valid;
  } catch {
    return null;
  }
}

/** Returns the number of values in a value; a long text counts as several. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return 1 + value.length / CHARS_OF_STEP;
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + sizeOf(item), 1);
}

function plainValue(value: ArgumentValue): unknown {
  if (value instanceof NumberText) return doubleOf(value);
  if (Array.isArray(value)) {
    const items = value.map((item: ArgumentValue) => plainValue(item));
    return items.includes(undefined) ? undefined : items;
  }
  if (!(value instanceof Map)) return value;
  const members = [...value].map(([name, item]: [string, ArgumentValue]) => [name, plainValue(item)] as const);
  return members.some(([, item]) => item === undefined) ? undefined : Object.fromEntries(members);
}

/** Returns the number that a text stands for where a double holds it exactly as written; undefined otherwise. */
export function doubleOf({ text }: NumberText): number | undefined {
  const double = Number(text);
  const isExact = Number.isFinite(double) && isNumberText(text) && compareNumberTexts(text, String(double)) === 0;
  return isExact ? double : undefined;
}

const MOST_VALUES = 100;
const MOST_VALUE_CHARS = 512;
const TESTS = ["equals", "one_of", "glob", "min", "max", "length", "exists", "schema"] as const;

/** Reports that something of a condition is wrong: where below it, and the rest of the sentence. */
export type SayFault = (path: readonly (string | number)[], says: string) => void;

/**
 * Returns the condition that a file writes beside a JSON Pointer: a value, a list of values, or a block of tests. A text
 * is a pattern in which `*` stands for anything; `equals` and `one_of` take it as it stands.
 */
export function readArgumentCondition(pointer: string, given: unknown, say: SayFault): ArgumentCondition {
  const path = pointerParts(pointer);
  if (!path) say([], 'must be the place of an argument, as "/amount" or "/to/0" (RFC 6901)');
  const isBlock = typeof given === "object" && given !== null && !Array.isArray(given);
  const tests = isBlock
    ? readTests(given as Readonly<Record<string, unknown>>, say)
    : [readAny(given, [], "pattern", say)];
  return { input: "args", pointer, path: path ?? [], tests };
}

function readTests(block: Readonly<Record<string, unknown>>, say: SayFault): ArgumentTest[] {
  const entries = Object.entries(block);
  if (entries.length === 0) say([], `names no test; it knows ${TESTS.join(", ")}`);
  return entries.flatMap(([name, given]): ArgumentTest[] => {
    const fault = (says: string): [] => {
      say([name], says);
      return [];
    };
    switch (name) {
      case "equals":
        return Array.isArray(given)
          ? fault("must be one value; one_of takes a list")
          : [readAny(given, [name], "text", say)];
      case "one_of":
        return Array.isArray(given) ? [readAny(given, [name], "text", say)] : fault("must be a list of values");
      case "glob":
        return [readAny(given, [name], "glob", say)];
      case "min":
      case "max": {
        const number = numberFrom(given);
        return number === null
          ? fault(`must be a number; one of more than 15 digits is written in quotes`)
          : [{ kind: name, number }];
      }
      case "length":
        return readLength(given) ?? fault("must be a whole number, or a block of min and max");
      case "exists":
        return typeof given === "boolean" ? [{ kind: "exists", is: given }] : fault("must be true or false");
      case "schema":
        return readJudgedSchema(given, fault);
      default:
        return fault(`is no test; it knows ${TESTS.join(", ")}`);
    }
  });
}

/** Reads a value or a list of values. In `pattern` and `glob` a star of a text stands for anything; a glob is a text. */
function readAny(
  given: unknown,
  at: readonly string[],
  kind: "text" | "pattern" | "glob",
  say: SayFault,
): ArgumentTest {
  const list: unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || list.length > MOST_VALUES)
    say(at, `must have 1 to ${MOST_VALUES} values, not ${list.length}`);
  const values = list.slice(0, MOST_VALUES).flatMap((one, i): WantedValue[] => {
    const place = Array.isArray(given) ? [...at, i] : at;
    const wanted = kind === "glob" && typeof one !== "string" ? "must be a text" : readWanted(one, kind);
    if (typeof wanted !== "string") return [wanted];
    say(place, wanted);
    return [];
  });
  return { kind: "any", values };
}

/** Returns a value as it is compared, or what is wrong with it as the rest of a sentence. */
function readWanted(value: unknown, kind: "text" | "pattern" | "glob"): WantedValue | string {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") {
    if (value.length > MOST_VALUE_CHARS) return `must have at most ${MOST_VALUE_CHARS} characters`;
    return kind === "text" ? { text: value.normalize("NFC") } : { pattern: patternOf("args", value) };
  }
  if (typeof value !== "number") return "must be a text, a number, true, false or null";
  const number = numberFrom(value);
  return number === null ? "has more digits than a file keeps; write min and max in quotes" : { number };
}

/** A file keeps a whole number up to 2^53; a longer number is a text. */
function numberFrom(given: unknown): string | null {
  if (typeof given === "string") return isNumberText(given) ? given : null;
  const isKept =
    typeof given === "number" && (Number.isSafeInteger(given) || (Number.isFinite(given) && given % 1 !== 0));
  return isKept ? String(given) : null;
}

function readLength(given: unknown): ArgumentTest[] | null {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  if (isCount(given)) return [{ kind: "length", min: given, max: given }];
  if (typeof given !== "object" || given === null || Array.isArray(given)) return null;
  const { min = 0, max = Infinity, ...rest } = given as Readonly<Record<string, unknown>>;
  const isRange = isCount(min) && (isCount(max) || max === Infinity) && min <= max;
  const isNamed = "min" in given || "max" in given;
  return isRange && isNamed && Object.keys(rest).length === 0 ? [{ kind: "length", min, max }] : null;
}

/**
 * A pattern would take JavaScript's own time; `glob` and `expr` have one that does not. References multiply: a small
 * schema of them takes any time.
 */
const NOT_HERE = /"(pattern|format|uniqueItems|\$ref)":/;

function readJudgedSchema(given: unknown, fault: (says: string) => []): ArgumentTest[] {
  const read = readSchema(given);
  if ("problem" in read) return fault(`cannot be used: ${read.problem.path || "the schema"} ${read.problem.message}`);
  if (NOT_HERE.test(JSON.stringify(read.bare)))
    return fault("must have no pattern, format, uniqueItems or $ref: use glob or expr");
  return [{ kind: "schema", schema: read.bare as Schema, size: sizeOf(read.bare) }];
}

/** Returns a test in words, as the rest of a sentence that begins with the place. */
export function testWords(test: ArgumentTest): string {
  switch (test.kind) {
    case "any":
      return `is ${test.values.map(valueWords).join(" or ")}`;
    case "min":
      return `is at least ${test.number}`;
    case "max":
      return `is at most ${test.number}`;
    case "length": {
      const { min, max } = test;
      const range = max === Infinity ? `at least ${min}` : min === 0 ? `at most ${max}` : `${min} to ${max}`;
      return `has length ${min === max ? min : range}`;
    }
    case "exists":
      return test.is ? "is there" : "is missing";
    case "schema":
      return "fits its schema";
  }
}

function valueWords(value: WantedValue): string {
  if (value === null || typeof value === "boolean") return String(value);
  if ("number" in value) return value.number;
  return JSON.stringify("text" in value ? value.text : (value.pattern ?? []).join("*"));
}
