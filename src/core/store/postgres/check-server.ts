import type pg from "pg";
import { postgresPlace } from "../../../lib/network/postgres-hosts.ts";

/** The connections that are looked through: those of one pool and of another. */
interface Pools {
  writing: pg.Pool;
  reading: pg.Pool;
}

/**
 * Returns the version of the database, which keeps the promises of durability (spec/invariants D3, D9).
 *
 * @throws {Error} one sentence for the operator: not reachable, too old, a setting that loses acknowledged rows, or a
 *   pooler that shares sessions
 */
export async function checkServer(pools: Pools, url: string): Promise<string> {
  let isShared: boolean;
  let rows: { version: string; number: string; fsync: string; pages: string; commit: string; encoding: string }[];
  try {
    isShared = await areSessionsShared(pools);
    ({ rows } = await onClient(pools.reading, (client) =>
      client.query(`SELECT current_setting('server_version') AS version,
      current_setting('server_version_num') AS number, current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS pages, current_setting('synchronous_commit') AS commit,
      current_setting('server_encoding') AS encoding`),
    ));
  } catch (error) {
    throw new Error(`PostgreSQL at ${postgresPlace(url)} cannot be used: ${reasonOf(error)}.`, { cause: error });
  }
  if (isShared) {
    throw new Error(
      `The pooler at ${postgresPlace(url)} shares sessions between connections, and notifications and locks would be lost: set pool_mode = session (docs/how-to/operate.md).`,
    );
  }
  const [row] = rows;
  if (!row || Number(row.number) < 150_000) throw new Error(`PostgreSQL ${row?.version} is too old; Parley needs 15.`);
  if (row.encoding !== "UTF8") {
    throw new Error(
      `The PostgreSQL database has the encoding ${row.encoding}, which cannot hold what people write; make one with: CREATE DATABASE parley ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
  for (const [setting, value] of [
    ["fsync", row.fsync],
    ["full_page_writes", row.pages],
    ["synchronous_commit", row.commit],
  ]) {
    if (value === "off")
      throw new Error(`PostgreSQL runs with ${setting}=off and could lose what was acknowledged; turn it on.`);
  }
  return row.version.split(" ")[0] ?? row.version;
}

/**
 * Returns whether a pooler lends one session of the database to two connections at one time. The pooler lends the session
 * that came back last first, but other servers' work may come between, so it is asked several times.
 */
async function areSessionsShared({ writing, reading }: Pools): Promise<boolean> {
  return onClient(writing, (one) =>
    onClient(reading, async (other) => {
      for (let tries = 0; tries < 5; tries += 1) {
        const mark = await markOf(one, "SELECT set_config('parley.session', gen_random_uuid()::text, false) AS mark");
        for (const client of [other, one]) {
          const seen = await markOf(client, "SELECT current_setting('parley.session', true) AS mark");
          if ((seen === mark) !== (client === one)) return true;
        }
      }
      return false;
    }),
  );
}

async function markOf(client: pg.PoolClient, query: string): Promise<string | null | undefined> {
  return (await client.query<{ mark: string | null }>(query)).rows[0]?.mark;
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : "unknown reason";
}

async function onClient<T>(pool: pg.Pool, use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await use(client);
  } finally {
    client.release();
  }
}
