import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { yieldToEventLoop } from "../../../lib/event-loop.ts";
import { Refusal } from "../../../refusals.ts";
import { type WorkerConnection, openWorkerConnection } from "./worker-connection.ts";
import { inSentence } from "../damage.ts";
import type { CommitResult, Db, Fact, Tx } from "../db.ts";
import { rowMaker } from "../row-maker.ts";
import { oncePerText, type Sql } from "../sql.ts";
import type { StoreClock } from "../clock/store-clock.ts";

export interface SqliteOptions {
  /** A file, or `:memory:`. */
  path: string;
  clock: Pick<StoreClock, "now">;
  /** Called when a sync to disk failed, or the file is gone: what is on disk is then unknown, and the process must end. */
  onFatal: (error: Error) => void;
  /** Throws a sentence when the files are no longer those that were opened: what is written to them would be lost. */
  checkPlace?: () => void;
  /** Receives the number of each commit that is on disk. */
  onCommit?: (commitNo: number) => void;
}

/** One commit carries at most this many transactions, so that the first of them does not wait for ever. */
const GROUP_SIZE = 256;
/** In KiB, taken as pages are met: most of the indexes of a million questions and their answers fit. */
const WRITER_CACHE = "PRAGMA cache_size = -131072";
const READER_CACHE = "PRAGMA cache_size = -8192";
const OLDEST_SAFE_VERSION = [3, 51, 3] as const;
const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;
/** Primary result codes that say "not now" rather than "our bug": BUSY, LOCKED, READONLY, IOERR, CANTOPEN. */
const UNAVAILABLE = new Set([5, 6, 8, SQLITE_IOERR, 14]);

const FAILED_SYNC = "A sync to disk failed: what is on disk is unknown, so this server ends.";

/** The files that were opened are not at their paths any more. */
export class PlaceLost extends Error {}

interface PendingTransaction {
  work: (tx: Tx) => Promise<unknown>;
  resolve: (result: CommitResult<unknown>) => void;
  reject: (error: unknown) => void;
}

/**
 * Opens a SQLite database with one writer and a group commit: transactions that arrive in one turn of the event
 * loop share a commit, each in a savepoint of its own, and each resolves only after that commit is on disk.
 *
 * @throws {Error} one sentence for the operator: an unsafe engine, or settings that did not take
 */
export function openSqlite(options: SqliteOptions): Db {
  const inMemory = options.path === ":memory:";
  const parleyNow = () => options.clock.now();

  const writer = connect(options.path, parleyNow, WRITER_CACHE);
  const version = checkEngine(writer, inMemory);
  // A second connection reads while a group commit is under way: it sees committed rows only. Otherwise the writer's
  // connection reads, because a connection drops its cached pages whenever another has written. A database in memory
  // has but one connection, so its reads wait.
  const reader = inMemory ? writer : connect(options.path, parleyNow, READER_CACHE);

  const write = runner(writer);
  const read = inMemory ? write : runner(reader);
  let commits = 0;
  const queue = openCommitQueue(openGroupCommit(writer, write, { ...options, noteCommit: () => (commits += 1) }));
  // Other processes' commits change it, those of this connection do not.
  const commitsElsewhere = writer.prepare("PRAGMA data_version");
  const workers = new Set<WorkerConnection>();
  let closed = false;

  async function all<Row>(statement: Sql): Promise<Row[]> {
    while (inMemory && queue.moving()) await queue.moving();
    try {
      return writer.isTransaction ? read<Row>(statement) : write<Row>(statement);
    } catch (error) {
      throw translate(error, options.path);
    }
  }

  return {
    dialect: "sqlite",
    describes: `SQLite ${version}, ${inMemory ? "in memory" : "WAL, synchronous=FULL, checked"}`,
    all,
    now: parleyNow,
    transact<T>(work: (tx: Tx) => Promise<T>) {
      return new Promise<CommitResult<T>>((resolve, reject) => {
        if (closed) return reject(new Refusal("store_unavailable"));
        queue.join({ work, resolve: resolve as PendingTransaction["resolve"], reject });
      });
    },
    async readInWorker(work) {
      if (closed) throw new Refusal("store_unavailable");
      if (inMemory) return work({ dialect: "sqlite", all });
      const worker = openWorkerConnection(options.path, parleyNow);
      workers.add(worker);
      try {
        return await work(worker);
      } catch (error) {
        throw translate(error, options.path);
      } finally {
        await worker.close();
        workers.delete(worker);
      }
    },
    commitMark: () => `${commits} ${(commitsElsewhere.get() as { data_version: number }).data_version}`,
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([...workers].map((worker) => worker.close()));
      while (queue.moving()) await queue.moving();
      if (!inMemory) reader.close();
      writer.close();
    },
  };
}

