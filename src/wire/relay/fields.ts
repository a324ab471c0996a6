import { z } from "zod";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import type { Fault } from "../../core/model/field-problem.ts";
import { custom, matching, members, rule } from "../fields.ts";

/** Ids of jobs, steps and asks (spec/relay 2). */
export const RELAY_ID = /^[A-Za-z0-9._:-]{1,128}$/;
/** The longest JSON value of one field, in bytes. */
const MOST_JSON_BYTES = 65_536;
const MOST_LABELS = 64;
const MOST_LABEL_CHARS = 256;

/** The name of a job, an ask or a step. */
export const relayId = matching(RELAY_ID, { says: "must be letters, digits and . _ : -", constraint: "format" });

/** Any JSON value that is not too long. */
export const json = z.unknown().check(rule(sizeFault));

/** A JSON object that is not too long. */
export const object = members.check(rule(sizeFault));

/** Names and values that tell jobs apart. */
export const labels = custom<Record<string, string>>(
  { type: "object", additionalProperties: { type: "string" }, maxProperties: MOST_LABELS },
  (value) => isObject(value) && Object.values(value).every((label) => typeof label === "string"),
  "must be an object of strings",
).check(
  rule((given) => {
    const entries = Object.entries(given);
    if (entries.length > MOST_LABELS) {
      return { says: `may have ${MOST_LABELS} members`, constraint: "length", min: 0, max: MOST_LABELS };
    }
    const areShort = entries.flat().every((each) => each.length <= MOST_LABEL_CHARS && each.isWellFormed());
    return areShort ? null : { says: `may hold texts of ${MOST_LABEL_CHARS} characters`, constraint: "length" };
  }),
);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sizeFault(value: unknown): Fault | null {
  if (Buffer.byteLength(canonicalExact(value)) <= MOST_JSON_BYTES) return null;
  return { says: `may have ${MOST_JSON_BYTES} bytes`, constraint: "size", max_bytes: MOST_JSON_BYTES };
}
