import { crc32 } from "node:zlib";
import { base62 } from "../id.ts";
import type { Random } from "../random.ts";

/** The scopes of keys; each key has exactly one (spec/security 3). */
export const SCOPES = ["agent", "executor", "answer", "assign", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^parley_(${SCOPES.join("|")})_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Returns a fresh key: `parley_<scope>_`, 32 base-62 characters (190 bits) and 6 of checksum, so that scanners for
 * leaked secrets find it and a typing error differs from a key nobody knows.
 */
export function makeKeyText(scope: Scope, random: Random): string {
  const body = `parley_${scope}_${base62(random, RANDOM_LENGTH)}`;
  return body + checksumOf(body);
}

const KEY_START = `parley_(?:${SCOPES.join("|")})_`;
const BEGINNING = new RegExp(`^${KEY_START}`, "i");
const ANYWHERE = new RegExp(KEY_START, "i");

/** True for a text that begins as a key of any scope does, whatever follows. */
export function beginsAsKey(text: string): boolean {
  return BEGINNING.test(text);
}

/** True for a text in which a key of any scope may begin. */
export function mayHoldKey(text: string): boolean {
  return ANYWHERE.test(text);
}

/** Returns what a text is that is presented as a key. */
export function readKeyText(text: string): { kind: "key"; scope: Scope } | { kind: "mistyped" } | { kind: "no_key" } {
  if (!text.startsWith("parley_")) return { kind: "no_key" };
  const scope = SHAPE.exec(text)?.[1] as Scope | undefined;
  const whole = scope !== undefined && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
  return whole ? { kind: "key", scope } : { kind: "mistyped" };
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = "";
  while (digits.length < CHECKSUM_LENGTH) {
    digits = (DIGITS[rest % 62] ?? "") + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
