import { refuseFields } from "../../model/field-problem.ts";

/** The fields of a query string; of a field given twice the last counts. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns one field of a query string, or nothing where it is missing or empty. */
export function queryText(query: unknown, name: string): string | undefined {
  const text = rawText(query, name);
  return text === "" ? undefined : text;
}

function rawText(query: unknown, name: string): string | undefined {
  const value = (query as Query)[name];
  return typeof value === "string" ? value : value?.at(-1);
}

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

const UNIT_MS = { ms: 1, s: 1000, m: 60_000 } as const;

/**
 * Returns a wait such as `25`, `1.5s`, `500ms` or `2m` in milliseconds, or nothing where it is missing.
 *
 * @throws {Refusal} `invalid_input`
 */
export function queryWaitMs(query: unknown): number | undefined {
  const text = rawText(query, "wait");
  if (text === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
  if (!match) {
    const message = "wait must be a time such as 25, 1.5s, 500ms or 2m";
    throw refuseFields([{ message, field: "wait", constraint: "format" }]);
  }
  return Number(match[1]) * UNIT_MS[(match[2] ?? "s") as keyof typeof UNIT_MS];
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
