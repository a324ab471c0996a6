import { printable } from "../lib/printable.ts";

/** Shorter values would be found by chance everywhere. */
const SHORTEST_SECRET = 8;
/** The longest text in a report about a tool, in characters. */
const MOST_TEXT = 65_536;

/** Takes the attempt's own secrets out of what is written down of it. */
export interface Redaction {
  text(text: string): string;
  /** The same for every text in a value. */
  value<T>(value: T): T;
}

/** Returns what puts `[secret:<name>]` in the place of each of these values. */
export function openRedaction(secrets: Readonly<Record<string, string>>): Redaction {
  // The longest first: one may be the beginning of another.
  const known = Object.entries(secrets)
    .filter(([, secret]) => secret.length >= SHORTEST_SECRET)
    .sort(([, one], [, other]) => other.length - one.length);
  const text = (given: string): string =>
    known.reduce((rest, [name, secret]) => rest.replaceAll(secret, `[secret:${name}]`), given);
  return { text, value: (value) => mapTexts(value, text) };
}

/** Returns a text that cannot steer the terminal it is shown on; its lines stay lines. */
export function harmless(text: string): string {
  return text
    .split("\n")
    .map((line) => line.replace(/\r$/, "").split("\t").map(printable).join("\t"))
    .join("\n");
}

/** Returns a value whose texts are harmless, and cut where they are long: something to look at, and no more. */
export function toShow<T>(value: T): T {
  return mapTexts(shortened(value), harmless);
}

/** Returns a value whose long texts are cut. */
function shortened<T>(value: T): T {
  return mapTexts(value, (text) => {
    return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)} [cut: ${text.length} characters]`;
  });
}

/** Values that are no plain objects, such as exact numbers, are handed on as they are. */
function mapTexts<T>(value: T, map: (text: string) => string): T {
  const mapped = (one: unknown): unknown => {
    if (typeof one === "string") return map(one);
    if (Array.isArray(one)) return one.map(mapped);
    if (typeof one !== "object" || one === null || Object.getPrototypeOf(one) !== Object.prototype) return one;
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [map(name), mapped(member)]));
  };
  return mapped(value) as T;
}
