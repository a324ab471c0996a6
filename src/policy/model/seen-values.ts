import { pointerParts } from "../../lib/json/json-pointer.ts";
import { NumberText } from "./call-arguments.ts";
import type { PolicyInput } from "./policy.ts";

/** The values that calls have at one place of their arguments. */
export interface ValuesAt {
  /** Each text once, at most a hundred. */
  texts: readonly string[];
  switches: readonly boolean[];
  /** The least number and the greatest, as they are written. */
  numbers: readonly string[];
  /** The texts have all of these in common; null where one of them is more than a plain name. */
  ends: { start: string; end: string; longest: number } | null;
}

const MOST_TEXTS = 100;
/** So many different names stand for all that are like them. */
const FEWEST_NAMES = 3;
/** A name or number of a thing, without blanks, quotes, slashes and signs of a shell. */
const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@#-]{0,63}$/u;

/** The values that arguments had in calls of one agent and function that people approved. Each place is read once. */
export class SeenValues {
  readonly #past: readonly PolicyInput[];
  readonly #places = new Map<string, ValuesAt>();

  constructor(past: readonly PolicyInput[]) {
    this.#past = past;
  }

  /** Returns the values at a JSON Pointer. */
  at(pointer: string): ValuesAt {
    let values = this.#places.get(pointer);
    if (values === undefined) this.#places.set(pointer, (values = this.#read(pointer)));
    return values;
  }

  /** Returns a test of a text that is like this one and the seen ones; null where they have no end in common. */
  alike(pointer: string, text: string): Record<string, unknown> | null {
    const { ends } = this.at(pointer);
    if (ends === null || ends.start + ends.end === "") return null;
    const isLike = text.startsWith(ends.start) && text.endsWith(ends.end) && text.length <= ends.longest;
    return isLike ? { glob: `${ends.start}*${ends.end}`, length: { min: 1, max: ends.longest } } : null;
  }

  #read(pointer: string): ValuesAt {
    const path = pointerParts(pointer) ?? [];
    const values = this.#past.flatMap(({ args }) => args?.at(path) ?? []);
    const texts = [...new Set(values.filter((value) => typeof value === "string"))];
    const numbers = values.flatMap((value) => (value instanceof NumberText ? [value.text] : []));
    const sorted = numbers.toSorted((one, other) => Number(one) - Number(other));
    return {
      texts: texts.slice(0, MOST_TEXTS),
      switches: [...new Set(values.filter((value) => typeof value === "boolean"))],
      numbers: sorted.length === 0 ? [] : [sorted[0] ?? "", sorted.at(-1) ?? ""],
      ends: texts.length >= FEWEST_NAMES && texts.every((text) => PLAIN_NAME.test(text)) ? commonEnds(texts) : null,
    };
  }
}

function commonEnds(texts: readonly string[]): ValuesAt["ends"] {
  const start = commonStart(texts);
  const rests = texts.map((text) => reversed(text.slice(start.length)));
  return { start, end: reversed(commonStart(rests)), longest: Math.max(...texts.map((text) => text.length)) };
}

/** Returns the beginning that all texts have, which ends where a word or a number does: `A-` of `A-103` and `A-107`. */
function commonStart(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  let at = 0;
  while (at < first.length && others.every((text) => text[at] === first[at])) at += 1;
  const isDivided = (end: number) =>
    texts.some((text) => kindOf(text[end]) !== "sign" && kindOf(text[end]) === kindOf(text[end - 1]));
  while (at > 0 && isDivided(at)) at -= 1;
  return first.slice(0, at);
}

const kindOf = (char = ""): "letter" | "digit" | "sign" =>
  /\p{L}/u.test(char) ? "letter" : /\p{N}/u.test(char) ? "digit" : "sign";
const reversed = (text: string): string => [...text].toReversed().join("");