/** The connection and its statements, by which every group is committed. */
interface GroupCommit extends Pick<SqliteOptions, "path" | "onFatal" | "checkPlace" | "onCommit"> {
  writer: DatabaseSync;
  write: <Row>(statement: Sql) => Row[];
  now(): number;
  save: StatementSync;
  release: StatementSync;
  /** Called after each group, before anybody reads what it has committed. */
  noteCommit: () => void;
  /** Numbers a commit that is about to be made; null while there is no table for it. */
  stampCommit(): number | null;
}

function openGroupCommit(
  writer: DatabaseSync,
  write: GroupCommit["write"],
  options: SqliteOptions & Pick<GroupCommit, "noteCommit">,
): GroupCommit {
  const { path, onFatal, checkPlace, onCommit, noteCommit } = options;
  let stamp: StatementSync | null = null;
  return {
    path,
    writer,
    write,
    now: () => options.clock.now(),
    save: writer.prepare("SAVEPOINT work"),
    release: writer.prepare("RELEASE work"),
    stampCommit() {
      if (!stamp && !tableExists(writer, "meta")) return null;
      stamp ??= writer.prepare("UPDATE meta SET commit_no = commit_no + 1, last_ms = parley_now() RETURNING commit_no");
      return (stamp.get() as { commit_no: number }).commit_no;
    },
    onFatal,
    noteCommit,
    ...(checkPlace && { checkPlace }),
    ...(onCommit && { onCommit }),
  };
}

/** The transactions that wait for a commit; one group runs at a time. */
interface CommitQueue {
  join(transaction: PendingTransaction): void;
  /** Resolves when nobody waits any more; null while nobody does. */
  moving(): Promise<void> | null;
}

function openCommitQueue(groupCommit: GroupCommit): CommitQueue {
  const waiting: PendingTransaction[] = [];
  let moving: Promise<void> | null = null;

  async function commitGroups(): Promise<void> {
    while (waiting.length > 0) {
      await yieldToEventLoop();
      await runGroupCommit(groupCommit, waiting.splice(0, GROUP_SIZE));
    }
    moving = null;
  }
  return {
    join(transaction) {
      waiting.push(transaction);
      moving ??= commitGroups();
    },
    moving: () => moving,
  };
}

/** Runs a group of transactions and commits it; each promise settles once the commit that they share is on disk. */
async function runGroupCommit(groupCommit: GroupCommit, group: readonly PendingTransaction[]): Promise<void> {
  const { writer, path } = groupCommit;
  const ends: (() => void)[] = [];
  try {
    writer.exec("BEGIN IMMEDIATE");
    let kept = 0;
    for (const transaction of group) {
      const end = await runInSavepoint(groupCommit, transaction);
      ends.push(end.tell);
      if (end.kept) kept += 1;
    }
    if (kept > 0) {
      const commitNo = groupCommit.stampCommit();
      groupCommit.checkPlace?.();
      // point: sqlite-before-commit
      writer.exec("COMMIT");
      // point: sqlite-after-commit
      if (commitNo !== null) groupCommit.onCommit?.(commitNo);
    } else {
      writer.exec("ROLLBACK");
    }
  } catch (error) {
    if (writer.isTransaction) writer.exec("ROLLBACK");
    if (isFailedSync(error)) groupCommit.onFatal(new Error(FAILED_SYNC, { cause: error }));
    if (error instanceof PlaceLost) groupCommit.onFatal(error);
    for (const transaction of group) transaction.reject(translate(error, path));
    return;
  } finally {
    // After a failure too: what it left is unknown.
    groupCommit.noteCommit();
  }
  for (const tell of ends) tell();
}

