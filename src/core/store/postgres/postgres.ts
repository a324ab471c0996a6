import pg from "pg";
import { systemClock } from "../../../lib/clock.ts";
import { Refusal } from "../../../refusals.ts";
import type { CommitResult, Db, Fact, Queryable, Tx } from "../db.ts";
import { checkServer } from "./check-server.ts";
import { BEGIN_LONG, beginSession, breakConnection, LONG_STATEMENT_MS, READ_ONLY } from "./connection.ts";
import { HostPool } from "./host-pool.ts";
import { type Hosts, openHosts } from "./hosts.ts";
import { openRowQueues } from "../row-queues.ts";
import { oncePerText, type Sql } from "../sql.ts";

export interface PostgresOptions {
  url: string;
  /** Receives the errors of connections that broke while idle. */
  onError: (error: Error) => void;
  poolSizes?: PoolSizes;
  /** How long a transaction or a read may take, its wait for a connection included. */
  waitMs: number;
  /** Whether a new connection may be used, asked on it before anything else; throws where it may not. */
  judge?: (on: Queryable) => Promise<void>;
}

/** How many connections there are at most, for each kind of work. */
interface PoolSizes {
  transactions: number;
  reads: number;
}

/**
 * A read waits for nobody's locks, so it must not wait for a connection behind transactions that do: however many of
 * those a frozen server holds up, reads go on.
 */
const POOL_SIZES: PoolSizes = { transactions: 15, reads: 10 };
const ATTEMPTS = 6;
const DISK_FULL = "53100";
/** Connections are replaced after this time, and the plans they keep with them: tables may have grown meanwhile. */
const PLANS_LAST_SECONDS = 300;
/** A deadlock, a conflict of serialization, and a transaction that the database ended because this server stood still. */
const NEVER_HAPPENED = new Set(["40P01", "40001", "25P03"]);
/**
 * Nobody waits longer than this, in ms, or than the rest of the wait: a connection that cannot roll back is
 * cut off.
 */
const ROLLBACK_WITHIN_MS = 200;

/** Returns the rest of a wait, in ms. @throws {Refusal} `store_unavailable` when no time is left */
type Left = () => number;

/**
 * Opens two pools, for transactions and for reads, on PostgreSQL (15 or newer, with `fsync`, `full_page_writes` and
 * `synchronous_commit` on). Transactions are READ COMMITTED; one that met a deadlock runs again. Work that is not done
 * within `waitMs` is refused, whether a frozen server's row, a full pool or a database that no longer answers holds it
 * up.
 *
 * @throws {Error} one sentence for the operator: not reachable, too old, or a setting that loses acknowledged rows
 */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const { waitMs } = options;
  const pools = openPools(options);
  const version = await checkServer(pools, options.url).catch(async (error: unknown) => {
    await pools.end();
    throw error;
  });
  const query = openQuery();
  const judge = openJudge(options, query);
  const queues = openRowQueues(systemClock, waitMs);
  const attempt = openAttempts(pools.writing, query, judge);

  return {
    dialect: "postgres",
    describes: `PostgreSQL ${version}, fsync and synchronous_commit on, checked`,
    async all<Row>(statement: Sql) {
      const left = startWait(waitMs);
      try {
        return await onClient(pools.reading, async (client) => {
          await judge(client, left);
          return query<Row>(client, statement, left());
        });
      } catch (error) {
        throw translate(error);
      }
    },
    transact(work, { isLong = false, row } = {}) {
      if (isLong) return attempt(work, BEGIN_LONG, () => LONG_STATEMENT_MS);
      if (row === undefined) return attempt(work, "BEGIN", startWait(waitMs));
      return queues.run(row, (sinceMs) => attempt(work, "BEGIN", startWait(waitMs, sinceMs)));
    },
    async readInWorker(work) {
      try {
        return await onClient(pools.writing, async (client) => {
          await client.query(`SET statement_timeout = ${LONG_STATEMENT_MS}`);
          const all = <Row>(statement: Sql) => query<Row>(client, statement, LONG_STATEMENT_MS);
          const value = await work({ dialect: "postgres", all });
          await beginSession(client, options.url, waitMs);
          return value;
        });
      } catch (error) {
        throw translate(error);
      }
    },
    async close() {
      const over = new AbortController();
      const ended = pools.end().finally(() => over.abort());
      await Promise.race([ended, systemClock.sleep(waitMs, over.signal)]);
      pools.breakAll();
    },
  };
}

type Judge = (client: pg.PoolClient, left: Left) => Promise<void>;

/** Returns what asks of each connection once, before it is first used, whether it may be. */
function openJudge({ judge }: PostgresOptions, query: Query): Judge {
  const judged = new WeakSet<pg.PoolClient>();
  return async (client, left) => {
    if (judged.has(client)) return;
    await judge?.({ dialect: "postgres", all: (statement) => query(client, statement, left()) });
    judged.add(client);
  };
}

/** Runs a transaction until the database says that it happened or that it cannot. */
type Attempt = <T>(work: (tx: Tx) => Promise<T>, begin: string, left: Left) => Promise<CommitResult<T>>;

/** Returns what runs a transaction, and runs it again where the database undid it for the sake of others. */
function openAttempts(pool: pg.Pool, query: Query, judge: Judge): Attempt {
  return async (work, begin, left) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await onClient(pool, async (client, drop) => {
          await judge(client, left);
          return runTransaction({ client, drop, query, left }, begin, work);
        });
      } catch (error) {
        // No pause: what it lost to holds the locks it wants, so it waits there.
        if (tries >= ATTEMPTS || !NEVER_HAPPENED.has(sqlStateOf(error))) throw translate(error);
      }
    }
  };
}

