import { sql, type Sql } from "./sql.ts";

export type Dialect = "sqlite" | "postgres";

/** A target of statements: the database (committed rows only), or a transaction under way. */
export interface Queryable {
  readonly dialect: Dialect;
  /** Runs one statement and returns its rows, `RETURNING` ones included. */
  all<Row>(statement: Sql): Promise<Row[]>;
  /** Returns the store's clock, epoch ms, where this process keeps it; otherwise the database has it. */
  now?(): number;
}

/** An event of a transaction, passed from the code that wrote it to the code that knows its kind by `is`. */
export interface Fact {
  readonly kind: string;
}

/** A transaction under way. It is over when the function it was given to returns. */
export interface Tx extends Queryable {
  /** Wakes the waiters on `topic` once this transaction has committed: they look again. */
  wake(topic: string): void;
  /** Passes a fact to the watchers of this server once this transaction has committed. */
  tell(fact: Fact): void;
  /**
   * Makes sure, before anything is written, that the rows named in `TransactionOptions` need not be all: where the
   * transaction shares its commit with others this throws, and the work runs again by itself.
   */
  runAlone?(): void;
}

/** The result of a transaction that has committed. */
export interface CommitResult<T> {
  value: T;
  topics: ReadonlySet<string>;
  facts: readonly Fact[];
}

export interface TransactionOptions {
  /** May take many minutes, as a change of the schema does. */
  isLong?: boolean;
  /**
   * Names every row that the work reads and then writes by what it has read, the one that most others want first. On
   * PostgreSQL, transactions that name different rows share a commit, and those that name the same run one after
   * another; the wait for those before counts as time only while none of them gets done.
   */
  rows?: readonly string[];
}

/**
 * A database that holds what `transact` resolved with, come what may.
 *
 * Both kinds hold the same bytes: integers for times (epoch ms), text for JSON. Where they differ in SQL stands in
 * `migrations/migration.ts`; how they run transactions, in `sqlite.ts` and `postgres.ts`.
 */
export interface Db extends Queryable {
  /**
   * Runs `work` as one transaction and resolves after its commit is on disk, with the result of `work`, the topics it
   * woke and the facts it passed on. When `work` throws, nothing of it remains. `work` may run again if the database
   * asks for it, so it must touch nothing but the transaction.
   *
   * PostgreSQL refuses it when it has not come to its end in time, unless the options mark it as a long one, as changes
   * of the schema are. A refusal after the COMMIT was sent leaves unknown whether it holds.
   *
   * @throws {Refusal} `store_unavailable` when the database is away or held up, `store_full` when its disk is full
   */
  transact<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<CommitResult<T>>;
  /**
   * Runs `work`, whose statements may take many seconds, beside everything else: on SQLite on a thread of its own, where
   * it sees committed rows only. It must not write.
   */
  readInWorker<T>(work: (on: Queryable) => Promise<T>): Promise<T>;
  /**
   * Returns a text that differs after every commit, whoever made it, where that costs no statement on another machine:
   * while it stays the same, so do the committed rows.
   */
  commitMark?(): string;
  /** One line for the operator: engine, version, durability. */
  readonly describes: string;
  close(): Promise<void>;
}

/** Returns the first row, if there is one. */
export async function first<Row>(on: Queryable, statement: Sql): Promise<Row | undefined> {
  return (await on.all<Row>(statement))[0];
}

/** Returns the only row. @throws {Error} when no row is found: our bug */
export async function one<Row>(on: Queryable, statement: Sql): Promise<Row> {
  const row = await first<Row>(on, statement);
  if (!row) throw new Error(`no row from: ${statement.sql}`);
  return row;
}

/** Returns the store's clock, epoch ms. */
export async function storeNow(on: Queryable): Promise<number> {
  return on.now?.() ?? (await one<{ now: number }>(on, sql`SELECT parley_now() AS now`)).now;
}
