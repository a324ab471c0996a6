import type pg from "pg";
import { hostAddresses, postgresPlace } from "../../../lib/network/postgres-hosts.ts";
import { systemRandom } from "../../../lib/random.ts";
import { type Borrowed, type HostPool, lend } from "./host-pool.ts";

/** The connections that are looked through: those of some pools. */
interface Pools {
  writing: HostPool;
  reading: HostPool;
  /** Of long work, past a pooler that shares sessions. */
  lasting: HostPool;
}

interface Addresses {
  url: string;
  listenUrl?: string | undefined;
}

const DOCUMENT = "(docs/how-to/operate.md)";

/**
 * Returns one line about the database, which keeps the promises of durability (spec/invariants D3, D9).
 *
 * @throws {Error} one sentence for the operator: not reachable, too old, a setting that loses acknowledged rows, or a
 *   pooler that shares sessions and cannot be used as the addresses say
 */
export async function checkServer(pools: Pools, addresses: Addresses): Promise<string> {
  const { url, listenUrl } = addresses;
  const isShared = await asked(url, () => areSessionsShared(pools.writing, pools.reading));
  if (isShared && listenUrl === undefined) {
    throw new Error(
      `The pooler at ${postgresPlace(url)} shares sessions between connections, and notifications and locks would be lost: name the database without the pooler by database_listen_url, or set pool_mode = session ${DOCUMENT}.`,
    );
  }
  if (listenUrl !== undefined) await checkListening(pools, { url, listenUrl });
  if (isShared && !(await asked(url, () => lend(pools.writing, keepsStatements)))) {
    throw new Error(
      `The pooler at ${postgresPlace(url)} loses prepared statements: PgBouncer keeps them from 1.21 on with max_prepared_statements = 200 ${DOCUMENT}.`,
    );
  }
  return checkSettings(await asked(url, () => lend(pools.reading, readSettings)), addresses);
}

interface Settings {
  version: string;
  number: string;
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
  synchronous_standby_names: string;
  encoding: string;
}

async function readSettings({ client }: Borrowed): Promise<Settings | undefined> {
  const { rows } = await client.query<Settings>(`SELECT current_setting('server_version') AS version,
    current_setting('server_version_num') AS number, current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('synchronous_standby_names') AS synchronous_standby_names,
    current_setting('server_encoding') AS encoding`);
  return rows[0];
}

/** @throws {Error} one sentence for the operator */
function checkSettings(found: Settings | undefined, addresses: Addresses): string {
  if (!found || Number(found.number) < 150_000)
    throw new Error(`PostgreSQL ${found?.version} is too old; Parley needs 15.`);
  if (found.encoding !== "UTF8") {
    throw new Error(
      `The PostgreSQL database has the encoding ${found.encoding}, which cannot hold what people write; make one with: CREATE DATABASE parley ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
  for (const setting of ["fsync", "full_page_writes", "synchronous_commit"] as const) {
    if (found[setting] === "off")
      throw new Error(`PostgreSQL runs with ${setting}=off and could lose what was acknowledged; turn it on.`);
  }
  const version = found.version.split(" ")[0] ?? found.version;
  return `PostgreSQL ${version}, fsync and synchronous_commit on, checked${standbyNote(found, addresses)}`;
}

/** Several hosts are named for a fail-over, at which a commit that waited for no standby may be lost. */
function standbyNote(found: Settings, { url, listenUrl = url }: Addresses): string {
  const isFailOverMeant = [url, listenUrl].some((address) => hostAddresses(address).length > 1);
  const isLocal = found.synchronous_commit === "local";
  if (!isFailOverMeant || (!isLocal && found.synchronous_standby_names !== "")) return "";
  const why = isLocal ? "synchronous_commit is local" : "synchronous_standby_names is empty";
  return `; a fail-over may lose what was acknowledged, because ${why}`;
}

/** @throws {Error} one sentence for the operator */
async function checkListening({ writing, lasting }: Pools, { url, listenUrl }: Required<Addresses>): Promise<void> {
  const place = postgresPlace(listenUrl);
  if (await asked(listenUrl, () => areSessionsShared(lasting, lasting))) {
    throw new Error(
      `database_listen_url leads to a pooler that shares sessions, too (${place}): name PostgreSQL itself ${DOCUMENT}.`,
    );
  }
  if (!(await asked(listenUrl, () => isOneDatabase(lasting, writing)))) {
    throw new Error(`database_listen_url (${place}) and database_url (${postgresPlace(url)}) lead to two databases.`);
  }
}

/** @throws {Error} one sentence for the operator, when the database cannot be asked */
async function asked<T>(url: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new Error(`PostgreSQL at ${postgresPlace(url)} cannot be used: ${reasonOf(error)}.`, { cause: error });
  }
}

/**
 * Returns whether a pooler lends one session of the database to two connections at one time. The pooler lends the session
 * that came back last first, but other servers' work may come between, so it is asked several times. Nothing is set,
 * because a session that is shared would keep it for others.
 */
function areSessionsShared(onePool: HostPool, otherPool: HostPool): Promise<boolean> {
  return lend(onePool, ({ client: one }) =>
    lend(otherPool, async ({ client: other }) => {
      for (let tries = 0; tries < 5; tries += 1) {
        const session = await sessionOf(one);
        for (const client of [other, one]) {
          if (((await sessionOf(client)) === session) !== (client === one)) return true;
        }
      }
      return false;
    }),
  );
}

async function sessionOf(client: pg.ClientBase): Promise<number | undefined> {
  return (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
}

/** Returns whether two pools lead to one database: there, a lock that one of them holds is not free for the other. */
function isOneDatabase(onePool: HostPool, otherPool: HostPool): Promise<boolean> {
  return lend(onePool, ({ client: one }) =>
    lend(otherPool, async ({ client: other }) => {
      const lock = [Buffer.from(systemRandom(6)).readUIntBE(0, 6)];
      await one.query("BEGIN");
      try {
        await one.query("SELECT pg_advisory_xact_lock($1)", lock);
        const { rows } = await other.query<{ free: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS free", lock);
        return rows[0]?.free === false;
      } finally {
        await one.query("ROLLBACK");
      }
    }),
  );
}

/**
 * Returns whether a pooler that shares sessions keeps the prepared statements of each connection. It must then give them
 * names of its own: in one session, two connections may use one name.
 */
async function keepsStatements({ client }: Borrowed): Promise<boolean> {
  const name = `parley_${Buffer.from(systemRandom(8)).toString("hex")}`;
  const text = "SELECT FROM pg_prepared_statements WHERE name = $1";
  return (await client.query({ name, text, values: [name] })).rows.length === 0;
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : "unknown reason";
}
