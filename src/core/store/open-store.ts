import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { type Keyring, openKeyring } from "../../lib/secrets/keyring.ts";
import { startLoop } from "../../lib/loop.ts";
import type { Random } from "../../lib/random.ts";
import { Refusal } from "../../refusals.ts";
import { acceptClock, clockNotes, judgeClock, readClockMark, readLastMoment } from "./clock/check-clock.ts";
import { DATABASE_FILE, HIGHWATER_FILE, LOCK_FILE, prepareDataDir, refuseUnfinished } from "./data-dir.ts";
import { inSentence, judgeFile, RESTORE } from "./damage.ts";
import { type Db, type Queryable, storeNow } from "./db.ts";
import { watchFiles } from "./files-in-place.ts";
import { checkedKeyring, finishKeyChange, isSealedWith, openInstallationKey } from "./installation-key.ts";
import type { OwnedTables } from "./owned-tables.ts";
import { openHighwater, readHighwater, writeHighwater } from "./highwater.ts";
import { readLastCommit } from "./store-marks.ts";
import { migrate } from "./migrate.ts";
import { lockForServer, takeAlone } from "./server-lock.ts";
import { openSqlite, PlaceLost } from "./sqlite/sqlite.ts";
import { raw, sql } from "./sql.ts";
import { openStoreClock, type StoreClock } from "./clock/store-clock.ts";
import { openWake, type Wake } from "./wake.ts";

/** The default of the setting `database_wait_ms`. */
const USUAL_WAIT_MS = 1800;

/** Where the data is. */
export interface StoreAddress {
  dataDir: string;
  keyFile: string;
  databaseUrl?: string | undefined;
  /** The address of a connection with a session of its own, where a pooler shares those of the other. */
  databaseListenUrl?: string | undefined;
  /** How long PostgreSQL is waited for; left out, as long as a server does by default. */
  databaseWaitMs?: number | undefined;
}

export interface StoreOptions {
  clock: Clock;
  random: Random;
  log: { warn(details: object, message: string): void };
  /**
   * A server is the only one on its SQLite file, and is notified by the others on its PostgreSQL; a command works
   * beside it.
   */
  exclusive: boolean;
  /** Unless this is false, a folder without a store gets one. */
  mayBegin?: boolean;
  /** A sync to disk failed: what is on disk is unknown, and the process must end. */
  onFatal: (error: Error) => void;
  /** Start although commits are missing that were once on disk. */
  acceptLoss?: boolean;
  /**
   * The machine's clock is right, whatever the store remembers: start by it, and move the deadlines of these rooms where
   * they were given under a clock that was ahead.
   */
  acceptClock?: readonly OwnedTables[] | undefined;
}

const CHECK_PLACE_EVERY_MS = 1000;
/** More than the answers of a question take. */
const PROBE_BYTES = 32_768;

export interface Store {
  db: Db;
  wake: Wake;
  keyring: Keyring;
  /** Notes for the operator: modes corrected, connections without TLS. */
  notes: string[];
  /** Something that nobody sees is written, and on disk. @throws {Refusal} `store_unavailable` when nothing can be */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** Returns whether there is a store to open: a file of SQLite's, or a database that the settings name. */
export function hasStore({ databaseUrl, dataDir }: Pick<StoreAddress, "databaseUrl" | "dataDir">): boolean {
  return databaseUrl !== undefined || existsSync(join(dataDir, DATABASE_FILE));
}

/**
 * The store is open, its schema is this program's, and its history is as long as it ever was.
 *
 * @throws {Error} one sentence for the operator: everything of spec/security 2, that
 *   concerns the store
 */
export async function openStore(place: StoreAddress, options: StoreOptions): Promise<Store> {
  return place.databaseUrl === undefined
    ? openOnSqlite(place, options)
    : openOnPostgres(place, place.databaseUrl, options);
}

async function openOnSqlite(place: StoreAddress, options: StoreOptions): Promise<Store> {
  const { clock, random } = options;
  refuseUnfinished(place.dataDir);
  const lastCommit = readHighwater(join(place.dataDir, HIGHWATER_FILE)) ?? 0;
  const path = join(place.dataDir, DATABASE_FILE);
  judgeFile(path, options.acceptLoss ? 0 : lastCommit);
  if (options.mayBegin === false && !hasStore(place)) throw new Error(`There is no store in ${place.dataDir}.`);
  const notes = prepareDataDir(place.dataDir);
  // The key file is made before the database, so that a file that cannot be made is reported before anything else is
  // made.
  if (options.exclusive) openInstallationKey(place.keyFile, random);
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };

