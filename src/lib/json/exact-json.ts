import { hash } from "node:crypto";
import { keepResults } from "../kept-results.ts";
import { parseJsonBody, type JsonLimits, type JsonObject } from "./json-body.ts";

/** Node's JSON functions that keep the digits of numbers: in Node since version 21, not yet in TypeScript's types. */
interface ExactJson {
  parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): { rawJSON: string };
  isRawJSON(value: unknown): value is { rawJSON: string };
}
const exact = JSON as unknown as ExactJson;

const INTEGER = /^-?\d+$/;
/** Every integer of fewer digits is a number as it stands. */
const LONG_INTEGER = /\d{16}/;

/**
 * Parses JSON as `parseJsonBody` does, but an integer beyond ±(2^53−1) keeps its digits: it becomes an object that
 * `JSON.stringify` and `canonicalExact` print as it was written.
 *
 * @throws {BadJson}
 */
export function parseExactJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  return withEveryDigit(bytes, parseJsonBody(bytes, limits));
}

/** Returns what `parseJsonBody` made of these bytes as `parseExactJson` has it; they are parsed again only where that differs. */
export function withEveryDigit(bytes: Uint8Array, value: unknown): unknown {
  const text = new TextDecoder().decode(bytes);
  // To be called back for each value costs as much again as all else, and holds everybody up for a large body.
  return LONG_INTEGER.test(text) ? exact.parse(text, keepDigits) : value;
}

function keepDigits(_name: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
    ? exact.rawJSON(source)
    : value;
}

/** Returns what a text of our own says, with every digit; it is JSON, as deep as it may be. */
export function readExactJson(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  return exact.parse(text, keepDigits);
}

/** A part of a value whose canonical JSON is known: `canonicalExact` takes it over. */
export class CanonicalJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Returns the RFC 8785 form of a value, in which an integer that kept its digits stands as them; RFC 8785 itself has no
 * value for such a number (spec/a2h 10).
 */
export function canonicalExact(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (exact.isRawJSON(value)) return value.rawJSON;
  if (value instanceof CanonicalJson) return value.text;
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) text += `,${canonicalExact(item ?? null)}`;
    return `[${text.slice(1)}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  // RFC 8785 orders names by UTF-16 code units, as `sort` does by itself.
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member !== undefined) text += `,${quoted(name)}:${canonicalExact(member)}`;
  }
  return `{${text.slice(1)}}`;
}

/** Names come again and again; those of somebody else's making may be as long as a body. */
const LONGEST_KEPT = 64;
const keptName = keepResults(2000, (name) => JSON.stringify(name));
const quoted = (name: string): string => (name.length > LONGEST_KEPT ? JSON.stringify(name) : keptName(name));

/** Returns `sha256:` and the hex SHA-256 of a text's UTF-8. */
export function sha256Digest(content: string | Uint8Array): string {
  return `sha256:${hash("sha256", content)}`;
}

/** True for a JSON object, which an integer that kept its digits is not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !exact.isRawJSON(value);
}

/** Returns the members of a JSON object; anything else has none. */
export function membersOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns whether a value is an integer that kept its digits. */
export function isExactNumber(value: unknown): boolean {
  return exact.isRawJSON(value);
}
