import type { Random } from "./random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Returns `length` base-62 characters, each uniformly distributed (5.95 bits a character). */
export function base62(random: Random, length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of random(length - text.length + 8)) {
      // 248 is the largest multiple of 62 in a byte; what lies above would favour the first characters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

/** Makes opaque ids, such as `q_` and 22 random base-62 characters (131 bits). */
export type NewId = (prefix: string) => string;

/** Returns a maker of ids that draws on `random`. */
export function idMaker(random: Random): NewId {
  return (prefix) => `${prefix}_${base62(random, 22)}`;
}
