import { createHash } from "node:crypto";
import { parseJsonBody, type JsonLimits } from "./json-body.ts";

/** What Node's JSON can do since version 21 and TypeScript does not know yet: numbers that keep their digits. */
interface ExactJson {
  parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): { rawJSON: string };
  isRawJSON(value: unknown): value is { rawJSON: string };
}
const exact = JSON as unknown as ExactJson;

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON as `parseJsonBody` does, but an integer beyond ±(2^53−1) keeps its digits: it becomes an object that
 * `JSON.stringify` and `canonicalExact` print as it was written.
 *
 * @throws {BadJson}
 */
export function parseExactJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  parseJsonBody(bytes, limits);
  return exact.parse(new TextDecoder().decode(bytes), keepDigits);
}

function keepDigits(_name: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
    ? exact.rawJSON(source)
    : value;
}

const LONG_INTEGER = /\d{16}/;

/** Returns what a text of our own says, with every digit; it is JSON, as deep as it may be. */
export function readExactJson(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  return exact.parse(text, keepDigits);
}

/**
 * Returns the RFC 8785 form of a value, in which an integer that kept its digits stands as them; RFC 8785 itself has no
 * value for such a number (contract-a2h.md, section 10).
 */
export function canonicalExact(value: unknown): string {
  if (exact.isRawJSON(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map((item) => canonicalExact(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      // RFC 8785 orders names by UTF-16 code units, as `<` does.
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalExact(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}

/** Returns `sha256:` and the hex SHA-256 of a text's UTF-8. */
export function sha256Digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Returns whether a value is an integer that kept its digits. */
export function isExactNumber(value: unknown): boolean {
  return exact.isRawJSON(value);
}
