import { parseExactJson } from "../../lib/json/exact-json.ts";
import type { ForeignSchema } from "./request.ts";
import { flat, readYesOrNo } from "./reply-grammar.ts";
import { shapeOf, type OfferedValue, type Shape } from "./schema-shape.ts";

const MAX_DEPTH = 32;

/** The values that words may mean. */
export interface Readings {
  /** The likeliest first: the first that fits the schema is the answer. */
  values: readonly unknown[];
  /** The error if none of them fits, where it is clearer than the schema's error about the first. */
  wanted: string | null;
}

/**
 * Returns what words may mean where a value is asked for (spec/a2h 14): JSON; else one of the values that
 * are offered, by its label, in any case, or by `#` and its place; else the words as they stand, as a string; else yes or
 * no, and a number; else, where `approved` is asked for, yes or no with a comment after a comma. The same rules hold
 * for every person and every channel; nothing else is guessed.
 */
export function readingsOf(schema: ForeignSchema, text: string): Readings {
  const words = text.trim();
  const shape = shapeOf(schema);
  const found = [
    ...jsonIn(words),
    ...(shape.kind === "choice" ? offerCalled(words, shape.offers) : []),
    words,
    ...yesOrNo(words),
    ...numberIn(words),
    ...(shape.kind === "decision" ? decisionIn(words, shape.comment) : []),
  ];
  return { values: found, wanted: wantedOf(shape, jsonIn(words)[0]) };
}

function jsonIn(words: string): unknown[] {
  try {
    return [parseExactJson(Buffer.from(words), { maxDepth: MAX_DEPTH })];
  } catch {
    return [];
  }
}

/** Returns the offer that the words name. Words that fit two offers equally well name neither. */
function offerCalled(words: string, offers: readonly OfferedValue[]): unknown[] {
  const ways: ((offer: OfferedValue) => boolean)[] = [
    ({ label }) => label === words,
    ({ value }) => value === words,
    ({ label, value }) => flat(label) === flat(words) || (typeof value === "string" && flat(value) === flat(words)),
  ];
  for (const way of ways) {
    const [offer, another] = offers.filter(way);
    if (offer) return another ? [] : [offer.value];
  }
  const number = /^#\s?(\d{1,3})$/.exec(flat(words))?.[1];
  const offer = number === undefined ? undefined : offers[Number(number) - 1];
  return offer ? [offer.value] : [];
}

const YES: ReadonlySet<string> = new Set(["true", "yes", "y", "ok", "approve", "approved"]);
const NO: ReadonlySet<string> = new Set(["false", "no", "n", "reject", "rejected", "deny", "denied"]);

function yesOrNo(words: string): boolean[] {
  if (YES.has(flat(words))) return [true];
  return NO.has(flat(words)) ? [false] : [];
}

/**
 * Returns the number that words are. A comma is the decimal sign of half the world and groups thousands in the other:
 * 1,000 is asked about, and not guessed.
 */
function numberIn(words: string): unknown[] {
  const plain = words.normalize("NFKC").trim().replace(/\.$/, "");
  const written = /^[+-]?\d+,(?!\d{3}$)\d+$/.test(plain) ? plain.replace(",", ".") : plain;
  if (!/^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i.test(written)) return [];
  const unsigned = written
    .replace(/^\+/, "")
    .replace(/^(-?)\./, "$10.")
    .replace(/^(-?)0+(?=\d)/, "$1");
  return jsonIn(unsigned);
}

function decisionIn(words: string, comment: "none" | "optional" | "required"): object[] {
  const read = readYesOrNo(words);
  // A schema without a comment would lose the reason.
  if (!read || (comment === "none" && read.comment !== undefined)) return [];
  return [read];
}

/** Returns the error for words that fit nothing; null where the schema's own error is the clearest. */
function wantedOf(shape: Shape, json: unknown): string | null {
  switch (shape.kind) {
    case "choice":
      return `must be one of ${shape.offers.map(({ label }) => label).join(", ")}`;
    case "number":
      return typeof json === "number" ? null : `must be ${shape.says}`;
    case "decision":
      return typeof json === "object" ? null : "must begin with yes or no, with a comma before a comment";
    case "text":
    case "object":
    case "json":
      return null;
  }
}

/**
 * Returns the value that was filled into the fields of a flat object, in their order. A choice is given as the place of
 * the chosen offer. Empty fields are left out, or null where the schema requires it.
 */
export function filledValue(schema: ForeignSchema, given: readonly (string | null)[]): object | null {
  const shape = shapeOf(schema);
  if (shape.kind !== "object") return null;
  const members = shape.fields.flatMap(({ name, of, required, nullable }, i): [string, unknown][] => {
    const written = given[i] ?? "";
    if (written.trim() === "") return required && nullable ? [[name, null]] : [];
    if (of.kind === "text") return [[name, written]];
    if (of.kind === "number") return [[name, numberIn(written)[0] ?? written]];
    const offer = /^\d{1,3}$/.test(written) ? of.offers[Number(written)] : undefined;
    return offer ? [[name, offer.value]] : [[name, written]];
  });
  return Object.fromEntries(members);
}
