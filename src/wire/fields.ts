/** The fields of bodies, on top of Zod's own schemas; `problems.ts` says what is wrong with a value. */
import { z } from "zod";
import { integerFault, textFault, type Fault } from "../core/model/field-problem.ts";
import { isJsonObject } from "../lib/json/exact-json.ts";
import { faultOf, PARSING } from "./problems.ts";

/** A fault below the field whose rule found it. A `message` is the whole sentence. */
export interface InnerFault extends Fault {
  at: readonly (string | number)[];
}
type Faults = Fault | readonly InnerFault[] | null;

/** A check of a schema; the bounds stand in its JSON Schema. */
export function rule<T>(find: (value: T) => Faults, bounds: Bounds = {}): z.core.$ZodCheck<T> {
  const check = ({ value, issues }: z.core.ParsePayload<T>) => addFaults(issues, value, find(value));
  const onattach = [(schema: z.core.$ZodType) => void Object.assign(schema._zod.bag, bounds)];
  return { _zod: { check, def: { check: "custom" }, onattach } } as unknown as z.core.$ZodCheck<T>;
}

interface Bounds {
  minimum?: number;
  maximum?: number;
  format?: string;
  patterns?: Set<RegExp>;
}

/** A check of several fields at once: it runs although one of them is wrong, for every problem is reported. */
export function ruleOfAll<T>(find: (fields: T) => Faults): z.core.$ZodCheck<T> {
  const check = rule(find);
  check._zod.def.when = ({ value }) => isJsonObject(value);
  return check;
}

function addFaults(issues: z.core.$ZodRawIssue[], input: unknown, faults: Faults): void {
  for (const { at = [], says, ...params } of [faults ?? []].flat() as (Fault & Partial<InnerFault>)[]) {
    issues.push({ code: "custom", path: [...at], message: says, params, input });
  }
}

/** A text of so many code points. */
export function text(min: number, max: number): z.ZodString {
  return z.string().check(rule((value) => textFault(value, min, max), { minimum: min, maximum: max }));
}

/** A text that matches. */
export function matching(pattern: RegExp, fault: Fault): z.ZodString {
  return z.string().check(rule((value) => (pattern.test(value) ? null : fault), { patterns: new Set([pattern]) }));
}

/** An integer within bounds. */
export function integer(min: number, max: number): z.ZodNumber {
  const bounds = { minimum: min, maximum: max, format: "safeint" };
  return z.number("must be an integer").check(rule((value) => integerFault(value, min, max), bounds));
}

/** A value that is documented by `json`; one that is not right has this fault, or the phrase where it is of another type. */
export function custom<T>(
  json: z.GlobalMeta,
  isRight: (value: unknown) => boolean,
  fault: Fault | string,
): z.ZodType<T, T> {
  const { says, ...params } = typeof fault === "string" ? { says: fault } : fault;
  const more = typeof fault === "string" ? {} : { params };
  const check = ({ value, issues }: z.core.ParsePayload) => {
    if (!isRight(value)) issues.push({ code: "custom", message: says, ...more, input: value });
  };
  return z.unknown().check(check).meta(json) as unknown as z.ZodType<T, T>;
}

/** An object of any members, taken as it came. */
export const members = custom<Record<string, unknown>>(
  { type: "object", additionalProperties: true },
  isJsonObject,
  "must be an object",
);

/** A list of texts. A problem with one of them is a problem with the list. */
export function texts(says = "must be a list of strings"): z.ZodType<string[], string[]> {
  const areTexts = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string");
  return custom({ type: "array", items: { type: "string" } }, areTexts, says);
}

/** A list of so many items, which are counted before any of them is read. */
export function list<T>(
  item: z.ZodType<T>,
  [min, max]: readonly [number, number],
  fault: Fault,
  type = "must be a list",
) {
  return z
    .array(z.unknown(), type)
    .check(rule((items) => (items.length >= min && items.length <= max ? null : fault)))
    .pipe(z.array(item));
}

/** Returns the faults of a value that stands at `name`, each with its place. */
export function faultsOf(schema: z.ZodType, value: unknown, name: string): readonly InnerFault[] {
  const { error } = schema.safeParse(value, PARSING);
  return (error?.issues ?? []).map((issue) => ({ at: [name, ...(issue.path as string[])], ...faultOf(issue) }));
}

/** A list of a few words; an error names the list. */
export function words<const Word extends string>(among: readonly Word[]): z.ZodType<Word[], Word[]> {
  const fault: Fault = { says: `may hold only ${among.join(", ")}`, constraint: "enum", allowed: among };
  return custom<Word[]>(
    { type: "array", items: { type: "string", enum: [...among] } },
    Array.isArray,
    "must be a list of tags",
  ).check(rule((value) => (value.every((word) => among.includes(word)) ? null : fault)));
}

/**
 * A field documented by `json` and checked elsewhere, because the rule depends on something stored. Clients send an
 * `Input`; the server reads what may be anything.
 */
export function later<Input>(json: z.GlobalMeta): z.ZodOptional<z.ZodType<unknown, Input>> {
  return z.unknown().meta(json).optional() as unknown as z.ZodOptional<z.ZodType<unknown, Input>>;
}
