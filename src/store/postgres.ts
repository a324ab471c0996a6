import pg from "pg";
import type { Clock } from "../lib/clock.ts";
import { Refusal } from "../refusals.ts";
import type { RelayFact } from "../model/relay-fact.ts";
import type { Committed, Db, Tx } from "./db.ts";
import { oncePerText, type Sql } from "./sql.ts";

export interface PostgresOptions {
  url: string;
  clock: Clock;
  /** Told of connections that broke while idle. */
  onError: (error: Error) => void;
  poolSize?: number;
}

const ATTEMPTS = 6;
/** Connections are replaced after this time, and the plans they keep with them: tables may have grown meanwhile. */
const PLANS_LAST_SECONDS = 300;
const DEADLOCK_OR_SERIALIZATION = new Set(["40P01", "40001"]);

/**
 * Opens a pool on PostgreSQL (15 or newer, with `fsync`, `full_page_writes` and `synchronous_commit` on). Transactions
 * are READ COMMITTED; one that met a deadlock runs again.
 *
 * @throws {Error} one sentence for the operator: not reachable, too old, or a setting that loses acknowledged rows
 */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const pool = openPool(options);
  const version = await checkServer(pool, options.url).catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  let texts = 0;
  const named = oncePerText(
    ({ text }) => text,
    (text) => (isPlannedAnew(text) ? { text } : { name: `p${texts++}`, text }),
  );

  async function query<Row>(on: pg.Pool | pg.PoolClient, statement: Sql): Promise<Row[]> {
    const result = await on.query({ ...named(statement), values: statement.values });
    return result.rows as Row[];
  }

  async function attempt<T>(work: (tx: Tx) => Promise<T>): Promise<Committed<T>> {
    const client = await pool.connect();
    const topics = new Set<string>();
    const told: RelayFact[] = [];
    let broken: Error | undefined;
    const onBreak = (error: Error) => (broken = error);
    client.on("error", onBreak);
    try {
      await client.query("BEGIN");
      const value = await work({
        dialect: "postgres",
        all: <Row>(statement: Sql) => query<Row>(client, statement),
        wake: (topic) => void topics.add(topic),
        tell: (fact) => void told.push(fact),
      });
      // point: postgres-before-commit
      const { command } = await client.query("COMMIT");
      // point: postgres-after-commit
      if (command !== "COMMIT") throw new Error("the transaction had failed before its commit");
      return { value, topics, told };
    } catch (error) {
      await client.query("ROLLBACK").catch(onBreak);
      throw error;
    } finally {
      client.off("error", onBreak);
      client.release(broken);
    }
  }

  return {
    dialect: "postgres",
    describes: `PostgreSQL ${version}, fsync and synchronous_commit on, checked`,
    async all<Row>(statement: Sql) {
      try {
        return await query<Row>(pool, statement);
      } catch (error) {
        throw translate(error);
      }
    },
    async transact<T>(work: (tx: Tx) => Promise<T>) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await attempt(work);
        } catch (error) {
          // No pause: what it lost to holds the locks it wants, so it waits there.
          if (tries >= ATTEMPTS || !DEADLOCK_OR_SERIALIZATION.has(sqlStateOf(error))) throw translate(error);
        }
      }
    },
    aside: (work) => work({ dialect: "postgres", all: (statement) => query(pool, statement) }),
    close: () => pool.end(),
  };
}

/**
 * Whether a statement is planned each time it runs. The others keep a plan for as long as their connection lasts. One
 * that changes rows found by key and state (`WHERE ask_id = $1 AND state = 'open'`) must not: while the partial index of
 * that state is all but empty, a walk through it looks cheaper than the primary key, and the plan would stay when the
 * index has grown.
 */
function isPlannedAnew(text: string): boolean {
  return /^\s*(UPDATE|DELETE)\b/.test(text);
}

function openPool(options: PostgresOptions): pg.Pool {
  const asNumber = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 20,
    connectionTimeoutMillis: 5000,
    application_name: "parley",
    maxLifetimeSeconds: PLANS_LAST_SECONDS,
    types: {
      getTypeParser: ((oid: number, format: "text") =>
        asNumber.has(oid) ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  });
  pool.on("error", options.onError);
  return pool;
}

async function checkServer(pool: pg.Pool, url: string): Promise<string> {
  let rows: { version: string; number: string; fsync: string; pages: string; commit: string }[];
  try {
    ({ rows } = await pool.query(`SELECT current_setting('server_version') AS version,
      current_setting('server_version_num') AS number, current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS pages, current_setting('synchronous_commit') AS commit`));
  } catch (error) {
    throw new Error(`PostgreSQL at ${withoutPassword(url)} cannot be used: ${reasonOf(error)}.`, { cause: error });
  }
  const [row] = rows;
  if (!row || Number(row.number) < 150_000) throw new Error(`PostgreSQL ${row?.version} is too old; Parley needs 15.`);
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

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : "unknown reason";
}

/** Returns an address fit for a log: host, port and database, without user and password. */
function withoutPassword(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return "the configured address";
  }
}

function sqlStateOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Classes 08 (connection), 53 (resources), 57P (shutdown) and what the client says when the wire broke. */
function translate(error: unknown): unknown {
  const code = sqlStateOf(error);
  const away = /^(08|53|57P|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND)/.test(code);
  const broken =
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|not queryable/.test(error.message);
  return away || broken ? new Refusal("store_unavailable", {}) : error;
}
