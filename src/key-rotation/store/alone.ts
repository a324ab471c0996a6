import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { readClockMark } from "../../core/store/clock/check-clock.ts";
import { inSentence } from "../../core/store/damage.ts";
import { DATABASE_FILE, LOCK_FILE, refuseUnfinished } from "../../core/store/data-dir.ts";
import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { countCommit } from "../../core/store/store-marks.ts";
import { BEGIN_LONG, openPatientConnection } from "../../core/store/postgres/connection.ts";
import { lockForServer, takeAlone } from "../../core/store/server-lock.ts";
import { lockSecrets } from "../../core/store/sealed-secrets.ts";
import { type Sql, sql } from "../../core/store/sql.ts";
import { openStoreClock } from "../../core/store/clock/store-clock.ts";
import type { Clock } from "../../lib/clock.ts";

/** A store that nobody else changes the key of, and nobody else uses once `begin` is done. */
export interface StoreAlone {
  /** Reads before `begin`; what it writes afterwards commits with `commit`, or not at all. */
  tx: Tx;
  /** @throws {Error} one sentence for the operator: a server or a command of Parley uses the store */
  begin(): Promise<void>;
  commit(): Promise<void>;
  close(): Promise<void>;
}

export interface ExclusiveStoreAddress {
  dataDir: string;
  databaseUrl?: string | undefined;
  databaseListenUrl?: string | undefined;
  databaseWaitMs: number;
}

/** @throws {Error} one sentence for the operator */
export function openAlone(place: ExclusiveStoreAddress, clock: Clock): Promise<StoreAlone> {
  return place.databaseUrl === undefined
    ? openOnSqlite(place.dataDir, clock)
    : openOnPostgres(place, place.databaseListenUrl ?? place.databaseUrl);
}

const STOP_FIRST = "so that nothing is written under the old key meanwhile; start it again afterwards.";
const nobodyHears = { wake: () => {}, tell: () => {} };

async function openOnSqlite(dataDir: string, clock: Clock): Promise<StoreAlone> {
  refuseUnfinished(dataDir);
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path)) throw new Error(`There is no Parley database in ${dataDir}.`);
  const lock = lockServer(dataDir);
  let connection: DatabaseSync | undefined;
  const close = () => {
    if (connection?.isOpen) connection.close();
    lock.release();
    return Promise.resolve();
  };
  try {
    takeAlone(path);
    const open = (connection = new DatabaseSync(path, { timeout: 5000 }));
    const storeClock = openStoreClock(clock);
    open.function("parley_now", () => storeClock.now());
    // From here on nobody else reads or writes the file, until it is closed. Overwritten rows leave no old bytes.
    open.exec("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    const all = <Row>({ sql: text, values }: Sql) =>
      Promise.resolve(open.prepare(text).all(...(values as SQLInputValue[])) as Row[]);
    const tx: Tx = { dialect: "sqlite", all, ...nobodyHears };
    const mark = await readClockMark(tx);
    if (mark) storeClock.goOnFrom(mark);
    return {
      tx,
      begin: () => Promise.resolve(),
      async commit() {
        await countCommit(tx);
        open.exec("COMMIT");
      },
      close,
    };
  } catch (error) {
    await close();
    throw inSentence(error, path);
  }
}

function lockServer(dataDir: string): { release(): void } {
  try {
    return lockForServer(join(dataDir, LOCK_FILE));
  } catch (error) {
    const words = (error as Error).message;
    if (!words.startsWith("Another Parley server")) throw error;
    throw new Error(`A Parley server is running on ${dataDir}; stop it with parley stop, ${STOP_FIRST}`, {
      cause: error,
    });
  }
}

/** The lock that a process holds while it changes the key of this database. */
const TURN = "parley keys rotate-installation";

async function openOnPostgres(place: ExclusiveStoreAddress, url: string): Promise<StoreAlone> {
  const isPooled = place.databaseListenUrl !== undefined;
  const client = await openPatientConnection({ url, waitMs: place.databaseWaitMs }, "parley rotate");
  const all = async <Row>({ text, values }: Sql) => (await client.query({ text, values })).rows as Row[];
  const tx: Tx = { dialect: "postgres", all, ...nobodyHears };
  try {
    const { taken } = await one<{ taken: boolean }>(
      tx,
      sql`SELECT pg_try_advisory_lock(hashtextextended(${TURN}, 0)) AS taken`,
    );
    if (!taken) throw new Error("Another parley keys rotate-installation is at work on this database.");
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    tx,
    async begin() {
      await refuseOthers(tx, isPooled);
      await client.query(BEGIN_LONG);
      // A server that starts from now on reads the sealed secrets before anything else, and waits here.
      await lockSecrets(tx);
      await refuseOthers(tx, isPooled);
    },
    async commit() {
      const { command } = await client.query("COMMIT");
      if (command !== "COMMIT") throw new Error("the transaction had failed before its commit");
    },
    close: () => client.end(),
  };
}

async function refuseOthers(on: Queryable, isPooled: boolean): Promise<void> {
  const { others } = await one<{ others: number }>(
    on,
    sql`SELECT count(*) AS others FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'parley%'`,
  );
  if (others === 0) return;
  const idle = isPooled ? " The pooler's idle sessions count, too: RECONNECT in PgBouncer's console ends them." : "";
  throw new Error(
    `Servers or commands of Parley are using this database (${others} connections); stop every server, ${STOP_FIRST.replace("it again", "them again, each with the new key,")}${idle}`,
  );
}
