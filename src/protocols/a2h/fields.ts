import type { JsonObject } from "../../lib/json-body.ts";
import { lengthOf } from "../../core/model/field-problem.ts";
import { Refusal } from "../../refusals.ts";

/** Where something stands in a request, as clients of this protocol are told: `["body", "spec", "fn"]`. */
export type Loc = readonly (string | number)[];

export interface Problem {
  loc: Loc;
  code: string;
  message: string;
  /** The sentence without the field's name, where a channel said one. */
  bare?: string;
  /** What further is told of it. */
  facts?: Readonly<Record<string, unknown>>;
}

/** Returns the value of a field, or nothing where it is wrong; what is wrong is added to the problems. */
export type Rule<T> = (value: unknown, loc: Loc, problems: Problem[]) => T | undefined;

/** Returns `spec.fn` for `["body", "spec", "fn"]`. */
export function dotted(loc: Loc): string {
  return loc.slice(loc[0] === "body" ? 1 : 0).join(".") || "the body";
}

/** Adds a problem whose sentence begins with the field. */
export function complain(problems: Problem[], loc: Loc, code: string, phrase: string): undefined {
  problems.push({ loc, code, message: `${dotted(loc)} ${phrase}` });
  return undefined;
}

/** True for a JSON object. An integer that kept its digits is none. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isBigInteger(value);
}

const exact = JSON as unknown as { isRawJSON(value: unknown): boolean };

/** True for an integer beyond ±(2^53−1), which is kept by its digits. */
function isBigInteger(value: unknown): boolean {
  return exact.isRawJSON(value);
}

/** Returns an own member; null equals absent. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

/** Where an object stands in a request, and where what is wrong with its members is written down. */
interface Place {
  loc: Loc;
  problems: Problem[];
}

/** Reads a member that has to be there. */
export function required<T>(object: JsonObject, name: string, rule: Rule<T>, { loc, problems }: Place) {
  const value = member(object, name);
  const here = [...loc, name];
  return value === undefined ? complain(problems, here, "required", "is required") : rule(value, here, problems);
}

/** Reads a member that may be left out. */
export function optional<T>(object: JsonObject, name: string, rule: Rule<T>, { loc, problems }: Place) {
  const value = member(object, name);
  return value === undefined ? undefined : rule(value, [...loc, name], problems);
}

interface TextRule {
  min?: number;
  max: number;
  /** Characters that may not stand in it, and how they are called. */
  without?: [pattern: RegExp, called: string];
  pattern?: RegExp;
  /** Said where the pattern does not match. */
  says?: string;
}

/** A text of so many code points. */
export function text({ min = 0, max, without, pattern, says }: TextRule): Rule<string> {
  return (value, loc, problems) => {
    if (typeof value !== "string") return complain(problems, loc, "type", "must be a string");
    if (value.includes("\0")) return complain(problems, loc, "pattern", "may not hold U+0000");
    if (lengthOf(value) > max) return complain(problems, loc, "too_long", `must be at most ${max} characters`);
    if (lengthOf(value) < min) return complain(problems, loc, "required", "must not be empty");
    if (without?.[0].test(value)) return complain(problems, loc, "pattern", `may not hold ${without[1]}`);
    if (pattern && !pattern.test(value)) {
      if (says === undefined) return complain(problems, loc, "pattern", `must match ${pattern.source}`);
      problems.push({ loc, code: "pattern", message: says });
      return undefined;
    }
    return value;
  };
}

export const flag: Rule<boolean> = (value, loc, problems) =>
  typeof value === "boolean" ? value : complain(problems, loc, "type", "must be true or false");

/** An integer within bounds. */
export function integer(min: number, max: number): Rule<number> {
  return (value, loc, problems) => {
    if (!Number.isInteger(value) && !isBigInteger(value)) return complain(problems, loc, "type", "must be an integer");
    if (typeof value === "number" && value >= min && value <= max) return value;
    return complain(problems, loc, "range", `must be between ${min} and ${max}`);
  };
}

/** One of a few words. */
export function word<const Word extends string>(words: readonly Word[]): Rule<Word> {
  return (value, loc, problems) =>
    words.find((one) => one === value) ?? complain(problems, loc, "pattern", `must be ${words.join(" or ")}`);
}

export const object: Rule<JsonObject> = (value, loc, problems) =>
  isJsonObject(value) ? value : complain(problems, loc, "type", "must be an object");

/** A list whose items follow a rule. */
export function list<T>(item: Rule<T>, { max, min = 0 }: { max: number; min?: number }): Rule<T[]> {
  return (value, loc, problems) => {
    if (!Array.isArray(value)) return complain(problems, loc, "type", "must be a list");
    if (value.length > max) return complain(problems, loc, "too_long", `may hold at most ${max} items`);
    if (value.length < min) return complain(problems, loc, "required", `must hold at least ${min} items`);
    const items = value.map((one: unknown, i) => item(one, [...loc, i], problems));
    return items.every((one) => one !== undefined) ? items : undefined;
  };
}

/** Returns the refusal that names every problem, the first of them in its sentence. */
export function refuse(problems: readonly Problem[]): Refusal {
  const [first] = problems;
  if (!first) throw new Error("nothing is wrong");
  const fields = problems.filter(({ code }) => code !== "channel_unavailable" && code !== "recipient_not_allowed");
  if (fields[0]) return new Refusal("invalid_input", { problems: fields }, fields[0].message);
  if (first.code === "recipient_not_allowed") return new Refusal("recipient_refused", { path: pointer(first.loc) });
  return new Refusal("channel_unavailable", { ...first.facts, channel: first.facts?.["channel"] ?? first.loc.at(-2) });
}

/** Returns `/spec/channel` for `["body", "spec", "channel"]`. */
export function pointer(loc: Loc): string {
  return loc
    .slice(loc[0] === "body" ? 1 : 0)
    .map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/** Returns what `read` returns unless it complained. @throws {Refusal} `invalid_input` */
export function checked<T>(read: (problems: Problem[]) => T | undefined): T {
  const problems: Problem[] = [];
  const value = read(problems);
  if (problems.length > 0) throw refuse(problems);
  if (value === undefined) throw new Error("a field was dropped without a word");
  return value;
}

/** An object whose members are left out where they are undefined. */
type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns an object without the members that are undefined. */
export function given<T extends object>(members: T): Given<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}