  try {
    if (options.exclusive) closers.push(lockForServer(join(place.dataDir, LOCK_FILE)).release);
    let noteCommit: (commitNo: number) => void = () => {};
    if (options.exclusive) takeAlone(path);
    let checkPlace: () => void = () => {};
    const storeClock = openStoreClock(clock);
    const onCommit = (commitNo: number) => noteCommit(commitNo);
    const db = openSqlite({
      path,
      clock: storeClock,
      onFatal: options.onFatal,
      onCommit,
      checkPlace: () => checkPlace(),
    });
    closers.push(() => db.close());
    if (options.exclusive) {
      checkPlace = placeCheck(path);
      const { stop } = startLoop(() => Promise.resolve(checkPlace()).then(() => false), {
        clock,
        idleMs: CHECK_PLACE_EVERY_MS,
        onError: (error) => options.onFatal(error as Error),
      });
      closers.push(stop);
      const commitNo = await checkHistory(db, place.dataDir, options.acceptLoss === true);
      const file = join(place.dataDir, HIGHWATER_FILE);
      const begin = await goOn(db, storeClock, options);
      writeHighwater(file, commitNo);
      const onError = (error: unknown) => options.log.warn({ err: error }, "the highwater file could not be written");
      const highwater = await openHighwater({ path: file, clock, onError });
      noteCommit = (number) => highwater.note(number);
      // Closed after the database, whose last commit it has yet to note.
      closers.splice(-1, 0, () => highwater.close());
      await migrate(db);
      notes.push(...(await begin()), ...clockNotes(storeClock));
    } else {
      await goOn(db, storeClock, { ...options, acceptClock: undefined });
      await migrate(db);
    }
    const keyring = await keyringOf(db, place, options);
    return { db, wake: openWake(), keyring, notes, probe: () => probeSqlite(db, storeClock), close };
  } catch (error) {
    await close();
    throw storeSentence(error, place);
  }
}

/**
 * The store's clock goes on from where the database left it. Returns what is to be done once the schema is there: the
 * clock is accepted where that was asked for, and noted.
 *
 * @throws {Error} one sentence, when the machine's clock cannot be right and nothing else is known
 */
async function goOn(
  db: Db,
  storeClock: StoreClock,
  { clock, acceptClock: rooms }: Pick<StoreOptions, "clock" | "acceptClock">,
): Promise<() => Promise<string[]>> {
  const mark = await readClockMark(db);
  const isKnown = mark !== null && storeClock.goOnFrom(mark);
  if (mark && !isKnown && !rooms) judgeClock(clock.now(), mark.lastMs);
  return async () => {
    let notes: string[] = [];
    if (mark && rooms) {
      const lastMs = isKnown ? storeClock.now() : mark.lastMs;
      notes = await acceptClock(db, { lastMs, nowMs: clock.now(), rooms }, () => storeClock.takeWall());
    }
    await keepClock(db, storeClock);
    return notes;
  };
}

async function keepClock(db: Db, storeClock: StoreClock): Promise<void> {
  const { boot, zeroMs } = storeClock.mark();
  await db.transact((tx) => tx.all(sql`UPDATE meta SET clock_boot = ${boot}, clock_zero_ms = ${zeroMs}`));
}

/** A transaction that needs room as an ordinary one does, and leaves nothing but the clock's mark. */
async function probeSqlite(db: Db, storeClock: StoreClock): Promise<void> {
  const { boot, zeroMs } = storeClock.mark();
  await db.transact(async (tx) => {
    await tx.all(sql`UPDATE meta SET clock_boot = ${"-".repeat(PROBE_BYTES)}`);
    await tx.all(sql`UPDATE meta SET clock_boot = ${boot}, clock_zero_ms = ${zeroMs}`);
  });
}

/** Returns what throws once the database, or its log, is no longer the file that is open. */
function placeCheck(path: string): () => void {
  const isInPlace = watchFiles([path, `${path}-wal`, `${path}-shm`]);
  return () => {
    if (isInPlace()) return;
    throw new PlaceLost(
      `The database ${path} was replaced or deleted while this server ran on it, so it ends; put the right one in its place and start again.`,
    );
  };
}

/** Returns a sentence for the operator about a start that failed because nothing could be written. */
export function storeSentence(error: unknown, { dataDir, databaseUrl }: Omit<StoreAddress, "keyFile">): unknown {
  const place = databaseUrl === undefined ? dataDir : "the database";
  const value = inSentence(error, join(dataDir, DATABASE_FILE));
  if (value !== error) return value;
  const isFull = error instanceof Error && "code" in error && (error.code === "store_full" || error.code === "ENOSPC");
  if (isFull) return new Error(`The disk of ${place} is full; make room there and start again.`, { cause: error });
  if (error instanceof Refusal && error.code === "store_unavailable" && error.cause instanceof Error)
    return new Error(`Nothing can be written in ${place}: ${error.cause.message}.`, { cause: error });
  return error;
}

/** Nothing of PostgreSQL is loaded before it is wanted. */
function loadPostgres() {
  return Promise.all([import("./notify.ts"), import("./postgres/postgres.ts"), import("./postgres/address.ts")]);
}

