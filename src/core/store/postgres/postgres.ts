import pg from "pg";
import { systemClock } from "../../../lib/clock.ts";
import { Refusal } from "../../../refusals.ts";
import type { CommitResult, Db, Queryable, Tx } from "../db.ts";
import { openRowQueues } from "../row-queues.ts";
import type { Sql } from "../sql.ts";
import { checkServer } from "./check-server.ts";
import {
  BEGIN_LONG,
  beginSession,
  breakConnection,
  LONG_STATEMENT_MS,
  sessionLimits,
  type SessionLimits,
} from "./connection.ts";
import { isPlanStale, sqlStateOf, translate } from "./errors.ts";
import { type GroupOptions, openGroupCommits } from "./group-commit.ts";
import { HostPool, lend } from "./host-pool.ts";
import { type Hosts, openHosts } from "./hosts.ts";
import { openReads, type ReadOptions } from "./reads.ts";
import type { TimeLeft } from "./session.ts";
import { postgresNumbers, sendTogether } from "./statement-batch.ts";
import { BEGIN, type Lent, runTransaction } from "./transaction.ts";

export interface PostgresOptions {
  url: string;
  /**
   * The address of a connection with a session of its own, for long work. Where it is given, a pooler may share the
   * sessions of `url`.
   */
  listenUrl?: string | undefined;
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
/** Connections for long work, beside a pooler that shares sessions; they are opened when there is some. */
const LASTING_SIZE = 2;
const ATTEMPTS = 6;
/** Transactions that share a commit wait no longer than this, in ms, for a row that somebody else holds. */
const SHARING_LOCK_MS = 100;
/** Connections are replaced after this time, and the plans they keep with them: tables may have grown meanwhile. */
const PLANS_LAST_SECONDS = 300;
/** A deadlock, a conflict of serialization, and a transaction that the database ended because this server stood still. */
const NEVER_HAPPENED = new Set(["40P01", "40001", "25P03"]);
/**
 * Opens pools for transactions, for those that share commits, and for reads on PostgreSQL (15 or newer, with `fsync`, `full_page_writes` and
 * `synchronous_commit` on). Transactions are READ COMMITTED; one that met a deadlock runs again. Work that is not done
 * within `waitMs` is refused, whether a frozen server's row, a full pool or a database that no longer answers holds it
 * up.
 *
 * @throws {Error} one sentence for the operator, as `checkServer` has them
 */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const { waitMs } = options;
  const pools = openPools(options);
  const describes = await checkServer(pools, options).catch(async (error: unknown) => {
    await pools.end();
    throw error;
  });
  const judge = openJudge(options);
  const queues = openRowQueues(systemClock, waitMs);
  const attempt = openAttempts(pools.writing, judge);
  const attemptLong = openAttempts(pools.lasting, judge);
  const alone: GroupOptions["alone"] = (work, [row], sinceMs) =>
    row === undefined
      ? attempt(work, BEGIN, startWait(waitMs, sinceMs))
      : queues.run(row, (turnMs) => attempt(work, BEGIN, startWait(waitMs, turnMs)), sinceMs);
  const lendTo = openLending(pools, judge, waitMs);
  const groups = openGroupCommits({ clock: systemClock, lend: lendTo.group, alone });
  const reads = openReads({ clock: systemClock, lend: lendTo.reads });

  return {
    dialect: "postgres",
    describes,
    async all<Row>(statement: Sql) {
      try {
        return (await reads(statement)) as Row[];
      } catch (error) {
        throw translate(error);
      }
    },
    transact(work, { isLong = false, rows } = {}) {
      if (isLong) return attemptLong(work, BEGIN_LONG, () => LONG_STATEMENT_MS);
      if (rows === undefined) return attempt(work, BEGIN, startWait(waitMs));
      return groups.run(work, rows);
    },
    readInWorker: (work) => readPatiently(pools.lasting, options, work),
    async close() {
      const over = new AbortController();
      const ended = pools.end().finally(() => over.abort());
      await Promise.race([ended, systemClock.sleep(waitMs, over.signal)]);
      pools.breakAll();
    },
  };
}

/** Lends a connection to work whose statements may take long. */
async function readPatiently<T>(
  pool: HostPool,
  { url, listenUrl = url, waitMs }: PostgresOptions,
  work: (on: Queryable) => Promise<T>,
): Promise<T> {
  try {
    return await lend(pool, async ({ client }) => {
      await client.query(`SET statement_timeout = ${LONG_STATEMENT_MS}`);
      const all = async <Row>(statement: Sql) =>
        (await queryAlone({ client, limits: [] }, statement, LONG_STATEMENT_MS)) as Row[];
      const value = await work({ dialect: "postgres", all });
      await beginSession(client, listenUrl, sessionLimits(listenUrl, waitMs));
      return value;
    });
  } catch (error) {
    throw translate(error);
  }
}

