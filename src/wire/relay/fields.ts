import type { z } from "zod";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import type { FieldProblem } from "../../core/model/field-problem.ts";
import { checkedField } from "../fields.ts";

/** Ids of jobs, steps and asks (spec/relay 2). */
export const RELAY_ID = /^[A-Za-z0-9._:-]{1,128}$/;
/** The longest JSON value of one field, in bytes. */
const MOST_JSON_BYTES = 65_536;
const MOST_LABELS = 64;
const MOST_LABEL_CHARS = 256;

const wrong = (field: string, constraint: string, message: string, more: object = {}): FieldProblem => ({
  message,
  field,
  constraint,
  ...more,
});

/** The name of a job, an ask or a step; required unless it is made optional. */
export function relayIdField(name: string): z.ZodType<string, string> {
  return checkedField({ type: "string", pattern: RELAY_ID.source }, (value) => {
    if (value === undefined) return wrong(name, "required", `${name} is required`);
    if (typeof value !== "string") return wrong(name, "type", `${name} must be a string`);
    return RELAY_ID.test(value) ? null : wrong(name, "format", `${name} must be letters, digits and . _ : -`);
  });
}

/** Names the kind of something: that one word, or nothing. */
export function typeField(word: string): z.ZodOptional<z.ZodType<string, string>> {
  return checkedField<string>({ type: "string", const: word }, (value) =>
    value === undefined || value === word ? null : wrong("type", "const", `type must be ${word}`, { allowed: [word] }),
  ).optional();
}

/** Any JSON value that is not too long. */
export function jsonField(name: string): z.ZodOptional<z.ZodType<unknown, unknown>> {
  return checkedField<unknown>({}, (value) => tooLong(name, value)).optional();
}

/** A JSON object that is not too long. */
export function objectField(name: string): z.ZodOptional<z.ZodType<Record<string, unknown>, Record<string, unknown>>> {
  return checkedField<Record<string, unknown>>({ type: "object", additionalProperties: true }, (value) => {
    if (value === undefined) return null;
    if (!isObject(value)) return wrong(name, "type", `${name} must be an object`);
    return tooLong(name, value);
  }).optional();
}

/** Names and values that tell jobs apart. */
export function labelsField(name: string): z.ZodOptional<z.ZodType<Record<string, string>, Record<string, string>>> {
  return checkedField<Record<string, string>>(
    { type: "object", additionalProperties: { type: "string" }, maxProperties: MOST_LABELS },
    (value) => {
      if (value === undefined) return null;
      const areTexts = isObject(value) && Object.values(value).every((label) => typeof label === "string");
      if (!areTexts) return wrong(name, "type", `${name} must be an object of strings`);
      const entries = Object.entries(value as Record<string, string>);
      if (entries.length > MOST_LABELS) {
        return wrong(name, "length", `${name} may have ${MOST_LABELS} members`, { min: 0, max: MOST_LABELS });
      }
      const isShort = entries.flat().every((text) => text.length <= MOST_LABEL_CHARS && text.isWellFormed());
      return isShort ? null : wrong(name, "length", `${name} may hold texts of ${MOST_LABEL_CHARS} characters`);
    },
  ).optional();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function tooLong(name: string, value: unknown): FieldProblem | null {
  if (value === undefined || Buffer.byteLength(canonicalExact(value)) <= MOST_JSON_BYTES) return null;
  return wrong(name, "size", `${name} may have ${MOST_JSON_BYTES} bytes`, { max_bytes: MOST_JSON_BYTES });
}
