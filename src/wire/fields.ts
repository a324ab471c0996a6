import { z } from "zod";
import { integerProblem, textProblem, type FieldProblem } from "../core/model/field-problem.ts";

type Json = Record<string, unknown>;

/**
 * A field whose check yields the contract's own problem. Zod carries type, check and documentation; what a problem says
 * stands in `core/model/field-problem.ts`.
 */
function field<T>(
  json: Json,
  check: (value: unknown) => FieldProblem | readonly FieldProblem[] | null,
): z.ZodType<T, T> {
  return z
    .unknown()
    .superRefine((value, context) => {
      const found = check(value);
      for (const problem of Array.isArray(found) ? (found as FieldProblem[]) : found ? [found as FieldProblem] : []) {
        context.addIssue({ code: "custom", message: problem.message, params: { problem } });
      }
    })
    .meta(json) as unknown as z.ZodType<T, T>;
}

/** A field that may be left out. */
export function optional<T extends z.ZodType>(schema: T): z.ZodOptional<T> {
  return schema.optional();
}

const required = (name: string): FieldProblem => ({
  message: `${name} is required`,
  field: name,
  constraint: "required",
});

/** An id, whatever text it is: a malformed one is unknown, not invalid. */
export function idField(name: string): z.ZodType<string, string> {
  return field({ type: "string" }, (value) => {
    if (value === undefined) return required(name);
    return typeof value === "string" ? null : { message: `${name} must be a string`, field: name, constraint: "type" };
  });
}

/** A text of so many code points. */
export function textField(name: string, min: number, max: number, more: Json = {}): z.ZodType<string, string> {
  return field({ type: "string", minLength: min, maxLength: max, ...more }, (value) => {
    if (value === undefined) return required(name);
    if (typeof value !== "string") return { message: `${name} must be a string`, field: name, constraint: "type" };
    return textProblem(name, value, min, max);
  });
}

/** An integer within bounds. */
export function integerField(name: string, min: number, max: number, more: Json = {}): z.ZodType<number, number> {
  return field({ type: "integer", minimum: min, maximum: max, ...more }, (value) =>
    value === undefined ? required(name) : integerProblem(name, value, min, max),
  );
}

export function booleanField(name: string, more: Json = {}): z.ZodType<boolean, boolean> {
  return field({ type: "boolean", ...more }, (value) => {
    if (value === undefined) return required(name);
    return typeof value === "boolean"
      ? null
      : { message: `${name} must be true or false`, field: name, constraint: "type" };
  });
}

/** One of a few words. */
export function wordField<const Word extends string>(
  name: string,
  words: readonly Word[],
  more: Json = {},
): z.ZodType<Word, Word> {
  return field({ type: "string", enum: [...words], ...more }, (value) => {
    if (value === undefined) return required(name);
    return words.includes(value as Word) ? null : wordProblem(name, words);
  });
}

/** Says which words would do. */
function wordProblem(name: string, words: readonly string[]): FieldProblem {
  const list = words.length === 2 ? words.join(" or ") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  return { message: `${name} must be ${list}`, field: name, constraint: "enum", allowed: words };
}

/** A list of a few words; an error names the list. */
export function wordsField<const Word extends string>(
  name: string,
  words: readonly Word[],
  more: Json = {},
): z.ZodType<Word[], Word[]> {
  return field({ type: "array", items: { type: "string", enum: [...words] }, ...more }, (value) => {
    if (value === undefined) return required(name);
    if (!Array.isArray(value)) return { message: `${name} must be a list of tags`, field: name, constraint: "type" };
    if (value.every((item) => words.includes(item as Word))) return null;
    return { ...wordProblem(name, words), message: `${name} may hold only ${words.join(", ")}` };
  });
}

/**
 * A field documented by `json` and checked elsewhere, because the rule depends on something stored. Clients send an
 * `Input`; the server reads what may be anything.
 */
export function laterField<Input>(json: Json): z.ZodOptional<z.ZodType<unknown, Input>> {
  return z.unknown().meta(json).optional() as unknown as z.ZodOptional<z.ZodType<unknown, Input>>;
}

/** A field with a check of its own. */
export const checkedField = field;

/** An object of fields whose problems are reported in the order of the fields. */
export function fields<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  return z.object(shape);
}