interface Pools {
  writing: pg.Pool;
  reading: pg.Pool;
  /** Resolves once every connection was given back and has ended. */
  end(): Promise<unknown>;
  /** Ends every connection that is left, at once. */
  breakAll(): void;
}

function openPools(options: PostgresOptions): Pools {
  const { transactions, reads } = options.poolSizes ?? POOL_SIZES;
  const hosts = openHosts(options.url, systemClock);
  const writing = openPool(options, hosts, transactions);
  const reading = openPool(options, hosts, reads);
  const clients = new Set<pg.PoolClient>();
  for (const pool of [writing, reading]) {
    pool.on("connect", (client) => void clients.add(client));
    pool.on("remove", (client) => void clients.delete(client));
  }
  return {
    writing,
    reading,
    end: () => Promise.all([writing.end(), reading.end()]),
    breakAll() {
      for (const client of clients) breakConnection(client);
    },
  };
}

/** Runs a statement, which is prepared once on each connection, and cut off after `withinMs`. */
type Query = <Row>(on: pg.PoolClient, statement: Sql, withinMs: number) => Promise<Row[]>;

function openQuery(): Query {
  let texts = 0;
  const named = oncePerText(
    ({ text }) => text,
    (text) => (isPlannedAnew(text) ? { text } : { name: `p${texts++}`, text }),
  );
  return async <Row>(on: pg.PoolClient, statement: Sql, withinMs: number) => {
    const timed = { ...named(statement), values: statement.values, query_timeout: withinMs };
    return (await on.query(timed)).rows as Row[];
  };
}

/**
 * Lends a connection. A connection does not come back to the pool if it broke, has not answered in time, or was dropped
 * by its borrower.
 */
async function onClient<T>(pool: pg.Pool, use: (client: pg.PoolClient, drop: () => void) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  let isDropped = false;
  const drop = (): void => {
    isDropped = true;
    breakConnection(client);
  };
  const onBreak = (error: Error) => (broken ??= error);
  client.on("error", onBreak);
  try {
    return await use(client, drop);
  } catch (error) {
    if (isUnheard(error) || isReadOnly(error)) onBreak(error);
    // Why the connection ended says more than that it has; of one that was dropped, why it was.
    throw isDropped ? error : (broken ?? error);
  } finally {
    client.off("error", onBreak);
    client.release(broken ?? isDropped);
  }
}

/** A connection is waited for in real time, whatever clock the deadlines of a simulated server go by. */
function startWait(waitMs: number, sinceMs: number = systemClock.monotonic()): Left {
  const until = sinceMs + waitMs;
  return () => {
    const left = Math.ceil(until - systemClock.monotonic());
    if (left <= 0) throw new Refusal("store_unavailable");
    return left;
  };
}

/** A connection that was lent for one transaction. */
interface Lent {
  client: pg.PoolClient;
  /** It does not come back to the pool. */
  drop: () => void;
  query: Query;
  left: Left;
}

/** Runs a transaction once, on one connection; one that fails is rolled back. */
async function runTransaction<T>(
  { client, drop, query, left }: Lent,
  begin: string,
  work: (tx: Tx) => Promise<T>,
): Promise<CommitResult<T>> {
  const topics = new Set<string>();
  const facts: Fact[] = [];
  const say = (text: string, withinMs: number) => client.query({ text, query_timeout: withinMs } as pg.QueryConfig);
  try {
    await say(begin, left());
    const value = await work({
      dialect: "postgres",
      all: <Row>(statement: Sql) => query<Row>(client, statement, left()),
      wake: (topic) => void topics.add(topic),
      tell: (fact) => void facts.push(fact),
    });
    // point: postgres-before-commit
    const { command } = await say("COMMIT", left());
    // point: postgres-after-commit
    if (command !== "COMMIT") throw new Error("the transaction had failed before its commit");
    return { value, topics, facts };
  } catch (error) {
    // A database that does not answer gets no ROLLBACK: its connection ends, and the transaction with it.
    if (!isUnheard(error)) await say("ROLLBACK", ROLLBACK_WITHIN_MS).catch(drop);
    throw error;
  }
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

const AS_NUMBERS = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

/** Integers of 64 bits arrive as numbers, as on SQLite. */
export const postgresNumbers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text") =>
    AS_NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function openPool({ url, onError, waitMs }: PostgresOptions, hosts: Hosts, max: number): pg.Pool {
  const config = { max, maxLifetimeSeconds: PLANS_LAST_SECONDS, types: postgresNumbers };
  const pool = new HostPool({ url, waitMs, hosts, config });
  pool.on("error", onError);
  return pool;
}

function sqlStateOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** The client waited for a reply as long as it may, and none has come: what the connection says next answers nobody. */
function isUnheard(error: unknown): error is Error {
  return error instanceof Error && error.message === "Query read timeout";
}

/** The database takes no writes any more: the primary is elsewhere, and other connections find it. */
function isReadOnly(error: unknown): error is Error {
  return sqlStateOf(error) === READ_ONLY;
}

/**
 * Classes 08 (connection), 53 (resources), 57 (shutdown, and statements that took too long), a lock that was not to be
 * had, a transaction that stood still, a standby, and the client's errors when the wire broke or nothing arrives on it.
 */
function translate(error: unknown): unknown {
  const code = sqlStateOf(error);
  if (code === DISK_FULL) return new Refusal("store_full");
  const away = /^(08|53|57|55P03|25006|25P0[34]|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND)/.test(code);
  const broken =
    isUnheard(error) ||
    (error instanceof Error &&
      /Connection terminated|timeout exceeded when trying to connect|not queryable/.test(error.message));
  return away || broken ? new Refusal("store_unavailable", {}) : error;
}
