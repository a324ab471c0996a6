/** The fields of bodies about named people: each is checked as the reference shows it (spec/a2h 5). */
import { z } from "zod";
import { lengthOf } from "../../core/model/field-problem.ts";
import { isExactNumber, isJsonObject } from "../../lib/json/exact-json.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";

type Json = Readonly<Record<string, unknown>>;
/** A code, and a phrase that stands after the name of the field. */
type Wrong = readonly [code: string, phrase: string] | null;

/** A field documented by `json`. The message of its issue is the phrase, and `params.code` the code. */
function field<T>(json: Json, check: (value: unknown) => Wrong): z.ZodType<T, T> {
  return z
    .unknown()
    .check(({ value, issues }) => {
      const wrong = check(value);
      if (wrong) issues.push({ code: "custom", message: wrong[1], params: { code: wrong[0] }, input: value });
    })
    .meta(json) as unknown as z.ZodType<T, T>;
}

interface TextRule {
  min?: number;
  max: number;
  /** Characters that may not stand in it, and how they are called. */
  without?: readonly [pattern: RegExp, called: string];
  pattern?: RegExp;
  /** The error if the pattern does not match. */
  says?: string;
}

/** A text of so many code points. */
export function text({ min = 0, max, without, pattern, says }: TextRule): z.ZodType<string, string> {
  const json = {
    type: "string",
    ...(min > 0 && { minLength: min }),
    maxLength: max,
    ...(pattern && { pattern: pattern.source }),
  };
  return field(json, (value) => {
    if (typeof value !== "string") return ["type", "must be a string"];
    if (value.includes("\0")) return ["pattern", "may not hold U+0000"];
    if (lengthOf(value) > max) return ["too_long", `must be at most ${max} characters`];
    if (lengthOf(value) < min) return ["required", "must not be empty"];
    if (without?.[0].test(value)) return ["pattern", `may not hold ${without[1]}`];
    return pattern && !pattern.test(value) ? ["pattern", says ?? `must match ${pattern.source}`] : null;
  });
}

export const flag = field<boolean>({ type: "boolean" }, (value) =>
  typeof value === "boolean" ? null : ["type", "must be true or false"],
);

/** An integer within bounds; one that kept its digits is beyond them. */
export function integer(min: number, max: number): z.ZodType<number, number> {
  return field({ type: "integer", minimum: min, maximum: max }, (value) => {
    if (!Number.isInteger(value) && !isExactNumber(value)) return ["type", "must be an integer"];
    const isWithin = typeof value === "number" && value >= min && value <= max;
    return isWithin ? null : ["range", `must be between ${min} and ${max}`];
  });
}

/** One of a few words. */
export function word<const Word extends string>(words: readonly Word[], more: Json = {}): z.ZodType<Word, Word> {
  const json = words.length === 1 ? { const: words[0] } : { enum: [...words] };
  return field({ type: "string", ...json, ...more }, (value) =>
    words.some((one) => one === value) ? null : ["pattern", `must be ${words.join(" or ")}`],
  );
}

/** A list of so many items, which its reader counts: a wrong number is reported before any item is read. */
export function list<Item extends z.ZodType>(item: Item, { min = 0, max }: ListBounds): z.ZodArray<Item> {
  return z.array(item).meta({ ...(min > 0 && { minItems: min }), maxItems: max });
}

interface ListBounds {
  min?: number;
  max: number;
}

/** Returns how many items a list may hold. */
export function boundsOf(schema: z.ZodArray): Required<ListBounds> {
  const { minItems: min = 0, maxItems: max = Number.POSITIVE_INFINITY } = (schema.meta() ?? {}) as {
    minItems?: number;
    maxItems?: number;
  };
  return { min, max };
}

/** Any JSON object. */
export const members = field<JsonObject>({ type: "object", additionalProperties: true }, (value) =>
  isJsonObject(value) ? null : ["type", "must be an object"],
);

/** A moment, as RFC 3339 writes it. */
export const moment = field<string>({ type: "string", format: "date-time" }, (value) => {
  const isTime = typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value));
  return isTime ? null : ["pattern", "must be a time such as 2026-11-20T10:00:00Z"];
});
