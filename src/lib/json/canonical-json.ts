import { hash } from "node:crypto";
import canonicalize from "canonicalize";

/** Returns the RFC 8785 form of a JSON value: the same bytes for equal values, whatever their key order. */
function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("not a JSON value");
  return text;
}

/** Returns the hex SHA-256 of the RFC 8785 form. */
export function digestOf(value: unknown): string {
  return hash("sha256", canonicalJson(value));
}
