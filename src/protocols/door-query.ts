/** The fields of a query string; of a field given twice the last counts. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns one field of a query string, or nothing where it is missing or empty. */
export function queryText(query: unknown, name: string): string | undefined {
  const text = rawQueryText(query, name);
  return text === "" ? undefined : text;
}

/** Returns one field of a query string as it stands, or nothing where it is missing. */
export function rawQueryText(query: unknown, name: string): string | undefined {
  const value = (query as Query)[name];
  return typeof value === "string" ? value : value?.at(-1);
}

/** Returns a text as a whole number within bounds, or null where it is none. */
export function wholeNumber(text: string, { min, max }: { min: number; max: number }): number | null {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000 } as const;

/** Returns a wait such as `25`, `1.5s`, `500ms` or `2m` in milliseconds, or null where it is none. */
export function waitMsOf(text: string): number | null {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  return number === undefined ? null : Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
