/** The lines of an archive, which is an export and a backup; each is one JSON object. */

/** The number of this form of archive; a program reads its own and older ones. */
export const EXPORT_FORMAT = 2;
const KIND = "parley-export";
/** The first bytes of every archive. */
export const ARCHIVE_BEGINS = `{"kind":"${KIND}"`;

/** A row of a table; its columns stand in alphabetical order. */
export type Row = Readonly<Record<string, string | number | null>>;

/** The first line. */
export interface ExportHeader {
  format: number;
  /** The version of the program that made it. */
  parley: string;
  schema: number;
  /** When it was begun, epoch ms. */
  madeAtMs: number;
  /** How many rows each table had then; in the first format, how many follow. */
  tables: Readonly<Record<string, number>>;
  settingsLeftOut: readonly string[];
}

/** The last line: what the archive holds. In the first format the first line has the moment and the counts. */
export interface ExportEnd {
  /** The moment of the rows, epoch ms. */
  madeAtMs?: number;
  tables?: Readonly<Record<string, number>>;
  rows: number;
  /** The digest of all lines with rows. */
  sha256: string;
}

/** A line after the first one. */
export type ExportLine =
  | { kind: "row"; table: string; row: Row }
  /** The next part of a file beside the database; one that begins again replaces what came before. */
  | { kind: "part"; name: string; at: number; base64: string }
  /** The file of this name counts, and has this digest. */
  | { kind: "file"; name: string; sha256: string }
  | ({ kind: "end" } & ExportEnd);

export function printHeader({ format, parley, schema, madeAtMs, tables, settingsLeftOut }: ExportHeader): string {
  const fields = { kind: KIND, format, parley, schema, made_at: new Date(madeAtMs).toISOString(), tables };
  return `${JSON.stringify({ ...fields, settings_left_out: settingsLeftOut })}\n`;
}

/** Returns null for what is the first line of no export. */
export function readHeader(text: string): ExportHeader | null {
  const fields = parsed(text);
  if (fields?.["kind"] !== KIND) return null;
  const { format, parley, schema, made_at: madeAt, tables, settings_left_out: leftOut } = fields;
  const madeAtMs = Date.parse(String(madeAt));
  const isHeader = typeof format === "number" && typeof parley === "string" && typeof schema === "number";
  if (!isHeader || Number.isNaN(madeAtMs) || !isCounts(tables)) return null;
  return {
    format,
    parley,
    schema,
    madeAtMs,
    tables,
    settingsLeftOut: Array.isArray(leftOut) ? leftOut.map(String) : [],
  };
}

export const printRow = (table: string, row: Row): string =>
  `{"table":${JSON.stringify(table)},"row":${JSON.stringify(row)}}\n`;

export function printLine(line: Extract<ExportLine, { kind: "part" | "file" }>): string {
  const { kind, ...fields } = line;
  return `${JSON.stringify({ [kind]: fields })}\n`;
}

export function printEnd({ madeAtMs, tables, rows, sha256 }: Required<ExportEnd>): string {
  return `${JSON.stringify({ end: { made_at: new Date(madeAtMs).toISOString(), tables, rows, sha256 } })}\n`;
}

/** Returns null for what is no line of an export. */
export function readLine(text: string): ExportLine | null {
  const fields = parsed(text);
  if (!fields) return null;
  const { table, row } = fields;
  if (typeof table === "string" && isRecord(row)) return { kind: "row", table, row: row as Row };
  const [kind, value] = Object.entries(fields)[0] ?? [];
  if (!isRecord(value)) return null;
  const { name, at, base64, sha256, rows } = value;
  if (kind === "part" && typeof name === "string" && typeof at === "number" && typeof base64 === "string")
    return { kind: "part", name, at, base64 };
  if (kind === "file" && typeof name === "string" && typeof sha256 === "string") return { kind: "file", name, sha256 };
  if (kind === "end" && typeof rows === "number" && typeof sha256 === "string") {
    const madeAtMs = Date.parse(String(value["made_at"]));
    const { tables } = value;
    return { kind: "end", rows, sha256, ...(isCounts(tables) && !Number.isNaN(madeAtMs) && { madeAtMs, tables }) };
  }
  return null;
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isCounts = (value: unknown): value is Record<string, number> =>
  isRecord(value) && Object.values(value).every((count) => Number.isSafeInteger(count));
