import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type pg from "pg";
import { inSentence } from "../../core/store/damage.ts";
import { DATABASE_FILE, LOCK_FILE, refuseUnfinished } from "../../core/store/data-dir.ts";
import { one, type Queryable } from "../../core/store/db.ts";
import { LONG_STATEMENT_MS, openPatientConnection, WAKE_CONNECTION } from "../../core/store/postgres/connection.ts";
import { lockForServer, takeAlone } from "../../core/store/server-lock.ts";
import { raw, type Sql, sql } from "../../core/store/sql.ts";
import type { Row } from "../model/export-lines.ts";
import { named, readTables, selectAll, type Table } from "./tables.ts";

/** A store as it was at one moment, whatever servers write meanwhile. */
export interface Moment extends Queryable {
  /** Yields every row of a table in its order, some at a time. */
  rows(table: Table): AsyncGenerator<Row[]>;
  close(): Promise<void>;
}

export interface SnapshotSource {
  dataDir: string;
  databaseUrl?: string | undefined;
  databaseListenUrl?: string | undefined;
  databaseWaitMs: number;
}

const ROWS_AT_ONCE = 1000;
const BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ";

/**
 * Opens the store as it is now. A `held` one is not written until it is closed, and no server runs on it.
 *
 * @throws {Error} one sentence for the operator: held, while a server has the store open
 */
export function openMoment(place: SnapshotSource, { isHeld }: { isHeld: boolean }): Promise<Moment> {
  return place.databaseUrl === undefined
    ? Promise.resolve(openOnSqlite(place.dataDir, isHeld))
    : openOnPostgres(place.databaseListenUrl ?? place.databaseUrl, place.databaseWaitMs, isHeld);
}

function openOnSqlite(dataDir: string, isHeld: boolean): Moment {
  refuseUnfinished(dataDir);
  const path = join(dataDir, DATABASE_FILE);
  const lock = isHeld ? lockForServer(join(dataDir, LOCK_FILE)) : undefined;
  let connection: DatabaseSync | undefined;
  try {
    if (isHeld) takeAlone(path);
    connection = new DatabaseSync(path, { readOnly: !isHeld, timeout: 5000 });
    // Of one that is not held, the moment is that of the first read.
    connection.exec(isHeld ? "BEGIN IMMEDIATE" : "BEGIN; SELECT count(*) FROM sqlite_master");
  } catch (error) {
    connection?.close();
    lock?.release();
    throw inSentence(error, path);
  }
  const open = connection;
  return {
    dialect: "sqlite",
    all: async <Row>({ sql: text, values }: Sql) => {
      try {
        return await Promise.resolve(open.prepare(text).all(...(values as SQLInputValue[])) as Row[]);
      } catch (error) {
        throw inSentence(error, path);
      }
    },
    async *rows(table) {
      try {
        yield* iterate(open, table);
      } catch (error) {
        throw inSentence(error, path);
      }
    },
    close() {
      open.close();
      lock?.release();
      return Promise.resolve();
    },
  };
}

/** Yields every row of a table of a SQLite database. */
export async function* iterate(connection: DatabaseSync, table: Table): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  for (const row of connection.prepare(selectAll(table).sql).iterate()) {
    if (rows.push(row as Row) < ROWS_AT_ONCE) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

async function openOnPostgres(url: string, waitMs: number, isHeld: boolean): Promise<Moment> {
  const limits = { idle_in_transaction_session_timeout: LONG_STATEMENT_MS };
  const client = await openPatientConnection({ url, waitMs }, "parley moment", limits);
  const all = async <Row>({ text, values }: Sql) => (await client.query({ text, values })).rows as Row[];
  const on: Queryable = { dialect: "postgres", all };
  try {
    await client.query(BEGIN);
    if (isHeld) await hold(client, on);
    await one(on, sql`SELECT parley_now() AS now`);
  } catch (error) {
    await client.end();
    throw error;
  }
  return { ...on, rows: (table) => fetchRows(on, table), close: () => client.end() };
}

/**
 * Holds off all writers until the transaction ends. The locks come before its first read, so that this sees all that
 * was written.
 */
async function hold(client: pg.Client, on: Queryable): Promise<void> {
  const { servers } = await one<{ servers: number }>(
    on,
    sql`SELECT count(*) AS servers FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${WAKE_CONNECTION}`,
  );
  if (servers > 0) {
    throw new Error("Parley servers are running on this database; stop them, so that nothing is written meanwhile.");
  }
  const tables = await readTables(on);
  await client.query("ROLLBACK");
  await client.query(BEGIN);
  for (const { name } of tables) await on.all(sql`LOCK TABLE ${named(name)} IN SHARE MODE`);
}

/** Yields every row of a table of PostgreSQL, in a transaction. */
export async function* fetchRows(on: Queryable, table: Table): AsyncGenerator<Row[]> {
  const cursor = named(`rows of ${table.name}`);
  await on.all(sql`DECLARE ${cursor} NO SCROLL CURSOR FOR ${selectAll(table)}`);
  for (;;) {
    const rows = await on.all<Row>(sql`FETCH ${raw(String(ROWS_AT_ONCE))} FROM ${cursor}`);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await on.all(sql`CLOSE ${cursor}`);
}
