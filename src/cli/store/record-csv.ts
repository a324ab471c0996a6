/** The columns of the record as a table: what every entry may say, and what it is chained by. */
export const CSV_COLUMNS = [
  "seq",
  "at",
  "action",
  "actor_kind",
  "actor_id",
  "agent",
  "ask_id",
  "call_id",
  "via",
  "delivery",
  "consent_digest",
  "data",
  "data_hash",
  "prev",
  "hash",
] as const;

/** Returns an entry's cells in the order of the columns; what it does not say is empty. */
export function csvCells(entry: Readonly<Record<string, unknown>>): string[] {
  const { kind, id } = (entry["actor"] ?? {}) as { kind?: unknown; id?: unknown };
  const columns = { ...entry, actor_kind: kind, actor_id: id } as Readonly<Record<string, unknown>>;
  return CSV_COLUMNS.map((column) => textOf(columns[column]));
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value as string | number | boolean);
}

/** The beginning of a formula in a spreadsheet. A formula could send the cells beside it to another server. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Returns one line of CSV (RFC 4180) without its line feed, which whoever prints it adds. A cell that a spreadsheet
 * would take for a formula begins with an apostrophe.
 */
export function csvLine(cells: readonly string[]): string {
  const safe = cells.map((cell) => (FORMULA.test(cell) ? `'${cell}` : cell));
  return `${safe.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\r`;
}
