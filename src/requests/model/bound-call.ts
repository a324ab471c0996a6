import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { consentText } from "./consent.ts";

/** A function call whose arguments were serialised and hashed once, where they came in. */
export interface BoundCall {
  fn: string;
  /** The arguments as they came. */
  parsed: Readonly<Record<string, unknown>>;
  /** Their canonical JSON, which people see. */
  canonical: string;
  /** The digest that an approval of this call is bound to (spec/a2h 10). */
  digest: string;
}

/** Returns a call with the canonical JSON of its arguments and the digest of both. */
export function bindCall(fn: string, parsed: Readonly<Record<string, unknown>>): BoundCall {
  const canonical = canonicalExact(parsed);
  return { fn, parsed, canonical, digest: sha256Digest(consentText(fn, canonical)) };
}
