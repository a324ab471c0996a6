import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../lib/clock.ts";
import { type Keyring, openKeyring } from "../lib/keyring.ts";
import type { Random } from "../lib/random.ts";
import { DATABASE_FILE, HIGHWATER_FILE, LOCK_FILE, openInstallationKey, prepareDataDir } from "./data-dir.ts";
import { type Db, first, one } from "./db.ts";
import { openHighwater, readHighwater, writeHighwater } from "./highwater.ts";
import { migrate } from "./migrate.ts";
import { openNotify } from "./notify.ts";
import { openPostgres } from "./postgres.ts";
import { judgePostgresAddress } from "./postgres-address.ts";
import { lockForServer } from "./server-lock.ts";
import { openSqlite } from "./sqlite.ts";
import { raw, sql } from "./sql.ts";
import { openWake, type Wake } from "./wake.ts";

/** Where the data is. */
export interface StorePlace {
  dataDir: string;
  keyFile: string;
  databaseUrl?: string | undefined;
}

export interface StoreOptions {
  clock: Clock;
  random: Random;
  log: { warn(details: object, message: string): void };
  /** A server is the only one on its SQLite file, and hears the others on its PostgreSQL; a command works beside it. */
  exclusive: boolean;
  /** A sync to disk failed: what is on disk is unknown, and the process must end. */
  onFatal: (error: Error) => void;
  /** Start although commits are missing that were once on disk. */
  acceptLoss?: boolean;
}

export interface Store {
  db: Db;
  wake: Wake;
  keyring: Keyring;
  /** What the operator should hear: modes corrected, connections without TLS. */
  notes: string[];
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;

/**
 * The store is open, its schema is this program's, and its history is as long as it ever was.
 *
 * @throws {Error} one sentence for the operator: everything of security.md section 2, "Refuses to start", that
 *   concerns the store
 */
export async function openStore(place: StorePlace, options: StoreOptions): Promise<Store> {
  return place.databaseUrl === undefined
    ? openOnSqlite(place, options)
    : openOnPostgres(place, place.databaseUrl, options);
}

async function openOnSqlite(place: StorePlace, options: StoreOptions): Promise<Store> {
  const { clock, random } = options;
  const notes = prepareDataDir(place.dataDir);
  const keyring = options.exclusive ? openKeyringOf(place, random) : keyringWhenWanted(place, random);
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };

  try {
    if (options.exclusive) closers.push(lockForServer(join(place.dataDir, LOCK_FILE)).release);
    let noteCommit: (commitNo: number) => void = () => {};
    const path = join(place.dataDir, DATABASE_FILE);
    const db = openSqlite({ path, clock, onFatal: options.onFatal, onCommit: (commitNo) => noteCommit(commitNo) });
    closers.push(() => db.close());
    if (options.exclusive) {
      const commitNo = await checkHistory(db, place.dataDir, options.acceptLoss === true);
      await checkClock(db, clock.now());
      const file = join(place.dataDir, HIGHWATER_FILE);
      writeHighwater(file, commitNo);
      const onError = (error: unknown) => options.log.warn({ err: error }, "the highwater file could not be written");
      const highwater = await openHighwater({ path: file, clock, onError });
      noteCommit = (number) => highwater.note(number);
      // Closed after the database, whose last commit it has yet to note.
      closers.splice(-1, 0, () => highwater.close());
    }
    await migrate(db);
    if (options.exclusive) await checkInstallationKey(db, keyring, place.keyFile);
    return { db, wake: openWake(), keyring, notes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openOnPostgres(place: StorePlace, url: string, options: StoreOptions): Promise<Store> {
  const { clock, random } = options;
  const warning = await judgePostgresAddress(url);
  const notes = warning === null ? [] : [warning];
  const keyring = options.exclusive ? openKeyringOf(place, random) : keyringWhenWanted(place, random);
  const onError = (error: unknown) => options.log.warn({ err: error }, "a connection to PostgreSQL broke");
  const db = await openPostgres({ url, clock, onError });

  try {
    await migrate(db);
    if (options.exclusive) await checkInstallationKey(db, keyring, place.keyFile);
    if (!options.exclusive) return { db, wake: openWake(), keyring, notes, close: () => db.close() };

    const { now } = await one<{ now: number }>(db, sql`SELECT parley_now() AS now`);
    await checkClock(db, now);
    let wakeHere: (topic: string) => void = () => {};
    const carrier = await openNotify({ url, clock, onTopic: (topic) => wakeHere(topic), onError });
    const wake = openWake(carrier);
    wakeHere = (topic) => wake.wakeHere(topic);
    const close = async () => {
      await wake.close();
      await db.close();
    };
    return { db, wake, keyring, notes, close };
  } catch (error) {
    await db.close();
    throw error;
  }
}

function openKeyringOf({ keyFile }: StorePlace, random: Random): Keyring {
  return openKeyring(openInstallationKey(keyFile, random), random);
}

/** A command may run where the installation key is not, as long as it does without. */
function keyringWhenWanted(place: StorePlace, random: Random): Keyring {
  let opened: Keyring | undefined;
  const keyring = () => (opened ??= openKeyringOf(place, random));
  return {
    mac: (label, text) => keyring().mac(label, text),
    decisionMac: (text) => keyring().decisionMac(text),
    seal: (text, rowId) => keyring().seal(text, rowId),
    open: (sealed, rowId) => keyring().open(sealed, rowId),
  };
}

/** Returns the number of the last commit. @throws {Error} when the file beside the database has seen a later one */
async function checkHistory(db: Db, dataDir: string, acceptLoss: boolean): Promise<number> {
  const commitNo = (await hasTables(db)) ? await lastCommitNo(db) : 0;
  const highest = readHighwater(join(dataDir, HIGHWATER_FILE));
  if (acceptLoss || (highest !== null && highest <= commitNo)) return commitNo;

  const what =
    highest === null
      ? `${join(dataDir, HIGHWATER_FILE)} is damaged, so whether the database is whole cannot be told`
      : `The database in ${dataDir} ends at commit ${commitNo}, but commit ${highest} was once on disk`;
  throw new Error(`${what}; put a backup of the folder in its place, or go on without: parley serve --accept-loss`);
}

async function checkClock(db: Db, now: number): Promise<void> {
  if (!(await hasTables(db))) return;
  const { last } = await one<{ last: number }>(
    db,
    // PostgreSQL keeps no time of the last commit, which would make every transaction wait for one row.
    sql`SELECT CASE WHEN e.at > m.last_ms THEN e.at ELSE m.last_ms END AS last
        FROM meta m, (SELECT coalesce(max(at), 0) AS at FROM events) e`,
  );
  if (now >= last - HOUR_MS) return;
  const [clockTime, lastTime] = [now, last].map((ms) => new Date(ms).toISOString());
  throw new Error(
    `The clock says ${clockTime}, but the last commit was at ${lastTime}; set the clock (timedatectl set-ntp true) and start again.`,
  );
}

/** A database opened with another key would take every person and every agent for a stranger. */
async function checkInstallationKey(db: Db, keyring: Keyring, keyFile: string): Promise<void> {
  const row = await first<{ name: string; sealed: string }>(db, sql`SELECT name, sealed FROM sealed_secrets LIMIT 1`);
  if (!row) return;
  try {
    keyring.open(row.sealed, row.name);
  } catch {
    throw new Error(
      `${keyFile} is not the installation key this database was made with; put that one in its place, or name it with PARLEY_KEY_FILE.`,
    );
  }
}

async function hasTables(db: Db): Promise<boolean> {
  if (db.dialect === "postgres") return true;
  const found = await db.all(raw("SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'meta'"));
  return found.length > 0;
}

async function lastCommitNo(db: Db): Promise<number> {
  return (await one<{ commit_no: number }>(db, sql`SELECT commit_no FROM meta`)).commit_no;
}

/**
 * Returns the database as it is, beside a server that may be running: nothing is made, migrated or corrected.
 *
 * @throws {Error} one sentence for the operator
 */
export async function openToExamine({ dataDir, databaseUrl }: StorePlace, clock: Clock): Promise<Db> {
  const onFatal = (error: Error) => {
    throw error;
  };
  if (databaseUrl !== undefined) return openPostgres({ url: databaseUrl, clock, onError: () => {} });
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path)) throw new Error(`There is no Parley database in ${dataDir}.`);
  return openSqlite({ path, clock, onFatal });
}
