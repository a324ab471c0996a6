import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/lib/clock.ts";
import { Refusal } from "../../src/refusals.ts";
import type { CommitResult, Db, Tx } from "../../src/core/store/db.ts";
import { migrate } from "../../src/core/store/migrate.ts";
import type { Sql } from "../../src/core/store/sql.ts";
import { openSqlite } from "../../src/core/store/sqlite/sqlite.ts";
import { openStoreClock } from "../../src/core/store/clock/store-clock.ts";
import { NOON } from "../support/held-clock.ts";
import type { Dice } from "./sim-dice.ts";
import type { SimTime } from "./sim-time.ts";

/** One node's way to the store, and what may befall it. */
export interface StoreLink {
  /** Longest time a message takes each way. */
  legMs(): number;
  /** Nobody is at the other end. */
  isAway(): boolean;
  /** Probabilities, for one transaction. */
  odds(): StoreOdds;
  /** Resolves when this node goes on: later while it is paused, never once it is dead. */
  proceed(): Promise<void> | undefined;
  isDead(): boolean;
  /** Called with each failure here. */
  onHurt(what: string): void;
  /** Called for a transaction that will keep the store's only writer for as long as `ms`. */
  onSlow(ms: number): void;
  /** Called with the topics of each transaction once it has committed, whether or not the node learns of it. */
  onCommit(topics: ReadonlySet<string>): void;
}

export interface StoreOdds {
  /** The transaction never reaches the store. */
  callLost: number;
  /** It commits, and the node gets the error that the store is away. */
  replyLost: number;
  /** One of its statements fails. */
  statementFails: number;
  /** The database asks for it to be run again, as PostgreSQL does after a deadlock. */
  runAgain: number;
  /** Time passes between its statements. */
  slow: number;
}

/** The one store of all nodes, with a clock of its own. */
export interface SimStore {
  /** The database past all weather: for looking, never for acting. */
  truth: Db;
  /** The time of `parley_now()`. */
  now(): number;
  /** The store's machine wakes up so much later. */
  oversleep(ms: number): void;
  /** Steps the store's wall clock. */
  step(ms: number): void;
  /** Sets the wall clock right again. */
  setRight(): void;
  connect(link: StoreLink): Db;
  /** A transaction is at work that needs no time to pass. */
  isBusy(): boolean;
  close(): Promise<void>;
}

export interface SimStoreOptions {
  time: () => SimTime;
  dice: Dice;
  /** In a file, where reads have a connection of their own; else in memory. */
  inFile: boolean;
  /** Called for a reader that reads again and again without letting time pass. */
  onSpin: (statement: string) => void;
}

const AGAIN = new Error("the database asks for the transaction to be run again");
/** More reads than all nodes together make in one millisecond. */
const MOST_READS_AT_ONCE = 5000;
/** A transaction of an answer has some twenty statements. */
const STATEMENTS = 24;
const SLOW_STATEMENT_MS = 15;

