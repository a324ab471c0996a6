import type pg from "pg";
import type { CommitResult, Fact, Tx } from "../db.ts";
import type { Sql } from "../sql.ts";
import { BEGIN_LONG } from "./connection.ts";
import { isUnheard } from "./errors.ts";
import type { SentStatement } from "./statement-batch.ts";
import { type TimeLeft, openSession, type Session, SkippedStatement } from "./session.ts";

export const BEGIN = "BEGIN";
const COMMIT = { text: "COMMIT", values: [] };
/**
 * Nobody waits longer than this, in ms, or than the rest of the wait: a connection that cannot roll back is
 * cut off.
 */
const ROLLBACK_WITHIN_MS = 200;

/** A connection that was lent for one transaction. */
export interface Lent {
  client: pg.PoolClient;
  /** It does not come back to the pool. */
  drop: () => void;
  left: TimeLeft;
  /** The limits of each transaction and batch on it; empty where its session has them. */
  limits: readonly SentStatement[];
}

/** Runs a transaction once, on one connection; one that fails is rolled back. */
export async function runTransaction<T>(
  lent: Lent,
  begin: string,
  work: (tx: Tx) => Promise<T>,
): Promise<CommitResult<T>> {
  const session = await beginOn(lent, begin);
  const { tx, topics, facts, end } = openTx((statement) => session.run(statement).then(({ rows }) => rows));
  try {
    const value = await work(tx);
    await end();
    await commit(session);
    return { value, topics, facts };
  } catch (error) {
    await end();
    throw await rolledBack(lent, session, error);
  }
}

/** Begins a transaction; the usual one begins with its first statement. */
export async function beginOn({ client, left, limits }: Lent, begin: string): Promise<Session> {
  if (begin !== BEGIN_LONG) return openSession(client, left, [{ text: begin, values: [] }, ...limits]);
  await client.query({ text: begin, query_timeout: left() } as pg.QueryConfig);
  return openSession(client, left);
}

/** A transaction under way, and what happens once it has committed. */
interface OpenTx {
  tx: Tx;
  topics: Set<string>;
  facts: Fact[];
  /** Lets no further statement in, and resolves when those that were asked for have run. */
  end(): Promise<void>;
}

/** Opens a transaction whose statements run by `run`. */
export function openTx(run: (statement: Sql) => Promise<object[]>, runAlone?: () => void): OpenTx {
  const topics = new Set<string>();
  const facts: Fact[] = [];
  const running = new Set<Promise<object[]>>();
  let isOver = false;
  async function all<Row>(statement: Sql): Promise<Row[]> {
    if (isOver) throw new Error("a statement came after its transaction had ended");
    const rows = run(statement);
    running.add(rows);
    try {
      return (await rows) as Row[];
    } finally {
      running.delete(rows);
    }
  }
  const tx: Tx = {
    dialect: "postgres",
    all,
    wake: (topic) => void topics.add(topic),
    tell: (fact) => void facts.push(fact),
    ...(runAlone && { runAlone }),
  };
  async function end(): Promise<void> {
    isOver = true;
    await Promise.allSettled(running);
  }
  return { tx, topics, facts, end };
}

/** Commits what a session has done. @throws {Error} the database's or the wire's, or because the transaction had failed */
export async function commit(session: Session): Promise<void> {
  // point: postgres-before-commit
  const { done } = await session.run(COMMIT);
  // point: postgres-after-commit
  if (done !== "COMMIT") throw new Error("the transaction had failed before its commit");
}

/** Undoes what a session has done, and returns why, in the database's words where it has some. */
export async function rolledBack({ client, drop }: Lent, session: Session, error: unknown): Promise<unknown> {
  await session.settled();
  const cause = error instanceof SkippedStatement ? error.cause : error;
  // A database that does not answer gets no ROLLBACK: its connection ends, and the transaction with it.
  if (isUnheard(cause)) return cause;
  await client.query({ text: "ROLLBACK", query_timeout: ROLLBACK_WITHIN_MS } as pg.QueryConfig).catch(drop);
  return cause;
}
