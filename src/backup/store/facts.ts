import { first, one, type Queryable } from "../../core/store/db.ts";
import { raw, sql } from "../../core/store/sql.ts";

/** The facts that a backup needs about the database in it. */
export interface Facts {
  schema: number;
  commitNo: number;
  /** Something that only the installation key of this database opens; undefined before the first start was over. */
  sealed: { name: string; sealed: string } | undefined;
}

/** Returns null for a database without Parley's tables. */
export async function readFacts(on: Queryable): Promise<Facts | null> {
  const tables = await on.all<{ name: string }>(
    raw("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('meta', 'migrations', 'sealed_secrets')"),
  );
  if (tables.length < 3) return null;
  const { schema } = await one<{ schema: number }>(on, sql`SELECT max(number) AS schema FROM migrations`);
  const { commitNo } = await one<{ commitNo: number }>(on, sql`SELECT commit_no AS "commitNo" FROM meta`);
  const sealed = await first<{ name: string; sealed: string }>(
    on,
    sql`SELECT name, sealed FROM sealed_secrets LIMIT 1`,
  );
  return { schema, commitNo, sealed };
}
