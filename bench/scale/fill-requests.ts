/** Copies the requests of one person, one that waits and one that is over, until a store has as many as a test wants. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";

export interface RequestFilling {
  /** The request that is copied as waiting, and the one that is copied as over. */
  openId: string;
  settledId: string;
  requests: number;
  /** How many of them wait; the same in stores that are compared. */
  open: number;
}

/** One open request in ten, and one settled request in ten, is addressed to the person; the others to a hundred others. */
const SHARE = 10;
const OTHERS = 100;

const TEXT_COLUMNS = "door, asker, same_hash, title, words, form, kind, fn, audience, digest, state";
const OTHER_COLUMNS = "version, created_at, expires_at, settled_at, outcome, wire";

/** Returns the statements that copy, for both databases. */
function copies({ openId, settledId, requests, open }: RequestFilling): string[] {
  const copy = (id: string, count: number, backMs: number): string[] => [
    `INSERT INTO requests (ask_id, ref, ${TEXT_COLUMNS}, ${OTHER_COLUMNS})
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT ask_id || '_' || i, ref || '_' || i, ${TEXT_COLUMNS}, version, created_at - i * ${backMs},
        expires_at - i * ${backMs}, settled_at - i * ${backMs}, outcome, wire FROM requests, n WHERE ask_id = '${id}'`,
    `INSERT INTO request_recipients (reader, ask_id)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT CASE WHEN i % ${SHARE} = 0 THEN reader ELSE 'other_' || (i % ${OTHERS}) END, ask_id || '_' || i
      FROM request_recipients, n WHERE ask_id = '${id}'`,
  ];
  return [...copy(openId, open, 10), ...copy(settledId, requests - open, 1000)];
}

/** Fills the database of a server that is stopped. */
export function fillSqliteRequests(dataDir: string, filling: RequestFilling): void {
  const database = new DatabaseSync(join(dataDir, "parley.db"));
  database.exec(
    `PRAGMA synchronous = OFF; BEGIN; ${copies(filling).join("; ")}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`,
  );
  database.close();
}

/** The same on PostgreSQL, with its statistics up to date, as autovacuum would have them in a minute. */
export async function fillPostgresRequests(url: string, filling: RequestFilling): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of copies(filling)) await client.query(statement);
  await client.query("VACUUM ANALYZE");
  await client.end();
}