/** Opens the product's own SQLite store on virtual time, with its schema. */
export async function openSimStore(options: SimStoreOptions): Promise<SimStore> {
  const { dice } = options;
  let underWay = 0;
  let isStalled = false;
  let offsetMs = 0;
  let sleptMs = 0;
  const clock: Clock = {
    now: () => NOON + options.time().now() + sleptMs + offsetMs,
    monotonic: () => options.time().now(),
    uptime: () => options.time().now() + sleptMs,
    boot: null,
    sleep: (ms) => options.time().sleep(ms),
  };
  const storeClock = openStoreClock(clock);
  const folder = options.inFile
    ? mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "parley-sim-"))
    : null;
  const truth = openSqlite({
    path: folder === null ? ":memory:" : join(folder, "sim.db"),
    clock: storeClock,
    onFatal: (error) => {
      throw error;
    },
  });
  await migrate(truth);

  let moment = 0;
  let readsAtOnce = 0;
  function isSpinning(): boolean {
    if (moment !== options.time().now()) [moment, readsAtOnce] = [options.time().now(), 0];
    readsAtOnce += 1;
    return readsAtOnce > MOST_READS_AT_ONCE;
  }

  function connect(link: StoreLink): Db {
    async function leg(): Promise<void> {
      const ms = dice.int(link.legMs() + 1);
      if (ms > 0) await options.time().sleep(ms);
      await link.proceed();
    }
    function lose(what: string): never {
      link.onHurt(what);
      throw new Refusal("store_unavailable");
    }
    async function put<T>(work: (tx: Tx) => Promise<T>): Promise<CommitResult<T>> {
      underWay += 1;
      return truth.transact(work).finally(() => (underWay -= 1));
    }
    /** A refusal travels back like any reply. A node that has died in the meantime never receives it. */
    async function tellRefused(error: unknown): Promise<never> {
      await leg();
      throw error;
    }
    /** The whole group commit waits with it, and all later transactions. Statements sent together run in their order. */
    function slowly(tx: Tx): Tx {
      let last: Promise<never[]> = Promise.resolve([]);
      return withStatements(tx, (statement) => (last = last.then(() => runSlowly(tx, statement))));
    }
    async function runSlowly(tx: Tx, statement: Sql): Promise<never[]> {
      isStalled = true;
      await options.time().sleep(dice.int(SLOW_STATEMENT_MS + 1));
      isStalled = false;
      if (link.isDead()) throw new Refusal("store_unavailable");
      return tx.all<never>(statement);
    }

    return {
      dialect: truth.dialect,
      describes: truth.describes,
      readInWorker: (work) => truth.readInWorker(work),
      async all(statement) {
        if (isSpinning()) {
          options.onSpin(statement.sql);
          await new Promise(() => {});
        }
        await leg();
        if (link.isAway()) lose("a read finds no store");
        const rows = await truth.all<never>(statement);
        await leg();
        return rows;
      },
      async transact(work) {
        const odds = link.odds();
        await leg();
        if (link.isAway()) lose("a transaction finds no store");
        if (dice.chance(odds.callLost)) lose("a transaction is lost on its way");
        if (dice.chance(odds.runAgain)) await runInVain(work, put);
        const failsAt = dice.chance(odds.statementFails) ? dice.between(1, STATEMENTS) : Number.POSITIVE_INFINITY;
        if (Number.isFinite(failsAt)) link.onHurt(`statement ${failsAt} fails`);
        const isSlow = dice.chance(odds.slow);
        if (isSlow) link.onSlow(STATEMENTS * SLOW_STATEMENT_MS);

        const done = await put((tx) => work(failingAt(isSlow ? slowly(tx) : tx, failsAt))).catch(tellRefused);
        link.onCommit(done.topics);
        if (dice.chance(odds.replyLost)) lose("a transaction commits, and the reply is lost");
        await leg();
        return done;
      },
      close: () => Promise.resolve(),
    };
  }

  return {
    truth,
    now: () => storeClock.now(),
    step: (ms) => void (offsetMs += ms),
    oversleep: (ms) => void (sleptMs += ms),
    setRight: () => void (offsetMs = 0),
    connect,
    isBusy: () => underWay > 0 && !isStalled,
    async close() {
      await truth.close();
      if (folder !== null) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the work and undoes it; a refusal of its own is thrown as it would be the second time. */
async function runInVain<T>(
  work: (tx: Tx) => Promise<T>,
  put: (work: (tx: Tx) => Promise<never>) => Promise<unknown>,
): Promise<void> {
  try {
    await put(async (tx) => {
      await work(tx);
      throw AGAIN;
    });
  } catch (error) {
    if (error !== AGAIN) throw error;
  }
}

function failingAt(tx: Tx, failsAt: number): Tx {
  if (!Number.isFinite(failsAt)) return tx;
  let count = 0;
  return withStatements(tx, async (statement) => {
    count += 1;
    if (count === failsAt) throw new Refusal("store_unavailable");
    return tx.all<never>(statement);
  });
}

function withStatements(tx: Tx, all: (statement: Sql) => Promise<never[]>): Tx {
  return { dialect: tx.dialect, wake: (topic) => tx.wake(topic), tell: (fact) => tx.tell(fact), all };
}
