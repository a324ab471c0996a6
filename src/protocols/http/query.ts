import type { IncomingHttpHeaders } from "node:http";

/** The fields of a query string. For a repeated text field the last value counts; a repeated number is invalid. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns one field of a query string, or nothing where it is missing or empty. */
export function queryText(query: unknown, name: string): string | undefined {
  const value = (query as Query)[name];
  const text = typeof value === "string" ? value : value?.at(-1);
  return text === "" ? undefined : text;
}

/** Returns every value of a field of a query string, in their order; none where it is missing. */
export function queryTexts(query: unknown, name: string): readonly string[] {
  const value = (query as Query)[name];
  return value === undefined ? [] : [value].flat();
}

interface Bounds {
  min: number;
  max: number;
}

/**
 * Returns a text as a whole number within bounds: one to fifteen digits. Returns null for any other text, such as one
 * with a sign, a space, a point, an exponent or another base, and for the empty text.
 */
export function wholeNumber(text: string, { min, max }: Bounds): number | null {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

/** The largest number that `wholeNumber` reads. */
export const MOST_WHOLE = 999_999_999_999_999;

/** Returns the number by which people, conversations and the like are named, or null where the text cannot be one. */
export function idNumber(text: string): number | null {
  return text.startsWith("0") ? null : wholeNumber(text, { min: 1, max: MOST_WHOLE });
}

/** Returns a whole number of a query string: undefined where it is missing, null where it is invalid or repeated. */
export function queryNumber(query: unknown, name: string, bounds: Bounds): number | null | undefined {
  const [text, ...more] = queryTexts(query, name);
  if (text === undefined) return undefined;
  return more.length > 0 ? null : wholeNumber(text, bounds);
}

/** Returns how many bytes a request says that its body has; 0 where it says nothing. */
export function statedBytes({ headers }: { headers: IncomingHttpHeaders }): number {
  return wholeNumber(headers["content-length"] ?? "0", { min: 0, max: MOST_WHOLE }) ?? MOST_WHOLE;
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000 } as const;

/** Returns a wait such as `25`, `1.5s`, `500ms` or `2m` in milliseconds; null for any other text. */
export function waitMsOf(text: string): number | null {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  return number === undefined ? null : Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** Returns the `wait` of a query in milliseconds: undefined where it is missing, null if it is invalid or repeated. */
export function queryWaitMs(query: unknown): number | null | undefined {
  const [text, ...more] = queryTexts(query, "wait");
  if (text === undefined) return undefined;
  return more.length > 0 ? null : waitMsOf(text);
}

/**
 * Returns where the next page of a list begins, of a cursor of a moment and an id with `between` between them; null for
 * anything else.
 */
export function placeOf(cursor: string, between: "_" | "."): { at: number; id: string } | null {
  const cut = cursor.indexOf(between);
  const at = cut === -1 ? null : wholeNumber(cursor.slice(0, cut), { min: 0, max: MOST_WHOLE });
  return at === null ? null : { at, id: cursor.slice(cut + 1) };
}
