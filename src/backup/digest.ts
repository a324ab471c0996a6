import { createHash } from "node:crypto";
import { printRow, type Row } from "./model/export-lines.ts";
import type { Table } from "./store/tables.ts";

/** Rows of tables that can be read in their order. */
interface RowsOf {
  tables: readonly Table[];
  rows(table: Table): AsyncGenerator<Row[]>;
}

/** The digest of all rows, in order, as an export's lines say them. */
export interface Digest {
  add(lines: string | Uint8Array): void;
  value(): string;
}

export function openDigest(): Digest {
  const hash = createHash("sha256");
  return { add: (lines) => void hash.update(lines), value: () => hash.digest("hex") };
}

/** Returns the digest of all rows that are there, and their number. */
export async function digestOf(
  { tables, rows }: RowsOf,
  onRows: (done: number) => void,
): Promise<{ rows: number; sha256: string }> {
  const digest = openDigest();
  let done = 0;
  for (const table of tables) {
    for await (const some of rows(table)) {
      digest.add(some.map((row) => printRow(table.name, row)).join(""));
      onRows((done += some.length));
    }
  }
  return { rows: done, sha256: digest.value() };
}
