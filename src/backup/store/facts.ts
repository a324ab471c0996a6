import type { Queryable } from "../../core/store/db.ts";
import { readLastCommit } from "../../core/store/store-marks.ts";
import { readSchemaNumber } from "../../core/store/migrate.ts";
import { findSealed } from "../../core/store/sealed-secrets.ts";
import { raw } from "../../core/store/sql.ts";

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
  const schema = await readSchemaNumber(on);
  const { commitNo } = await readLastCommit(on);
  return { schema, commitNo, sealed: await findSealed(on) };
}