/** Returns what lends connections to groups and to batches of reads. */
function openLending(
  pools: Pools,
  judge: Judge,
  waitMs: number,
): { group: GroupOptions["lend"]; reads: ReadOptions["lend"] } {
  return {
    group(use, sinceMs) {
      const left = startWait(waitMs, sinceMs);
      return lendJudged(pools.sharing, { judge, left }, use);
    },
    async reads(use, sinceMs) {
      const left = startWait(waitMs, sinceMs);
      left();
      return lendJudged(pools.reading, { judge, left }, use);
    },
  };
}

type Judge = (lent: Lent) => Promise<void>;

/** Returns what asks of each connection once, before it is first used, whether it may be. */
function openJudge({ judge }: PostgresOptions): Judge {
  const judged = new WeakSet<pg.PoolClient>();
  return async (lent) => {
    if (judged.has(lent.client)) return;
    const all = async <Row>(statement: Sql) => (await queryAlone(lent, statement, lent.left())) as Row[];
    await judge?.({ dialect: "postgres", all });
    judged.add(lent.client);
  };
}

function lendJudged<T>(
  pool: HostPool,
  { judge, left }: { judge: Judge; left: TimeLeft },
  use: (lent: Lent) => Promise<T>,
): Promise<T> {
  return lend(pool, async (borrowed) => {
    const lent = { ...borrowed, left };
    await judge(lent);
    return use(lent);
  });
}

async function queryAlone(
  { client, limits }: Pick<Lent, "client" | "limits">,
  statement: Sql,
  withinMs: number,
): Promise<object[]> {
  const { results, error } = await sendTogether(client, [statement], withinMs, limits);
  if (error) throw error;
  return results[0]?.rows ?? [];
}

/** Runs a transaction until the database says that it happened or that it cannot. */
type Attempt = <T>(work: (tx: Tx) => Promise<T>, begin: string, left: TimeLeft) => Promise<CommitResult<T>>;

/** Returns what runs a transaction, and runs it again where the database undid it for the sake of others. */
function openAttempts(pool: HostPool, judge: Judge): Attempt {
  return async (work, begin, left) => {
    for (let tries = 1; ; tries += 1) {
      try {
        // Work that has waited for a group as long as it may does not wait for a connection, too.
        left();
        return await lendJudged(pool, { judge, left }, (lent) => runTransaction(lent, begin, work));
      } catch (error) {
        // No pause: what it lost to holds the locks it wants, so it waits there.
        const neverHappened = NEVER_HAPPENED.has(sqlStateOf(error)) || isPlanStale(error);
        if (tries >= ATTEMPTS || !neverHappened) throw translate(error);
      }
    }
  };
}

interface Pools {
  writing: HostPool;
  reading: HostPool;
  /** Of those that share commits: they wait for nobody's lock for long. */
  sharing: HostPool;
  /** Of long work, each with a session of its own. */
  lasting: HostPool;
  /** Resolves once every connection was given back and has ended. */
  end(): Promise<unknown>;
  /** Ends every connection that is left, at once. */
  breakAll(): void;
}

function openPools(options: PostgresOptions): Pools {
  const { transactions, reads } = options.poolSizes ?? POOL_SIZES;
  const { url, listenUrl } = options;
  const hosts = openHosts(url, systemClock);
  const writing = openPool(options, hosts, transactions);
  const reading = openPool(options, hosts, reads);
  // Where one statement takes long, the rest of the wait is for the others, by themselves.
  const sharingLimits = { lock_timeout: SHARING_LOCK_MS, statement_timeout: Math.ceil(options.waitMs / 2) };
  const sharing = openPool(options, hosts, 1, sharingLimits);
  const lasting =
    listenUrl === undefined
      ? writing
      : openPool({ ...options, url: listenUrl, listenUrl: undefined }, openHosts(listenUrl, systemClock), LASTING_SIZE);
  const pools = new Set([writing, reading, sharing, lasting]);
  const clients = new Set<pg.PoolClient>();
  for (const pool of pools) {
    pool.on("connect", (client) => void clients.add(client));
    pool.on("remove", (client) => void clients.delete(client));
  }
  return {
    writing,
    reading,
    sharing,
    lasting,
    end: () => Promise.all([...pools].map((pool) => pool.end())),
    breakAll() {
      for (const client of clients) breakConnection(client);
    },
  };
}

/** A connection is waited for in real time, whatever clock the deadlines of a simulated server go by. */
function startWait(waitMs: number, sinceMs: number = systemClock.monotonic()): TimeLeft {
  const until = sinceMs + waitMs;
  return () => {
    const left = Math.ceil(until - systemClock.monotonic());
    if (left <= 0) throw new Refusal("store_unavailable");
    return left;
  };
}

function openPool(
  { url, listenUrl, onError, waitMs }: PostgresOptions,
  hosts: Hosts,
  max: number,
  limits: Partial<SessionLimits> = {},
): HostPool {
  const config = { max, maxLifetimeSeconds: PLANS_LAST_SECONDS, types: postgresNumbers };
  const pool = new HostPool({ url, waitMs, hosts, config, limits, isShared: listenUrl !== undefined });
  pool.on("error", onError);
  return pool;
}