/** Runs one transaction in a savepoint of its own. @returns whether it is part of the commit, and how to tell its end */
async function runInSavepoint(
  { path, writer, write, save, release, now }: GroupCommit,
  transaction: PendingTransaction,
): Promise<{ kept: boolean; tell: () => void }> {
  const topics = new Set<string>();
  const facts: Fact[] = [];
  let over = false;
  const tx: Tx = {
    dialect: "sqlite",
    async all<Row>(statement: Sql) {
      if (over) throw new Error("a statement came after its transaction had ended");
      return write<Row>(statement);
    },
    now,
    wake: (topic) => void topics.add(topic),
    tell: (fact) => void facts.push(fact),
  };

  save.run();
  try {
    const value = await transaction.work(tx);
    over = true;
    release.run();
    // point: sqlite-between-transactions
    return { kept: true, tell: () => transaction.resolve({ value, topics, facts }) };
  } catch (error) {
    over = true;
    // A full disk may have undone the whole transaction already: then the group as a whole has failed.
    if (!writer.isTransaction) throw error;
    writer.exec("ROLLBACK TO work; RELEASE work");
    return { kept: false, tell: () => transaction.reject(translate(error, path)) };
  }
}

/**
 * The log grows to 32 MiB between checkpoints, not 4: a page that many groups change is then copied once, and the
 * database is synced less often while everybody waits.
 */
function connect(path: string, parleyNow: () => number, cache: string): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: true });
  connection.function("parley_now", parleyNow);
  try {
    connection.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 8000;
      PRAGMA temp_store = MEMORY;
    `);
  } catch (error) {
    connection.close();
    throw inSentence(error, path);
  }
  connection.exec(cache);
  return connection;
}

/** Reads back what was asked for; an engine or a setting that could lose acknowledged rows does not start. */
function checkEngine(connection: DatabaseSync, inMemory: boolean): string {
  const { version } = connection.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  const parts = version.split(".").map(Number);
  const firstDifference =
    OLDEST_SAFE_VERSION.map((part, i) => (parts[i] ?? 0) - part).find((delta) => delta !== 0) ?? 0;
  if (firstDifference < 0) {
    throw new Error(`SQLite ${version} is known to corrupt databases; Parley needs ${OLDEST_SAFE_VERSION.join(".")}.`);
  }
  const { synchronous } = connection.prepare("PRAGMA synchronous").get() as { synchronous: number };
  const { journal_mode } = connection.prepare("PRAGMA journal_mode").get() as { journal_mode: string };
  if (synchronous !== 2 || (!inMemory && journal_mode !== "wal")) {
    throw new Error("SQLite did not accept WAL with synchronous=FULL here; is the data directory on a network disk?");
  }
  return version;
}

/** Prepares each text once and runs it. */
function runner(connection: DatabaseSync): <Row>(statement: Sql) => Row[] {
  const prepared = oncePerText(
    ({ sql }) => sql,
    (text) => prepare(connection, text),
  );
  return <Row>(statement: Sql) => prepared(statement)(statement.values as SQLInputValue[]) as Row[];
}

/** Rows are made here, of lists: the binding's own take twice as long to make, and longer to read. */
function prepare(connection: DatabaseSync, text: string): (values: readonly SQLInputValue[]) => object[] {
  const statement = connection.prepare(text);
  const toRow = rowMaker(statement.columns().map(({ name }) => name));
  statement.setReturnArrays(true);
  return (values) => {
    const lists: unknown[] = statement.all(...values);
    return (lists as SQLOutputValue[][]).map((list) => toRow(list));
  };
}

function tableExists(connection: DatabaseSync, name: string): boolean {
  return connection.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

function errorCodeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : 0;
}

/** SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC: retrying a failed sync would report pages as written that are not. */
function isFailedSync(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code === (SQLITE_IOERR | (4 << 8)) || code === (SQLITE_IOERR | (5 << 8));
}

function translate(error: unknown, path: string): unknown {
  if (error instanceof PlaceLost) return new Refusal("store_unavailable");
  const code = errorCodeOf(error) & 0xff;
  if (code === SQLITE_FULL) return new Refusal("store_full");
  return UNAVAILABLE.has(code)
    ? Object.assign(new Refusal("store_unavailable"), { cause: error })
    : inSentence(error, path);
}
