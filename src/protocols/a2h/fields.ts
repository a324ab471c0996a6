import { z } from "zod";
import type { Fault } from "../../core/model/field-problem.ts";
import { isExactNumber } from "../../lib/json/exact-json.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { memberPointer } from "../../lib/json/json-pointer.ts";
import { Refusal } from "../../refusals.ts";
import { members } from "../../wire/fields.ts";
import { faultOf, PARSING } from "../../wire/problems.ts";

/** A place in a request, as clients of this protocol read it: `["body", "spec", "fn"]`. */
export type Loc = readonly (string | number)[];

export const BODY: Loc = ["body"];

export interface Problem {
  loc: Loc;
  code: string;
  message: string;
  /** The sentence without the field's name, if a channel gave one. */
  bare?: string;
  /** More members of the error. */
  facts?: Readonly<Record<string, unknown>>;
}

/** Returns `spec.fn` for `["body", "spec", "fn"]`. */
export function dotted(loc: Loc): string {
  return loc.slice(loc[0] === "body" ? 1 : 0).join(".") || "the body";
}

/** Adds a problem whose sentence begins with the field. */
export function complain(problems: Problem[], loc: Loc, code: string, phrase: string): undefined {
  problems.push({ loc, code, message: `${dotted(loc)} ${phrase}` });
  return undefined;
}

/** Returns an own member; null equals absent. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

/** Where something stands in a request, and where what is wrong with it is written down. */
export interface Place {
  loc: Loc;
  problems: Problem[];
}

/** Returns the place of a member, or of an item. */
export function within({ loc, problems }: Place, step: string | number): Place {
  return { loc: [...loc, step], problems };
}

/** Returns a value as its schema has it, or nothing where it is wrong; what is wrong is added to the problems. */
export function read<T>(schema: z.ZodType<T>, value: unknown, place: Place): T | undefined {
  const { loc, problems } = place;
  const type = needed(schema);
  if (value === undefined) return type === schema ? complain(problems, loc, "required", "is required") : undefined;
  if (isList(type)) return readList(type, value, place, (one, at) => read(type.element as z.ZodType, one, at)) as T;
  if (isObject(type)) {
    const given = read(members, value, place);
    if (!given) return undefined;
    const found: Readonly<Record<string, unknown>> = readMembers(type, given, place);
    const isWhole = Object.entries(type.shape).every(([name, one]) => isFree(one as z.ZodType) || name in found);
    return isWhole ? (found as T) : undefined;
  }
  // An integer that kept its digits is beyond every bound.
  const parsed = type.safeParse(isExactNumber(value) ? Number.MAX_VALUE : value, PARSING);
  if (parsed.success) return parsed.data as T;
  for (const issue of parsed.error.issues) complain(problems, loc, ...printed(faultOf(issue)));
  return undefined;
}

/** Returns the code and the phrase of a fault in this protocol, to which a list of words is a pattern. */
function printed({ says, constraint, allowed }: Fault): [code: string, phrase: string] {
  return Array.isArray(allowed) ? ["pattern", `must be ${allowed.join(" or ")}`] : [constraint, says];
}

// `instanceof` costs a schema of Zod as much as it costs to check a text.
const isFree = (schema: z.ZodType): schema is z.ZodOptional<z.ZodType> => schema.type === "optional";
const isList = (schema: z.ZodType): schema is z.ZodArray => schema.type === "array";
const isObject = (schema: z.ZodType): schema is z.ZodObject => schema.type === "object";

/** Returns the schema of what a member is where it is given. */
function needed(schema: z.ZodType): z.ZodType {
  return isFree(schema) ? needed(schema.unwrap()) : schema;
}

/** Returns how many items a list may hold, as its checks have it. */
function boundsOf({ def }: z.ZodArray): { minimum?: number; maximum?: number } {
  return Object.assign({}, ...(def.checks ?? []).map(({ _zod }) => _zod.def)) as object;
}

/** Reads a list item by item; its schema says how many it holds. */
export function readList<T>(
  schema: z.ZodArray,
  value: unknown,
  { loc, problems }: Place,
  item: (one: unknown, at: Place) => T | undefined,
): T[] | undefined {
  const { minimum: min = 0, maximum: max = Number.POSITIVE_INFINITY } = boundsOf(schema);
  if (!Array.isArray(value)) return complain(problems, loc, "type", "must be a list");
  if (value.length > max) return complain(problems, loc, "too_long", `may hold at most ${max} items`);
  if (value.length < min) return complain(problems, loc, "required", `must hold at least ${min} items`);
  const items = value.map((one: unknown, i) => item(one, within({ loc, problems }, i)));
  return items.every((one) => one !== undefined) ? items : undefined;
}

/** Reads of members that depend on more than their schemas; `before` is what was read of the members before one. */
type LaterRules<Shape extends z.core.$ZodShape> = {
  [Name in keyof Shape]?: (
    value: unknown,
    place: Place,
    before: { readonly [Other in keyof Shape]?: z.output<Shape[Other]> },
  ) => unknown;
};

type Members<Shape extends z.core.$ZodShape, Laters> = {
  -readonly [Name in keyof Shape]?: Name extends keyof Laters
    ? Laters[Name] extends (...args: never[]) => infer Found
      ? Exclude<Found, undefined>
      : never
    : Exclude<z.output<Shape[Name]>, undefined>;
};

/**
 * Returns the members of an object that are as its schema has them, in their order; null equals absent. Those that
 * `laters` names are read by it in place of the schema.
 */
export function readMembers<Shape extends z.core.$ZodShape, Laters extends LaterRules<Shape> = object>(
  schema: z.ZodObject<Shape>,
  object: JsonObject,
  place: Place,
  laters?: Laters & LaterRules<Shape>,
): Members<Shape, Laters> {
  const found: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(schema.shape)) {
    const type = one as z.ZodType;
    const value = member(object, name);
    if (value === undefined && isFree(type)) continue;
    const later = value === undefined ? undefined : laters?.[name];
    const at = within(place, name);
    const own = later ? later(value, at, found as never) : read(type, value, at);
    if (own !== undefined) found[name] = own;
  }
  return found as Members<Shape, Laters>;
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
  return loc.slice(loc[0] === "body" ? 1 : 0).reduce<string>((place, step) => memberPointer(place, String(step)), "");
}

/** Returns a body as its schema has it. @throws {Refusal} `invalid_input` */
export function checkedBody<T>(schema: z.ZodType<T>, body: JsonObject): T {
  return checked((problems) => read(schema, body, { loc: BODY, problems }));
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