async function openOnPostgres(place: StoreAddress, url: string, options: StoreOptions): Promise<Store> {
  const { clock, random } = options;
  const [{ openNotify }, { openPostgres }, { judgePostgresAddresses }] = await loadPostgres();
  const { databaseListenUrl: listenUrl, databaseWaitMs: waitMs = USUAL_WAIT_MS } = place;
  const notes = await judgePostgresAddresses(url, listenUrl);
  if (options.exclusive) openInstallationKey(place.keyFile, random);
  const onError = (error: unknown) => options.log.warn({ err: error }, "a connection to PostgreSQL broke");
  let judge: (on: Queryable) => Promise<void> = () => Promise.resolve();
  const db = await openPostgres({ url, listenUrl, onError, waitMs, judge: (on) => judge(on) });

  try {
    await migrate(db);
    const keyring = await keyringOf(db, place, options);
    if (options.exclusive) judge = keyJudge(keyring, options.onFatal);
    // The time of the last commit is noted here and now: at each, every transaction would wait for one row.
    const probe = async () => void (await db.transact((tx) => tx.all(sql`UPDATE meta SET last_ms = parley_now()`)));
    if (!options.exclusive) return { db, wake: openWake(), keyring, notes, probe, close: () => db.close() };

    const [lastMs, nowMs] = [await readLastMoment(db), await storeNow(db)];
    const rooms = options.acceptClock;
    if (rooms) notes.push(...(await acceptClock(db, { lastMs, nowMs, rooms }, () => {})));
    else judgeClock(nowMs, lastMs);
    let wakeHere: (topic: string) => void = () => {};
    const onTopic = (topic: string) => wakeHere(topic);
    const carrier = await openNotify({ url: listenUrl ?? url, clock, waitMs, onTopic, onError });
    const wake = openWake(carrier);
    wakeHere = (topic) => wake.wakeHere(topic);
    const close = async () => {
      await wake.close();
      await db.close();
    };
    return { db, wake, keyring, notes, probe, close };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** A command may run where the installation key is not, as long as it does without. */
async function keyringOf(db: Db, { keyFile }: StoreAddress, { exclusive, random }: StoreOptions): Promise<Keyring> {
  if (exclusive) return checkedKeyring(db, keyFile, random);
  await finishKeyChange(db, keyFile);
  let opened: Keyring | undefined;
  const keyring = () => (opened ??= openKeyring(openInstallationKey(keyFile, random), random));
  return {
    mac: (label, text) => keyring().mac(label, text),
    decisionMac: (text) => keyring().decisionMac(text),
    seal: (text, rowId) => keyring().seal(text, rowId),
    open: (sealed, rowId) => keyring().open(sealed, rowId),
  };
}

/**
 * Returns what ends a server whose key was changed while it was cut off from the database, and so was not seen to run:
 * each of its new connections looks, before anything is written on it under the old key.
 */
function keyJudge(keyring: Keyring, onFatal: StoreOptions["onFatal"]): (on: Queryable) => Promise<void> {
  return async (on) => {
    if (await isSealedWith(on, keyring)) return;
    onFatal(
      new Error(
        "The installation key was changed while this server was cut off from its database, so it ends; put the new key in its key file and start it again.",
      ),
    );
    throw new Refusal("store_unavailable");
  };
}

/** Returns the number of the last commit. @throws {Error} when the file beside the database has seen a later one */
async function checkHistory(db: Db, dataDir: string, acceptLoss: boolean): Promise<number> {
  const commitNo = (await hasTables(db)) ? (await readLastCommit(db)).commitNo : 0;
  const highest = readHighwater(join(dataDir, HIGHWATER_FILE));
  if (acceptLoss || (highest !== null && highest <= commitNo)) return commitNo;

  const what =
    highest === null
      ? `${join(dataDir, HIGHWATER_FILE)} is damaged, so whether the database is whole cannot be told`
      : `The database in ${dataDir} ends at commit ${commitNo}, but commit ${highest} was once on disk`;
  throw new Error(`${what}; ${RESTORE}, or go on without: parley serve --accept-loss`);
}

async function hasTables(db: Db): Promise<boolean> {
  if (db.dialect === "postgres") return true;
  const found = await db.all(raw("SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'meta'"));
  return found.length > 0;
}

/**
 * Returns the database as it is, beside a server that may be running: nothing is made, migrated or corrected.
 *
 * @throws {Error} one sentence for the operator
 */
export async function openToExamine(place: StoreAddress, clock: Clock): Promise<Db> {
  const { dataDir, databaseUrl, databaseListenUrl: listenUrl, databaseWaitMs: waitMs = USUAL_WAIT_MS } = place;
  const onFatal = (error: Error) => {
    throw error;
  };
  if (databaseUrl !== undefined) {
    const [, { openPostgres }] = await loadPostgres();
    return openPostgres({ url: databaseUrl, listenUrl, onError: () => {}, waitMs });
  }
  refuseUnfinished(dataDir);
  const path = join(dataDir, DATABASE_FILE);
  judgeFile(path, readHighwater(join(dataDir, HIGHWATER_FILE)) ?? 0);
  if (!existsSync(path)) throw new Error(`There is no Parley database in ${dataDir}.`);
  const storeClock = openStoreClock(clock);
  const db = openSqlite({ path, clock: storeClock, onFatal });
  const mark = await readClockMark(db);
  if (mark) storeClock.goOnFrom(mark);
  return db;
}
