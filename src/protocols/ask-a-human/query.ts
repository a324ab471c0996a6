import { refuseFields } from "../../model/field-problem.ts";
import { queryText, rawQueryText, waitMsOf } from "../door-query.ts";

/**
 * Returns an integer of a query string within its bounds, or the default where it is missing.
 *
 * @throws {Refusal} `invalid_input` for what is no integer
 */
export function queryLimit(query: unknown, bounds: { least: number; most: number; usual: number }): number {
  const text = queryText(query, "limit");
  if (text === undefined) return bounds.usual;
  if (!/^[+-]?\d{1,15}$/.test(text)) {
    throw refuseFields([{ message: "limit must be an integer", field: "limit", constraint: "type" }]);
  }
  return Math.min(bounds.most, Math.max(bounds.least, Number(text)));
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
  const text = rawQueryText(query, "wait");
  if (text === undefined) return undefined;
  const waitMs = waitMsOf(text);
  if (waitMs === null) {
    const message = "wait must be a time such as 25, 1.5s, 500ms or 2m";
    throw refuseFields([{ message, field: "wait", constraint: "format" }]);
  }
  return waitMs;
}

/** Returns a count of a query string. @throws {Refusal} `invalid_input` for what is no whole number */
export function queryCount(query: unknown, name: string): number | undefined {
  const text = queryText(query, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) {
    throw refuseFields([{ message: `${name} must be a whole number`, field: name, constraint: "type" }]);
  }
  return Number(text);
}
