import { first, one, type Queryable } from "../../core/store/db.ts";
import { SCHEMA_NUMBER } from "../../core/store/migrate.ts";
import { sql } from "../../core/store/sql.ts";
import type { Keyring } from "../../lib/secrets/keyring.ts";
import { readTables } from "./tables.ts";

/**
 * The store can be carried away by this program: it is there, of this program's schema, and the key is its own.
 *
 * @throws {Error} one sentence for the operator
 */
export async function judgeSource(
  on: Queryable,
  { keyring, keyFile }: { keyring: Pick<Keyring, "open">; keyFile: string },
): Promise<void> {
  const tables = await readTables(on);
  if (!tables.some(({ name }) => name === "sealed_secrets")) throw new Error("There is no Parley database there.");
  const { schema } = await one<{ schema: number }>(on, sql`SELECT max(number) AS schema FROM migrations`);
  if (schema !== SCHEMA_NUMBER) {
    const remedy = schema < SCHEMA_NUMBER ? "start this program's server on it once" : "use the Parley it is of";
    throw new Error(`The store has schema ${schema}, and this program knows ${SCHEMA_NUMBER}: ${remedy}.`);
  }
  const sealed = await first<{ name: string; sealed: string }>(
    on,
    sql`SELECT name, sealed FROM sealed_secrets LIMIT 1`,
  );
  try {
    if (sealed) keyring.open(sealed.sealed, sealed.name);
  } catch {
    throw new Error(
      `${keyFile} is not the installation key of this database, which would be worth little without it; name that one with PARLEY_KEY_FILE.`,
    );
  }
}

/** The number of the last commit, the last moment that a store knows of, and the head of its record. */
export interface Marks {
  commitNo: number;
  lastMs: number;
  recordEntries: number;
  recordHash: string;
}

export function readMarks(on: Queryable): Promise<Marks> {
  return one<Marks>(
    on,
    sql`SELECT m.commit_no AS "commitNo", h.seq AS "recordEntries", h.hash AS "recordHash",
        CASE WHEN e.at > m.last_ms THEN e.at ELSE m.last_ms END AS "lastMs"
      FROM meta m, audit_head h, (SELECT coalesce(max(at), 0) AS at FROM events) e`,
  );
}
