import { createHash } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { DATABASE_FILE, FILE_MODE } from "../../core/store/data-dir.ts";
import { one, type Queryable } from "../../core/store/db.ts";
import { lockSchema, migrateTo, SCHEMA_NUMBER } from "../../core/store/migrate.ts";
import { openPostgres } from "../../core/store/postgres/postgres.ts";
import { judgePostgresAddresses } from "../../core/store/postgres/address.ts";
import { type Sql, sql } from "../../core/store/sql.ts";
import { type Marks, readMarks } from "../../core/store/store-marks.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { printRow, type Row } from "../model/export-lines.ts";
import { fetchRows, iterate } from "./moment.ts";
import { deleteAll, goOnCounting, insertMany, insertOne, readTables, type Table } from "./tables.ts";

/** An empty store of some schema that takes rows, table by table. */
export interface Receiver extends Queryable {
  tables: readonly Table[];
  insert(table: Table, rows: readonly Row[]): Promise<void>;
  /** Yields what was taken, in its order. */
  rows(table: Table): AsyncGenerator<Row[]>;
}

/** The import into an empty store. */
export interface Receiving<T> {
  schema: number;
  /** Puts in all rows, and throws where they are not as they should be. */
  fill(receiver: Receiver): Promise<T>;
  /** Changes the rows, of this program's schema by then, within the same transaction. */
  change(on: Queryable, filled: T): Promise<void>;
}

/**
 * A new SQLite database in the folder holds the rows and has this program's schema. It is not synced, and worth nothing
 * where this throws.
 */
export async function receiveOnSqlite<T>(dataDir: string, { schema, fill, change }: Receiving<T>): Promise<T> {
  const path = join(dataDir, DATABASE_FILE);
  closeSync(openSync(path, "wx", FILE_MODE));
  const connection = openToMigrate(path);
  try {
    // The folder counts only once it is whole: rows that are lost halfway are thrown away.
    connection.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -131072; BEGIN");
    const on = queryableOf(connection);
    await migrateTo(on, schema);
    const tables = await readTables(on);
    for (const table of tables) await on.all(deleteAll(table));
    const filled = await fill({
      ...on,
      tables,
      insert: inserter(connection),
      rows: (table) => iterate(connection, table),
    });
    await migrateTo(on, SCHEMA_NUMBER);
    await change(on, filled);
    connection.exec("COMMIT");
    return filled;
  } finally {
    connection.close();
  }
}

/**
 * The SQLite database in the folder, which is of an older program, has this program's schema, and what `change` makes of
 * it. No commit is counted. Returns its marks from before.
 */
export async function upgradeSqlite(dataDir: string, change: (on: Queryable) => Promise<void>): Promise<Marks> {
  const connection = openToMigrate(join(dataDir, DATABASE_FILE));
  try {
    connection.exec("BEGIN");
    const on = queryableOf(connection);
    await migrateTo(on, SCHEMA_NUMBER);
    const marks = await readMarks(on);
    await change(on);
    connection.exec("COMMIT");
    return marks;
  } finally {
    connection.close();
  }
}

function openToMigrate(path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  connection.function("parley_now", () => 0);
  return connection;
}

function queryableOf(connection: DatabaseSync): Queryable {
  return {
    dialect: "sqlite",
    all: <Found>({ sql: text, values }: Sql) =>
      Promise.resolve(connection.prepare(text).all(...(values as SQLInputValue[])) as Found[]),
  };
}

function inserter(connection: DatabaseSync): Receiver["insert"] {
  const prepared = new Map<string, StatementSync>();
  return async (table, rows) => {
    let statement = prepared.get(table.name);
    if (!statement) prepared.set(table.name, (statement = connection.prepare(insertOne(table).sql)));
    for (const row of rows) statement.run(...table.columns.map((column) => row[column] ?? null));
    await yieldToEventLoop();
  };
}

interface PostgresPlace {
  databaseUrl: string;
  databaseListenUrl?: string | undefined;
  databaseWaitMs: number;
}

/**
 * The database, which was empty, holds the rows and has this program's schema: in one transaction, so that nothing of it
 * is there before all is.
 *
 * @param isSame whether rows that are there already are those that would be received: then nothing is done
 * @throws {Error} one sentence for the operator: it is not empty, or cannot be used
 */
export async function receiveOnPostgres<T>(
  { databaseUrl: url, databaseListenUrl: listenUrl, databaseWaitMs: waitMs }: PostgresPlace,
  { schema, fill, change }: Receiving<T>,
  isSame: (there: Receiver) => Promise<T | null> = () => Promise.resolve(null),
): Promise<T> {
  await judgePostgresAddresses(url, listenUrl);
  const db = await openPostgres({ url, listenUrl, onError: () => {}, waitMs });
  try {
    const { value } = await db.transact(
      async (tx) => {
        await lockSchema(tx);
        const there = await readTables(tx);
        if (there.length > 0) {
          const same = await isSame({ ...receiverOn(tx), tables: there });
          if (same !== null) return same;
          const { name } = await one<{ name: string }>(tx, sql`SELECT current_database() AS name`);
          throw new Error(`The database ${name} is not empty; name one without any tables.`);
        }
        await migrateTo(tx, schema);
        const tables = await readTables(tx);
        // Rows that refer to others are deleted before those.
        for (const table of tables.toReversed()) await tx.all(deleteAll(table));
        const filled = await fill({ ...receiverOn(tx), tables });
        await migrateTo(tx, SCHEMA_NUMBER);
        await goOnCounting(tx);
        await change(tx, filled);
        // point: import-before-commit
        return filled;
      },
      { isLong: true },
    );
    return value;
  } finally {
    await db.close();
  }
}

const receiverOn = (tx: Queryable): Omit<Receiver, "tables"> => ({
  dialect: tx.dialect,
  all: (statement) => tx.all(statement),
  insert: async (table, rows) => void (await tx.all(insertMany(table, JSON.stringify(rows)))),
  rows: (table) => fetchRows(tx, table),
});

/** Returns the digest of all rows that were taken, in order, as the lines of an archive say them. */
export async function digestOf({ tables, rows }: Receiver, onRows: (done: number) => void): Promise<string> {
  const digest = createHash("sha256");
  let done = 0;
  for (const table of tables) {
    for await (const some of rows(table)) {
      digest.update(some.map((row) => printRow(table.name, row)).join(""));
      onRows((done += some.length));
    }
  }
  return digest.digest("hex");
}
