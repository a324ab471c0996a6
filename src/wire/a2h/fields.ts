/** The fields of bodies about named people that are no one else's: each is checked as the reference shows it (spec/a2h 5). */
import { z } from "zod";
import { lengthOf, type Fault } from "../../core/model/field-problem.ts";
import { custom, rule } from "../fields.ts";

interface TextRule {
  min?: number;
  max: number;
  /** Characters that may not stand in it, and how they are called. */
  without?: readonly [pattern: RegExp, called: string];
  pattern?: RegExp;
  /** The error if the pattern does not match. */
  says?: string;
}

/** A text of so many code points, surrounding white space included. */
export function text(bounds: TextRule): z.ZodString {
  const { min = 0, max, pattern } = bounds;
  return z.string().check(
    rule((value) => textFault(value, bounds), {
      ...(min > 0 && { minimum: min }),
      maximum: max,
      ...(pattern && { patterns: new Set([pattern]) }),
    }),
  );
}

function textFault(value: string, { min = 0, max, without, pattern, says }: TextRule): Fault | null {
  if (value.includes("\0")) return { says: "may not hold U+0000", constraint: "pattern" };
  if (lengthOf(value) > max) return { says: `must be at most ${max} characters`, constraint: "too_long" };
  if (lengthOf(value) < min) return { says: "must not be empty", constraint: "required" };
  if (without?.[0].test(value)) return { says: `may not hold ${without[1]}`, constraint: "pattern" };
  if (!pattern || pattern.test(value)) return null;
  return { says: says ?? `must match ${pattern.source}`, constraint: "pattern" };
}

/** A moment, as RFC 3339 writes it. */
export const moment = custom<string>(
  { type: "string", format: "date-time" },
  (value) => typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value)),
  { says: "must be a time such as 2026-11-20T10:00:00Z", constraint: "pattern" },
);
