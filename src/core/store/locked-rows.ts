import type { Tx } from "./db.ts";
import { empty, raw, type Sql, sql } from "./sql.ts";

/**
 * Returns the statement that reads the rows of a table where `where` holds, with the clock as `now`. The rows are locked
 * to the end of the transaction, and both are read after any wait for them (spec/invariants Q2). `beside` are further
 * columns, with the comma before them; on PostgreSQL they show what was committed before the wait.
 */
export function lockedRows(tx: Tx, table: string, where: Sql, beside: Sql = empty): Sql {
  // SQLite has one writer: whoever is in a transaction holds everything.
  return tx.dialect === "sqlite"
    ? sql`SELECT *, parley_now() AS now ${beside} FROM ${raw(table)} WHERE ${where}`
    : sql`SELECT l.*, parley_now() AS now ${beside} FROM (SELECT * FROM ${raw(table)} WHERE ${where} FOR NO KEY UPDATE) AS l`;
}
