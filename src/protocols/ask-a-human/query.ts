import { refuseFields } from "../../core/model/field-problem.ts";
import { MOST_WHOLE, queryNumber, queryText, queryTexts, queryWaitMs as waitMsIn, wholeNumber } from "../http/query.ts";

const MOST_COUNT = 999_999_999;

/**
 * Returns an integer of a query string, moved into its bounds (also one below zero, which alone of all numbers may have
 * a sign here), or the default where it is missing.
 *
 * @throws {Refusal} `invalid_input` for what is no integer
 */
export function queryLimit(query: unknown, bounds: { least: number; most: number; usual: number }): number {
  const [text, ...more] = queryTexts(query, "limit");
  if (text === undefined) return bounds.usual;
  const size = more.length > 0 ? null : wholeNumber(text.replace(/^-/, ""), { min: 0, max: MOST_WHOLE });
  if (size === null) throw refuseFields([{ message: "limit must be an integer", field: "limit", constraint: "type" }]);
  return Math.min(bounds.most, Math.max(bounds.least, text.startsWith("-") ? -size : size));
}

/** Returns the words of a list with commas. @throws {Refusal} `invalid_input` for a word that is not among `words` */
export function queryWords<const Word extends string>(query: unknown, name: string, words: readonly Word[]): Word[] {
  const text = queryText(query, name);
  if (text === undefined) return [];
  const given = text.split(",").map((word) => word.trim());
  if (!given.every((word): word is Word => words.includes(word as Word))) {
    const message = `${name} may hold only ${words.join(", ")}`;
    throw refuseFields([{ message, field: name, constraint: "enum", allowed: words }]);
  }
  return [...new Set(given)] as Word[];
}

/**
 * Returns a wait such as `25`, `1.5s`, `500ms` or `2m` in milliseconds, or nothing where it is missing.
 *
 * @throws {Refusal} `invalid_input`
 */
export function queryWaitMs(query: unknown): number | undefined {
  const waitMs = waitMsIn(query);
  if (waitMs === null) {
    const message = "wait must be a time such as 25, 1.5s, 500ms or 2m";
    throw refuseFields([{ message, field: "wait", constraint: "format" }]);
  }
  return waitMs;
}

/** Returns a count of a query string. @throws {Refusal} `invalid_input` for what is no whole number */
export function queryCount(query: unknown, name: string): number | undefined {
  const count = queryNumber(query, name, { min: 0, max: MOST_COUNT });
  if (count === null) {
    throw refuseFields([{ message: `${name} must be a whole number`, field: name, constraint: "type" }]);
  }
  return count;
}
