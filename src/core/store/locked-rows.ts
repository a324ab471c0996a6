import type { Tx } from "./db.ts";
import { raw, type Sql, sql } from "./sql.ts";

/**
 * Returns the statement that reads the rows of a table where `where` holds, with the clock as `now`. The rows are locked
 * to the end of the transaction, and both are read after any wait for them (spec/invariants Q2).
 */
export function lockedRows(tx: Tx, table: string, where: Sql): Sql {
  // SQLite has one writer: whoever is in a transaction holds everything.
  return tx.dialect === "sqlite"
    ? sql`SELECT *, parley_now() AS now FROM ${raw(table)} WHERE ${where}`
    : sql`SELECT l.*, parley_now() AS now FROM (SELECT * FROM ${raw(table)} WHERE ${where} FOR NO KEY UPDATE) AS l`;
}
