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

/** Makes opaque ids, such as `q_` and 22 base-62 characters. */
export type NewId = (prefix: string) => string;

const ID_LENGTH = 22;
/** Enough for milliseconds until the year 2081. */
const TIME_LENGTH = 7;
/** Ids of rows that come by the thousand, in the order of their making. */
const ORDERED = new Set(["ask", "q", "r", "req"]);

/**
 * Returns a maker of ids that draws on `random`: 22 random characters (131 bits), but for questions, answers and requests
 * 7 characters of the milliseconds before 15 random ones (89 bits). The rows of one second then stand beside each other
 * in every index on their ids, so that a commit of many writes few pages (spec/ask-a-human 1).
 */
export function idMaker(random: Random, nowMs: () => number): NewId {
  let [lastMs, time] = [-1, ""];
  return (prefix) => {
    if (!ORDERED.has(prefix)) return `${prefix}_${base62(random, ID_LENGTH)}`;
    const now = nowMs();
    if (now !== lastMs) [lastMs, time] = [now, inBase62(now)];
    return `${prefix}_${time}${base62(random, ID_LENGTH - TIME_LENGTH)}`;
  };
}

/** Returns the time in digits that sort as it does. */
function inBase62(ms: number): string {
  let [text, rest] = ["", Math.floor(ms)];
  for (let i = 0; i < TIME_LENGTH; i += 1) {
    text = `${BASE62[rest % 62]}${text}`;
    rest = Math.floor(rest / 62);
  }
  return text;
}
