import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { describe, it } from "node:test";
import { OWNED_TABLES, TABLES_BY_ROOM } from "../../src/backup/store/owned-tables.ts";
import type { Queryable } from "../../src/core/store/db.ts";
import { migrateTo, SCHEMA_NUMBER } from "../../src/core/store/migrate.ts";
import { findForeignTables, FOREIGN_TABLES, foreignTablesIn } from "../support/foreign-tables.ts";

const MOST_EXCEPTIONS = 8;

/** Returns the tables of a new database, each with its columns. */
async function readSchema(): Promise<Map<string, Set<string>>> {
  using database = new DatabaseSync(":memory:");
  database.function("parley_now", () => 1);
  const all: Queryable["all"] = <Row>({ sql: text, values }: { sql: string; values: unknown[] }) =>
    Promise.resolve(database.prepare(text).all(...(values as SQLInputValue[])) as Row[]);
  await migrateTo({ dialect: "sqlite", all }, SCHEMA_NUMBER);
  const rows = database
    .prepare(
      "SELECT t.name AS name, c.name AS field FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'",
    )
    .all() as { name: string; field: string }[];
  const tables = new Map<string, Set<string>>();
  for (const { name, field } of rows.filter((row) => !row.name.startsWith("sqlite_"))) {
    tables.set(name, (tables.get(name) ?? new Set()).add(field));
  }
  return tables;
}

describe("a room owns its tables", () => {
  it("each table belongs to one room", async () => {
    const owned = OWNED_TABLES.flatMap(({ names }) => names);
    assert.deepEqual(owned.toSorted(), [...(await readSchema()).keys()].sort());
    assert.deepEqual(
      Object.keys(TABLES_BY_ROOM).filter(
        (room) => !existsSync(resolve(import.meta.dirname, `../../src/${room}/store/tables.ts`)),
      ),
      [],
    );
  });

  it("each table says what a restore does to its rows", () => {
    for (const { names, atRestore } of OWNED_TABLES) {
      assert.deepEqual(
        names.filter((name) => !Object.hasOwn(atRestore, name)),
        [],
      );
      assert.deepEqual(
        Object.keys(atRestore).filter((name) => !names.includes(name)),
        [],
      );
    }
  });

  it("a room hands over columns of its own tables alone, and such as there are", async () => {
    const schema = await readSchema();
    const wrong = Object.entries(TABLES_BY_ROOM).flatMap(([room, tables]) => {
      const { names, ownSentences = [], targets = [], unchanging = [], followed = [], sealed = [] } = tables;
      const columns = [
        ...[...ownSentences, ...targets, ...unchanging].map((place) => place.split(".")),
        ...followed.flatMap(({ from, by, to, column }) => [
          [from, by],
          [to, column],
        ]),
        ...sealed.flatMap(({ table, key, column }) => [
          [table, key],
          [table, column],
        ]),
      ];
      return columns
        .filter(([table = "", column = ""]) => !names.includes(table) || !schema.get(table)?.has(column))
        .map((place) => `${room}: ${place.join(".")}`);
    });
    assert.deepEqual(wrong, []);
  });

  it("the SQL of a room names no other's table, except those that are listed", () => {
    const isListed = (file: string, table: string) =>
      FOREIGN_TABLES.some((one) => one.file === file && one.tables.includes(table));
    const found = findForeignTables();
    assert.deepEqual(
      found
        .filter(({ file, table }) => !isListed(file, table))
        .map(({ file, line, table }) => `${file}:${line} ${table}`),
      [],
    );
    const named = new Set(found.map(({ file, table }) => `${file} ${table}`));
    assert.deepEqual(
      FOREIGN_TABLES.flatMap(({ file, tables }) => tables.map((table) => `${file} ${table}`)).filter(
        (place) => !named.has(place),
      ),
      [],
    );
    assert.ok(named.size <= MOST_EXCEPTIONS);
  });

  const asks = "src/asks/store/planted.ts";
  for (const [text, tables] of [
    ["sql`SELECT * FROM requests WHERE ask_id = ${id}`", ["requests"]],
    ["sql`SELECT a.ask_id FROM asks a JOIN\n  requests r ON r.ask_id = a.addressed_id`", ["requests"]],
    ["sql`SELECT 1 FROM jobs j, audit_head h`", ["audit_head"]],
    ["sql`UPDATE people SET name = ${name}`", ["people"]],
    ['sql`DELETE FROM "tasks"`', ["tasks"]],
    ["sql`INSERT INTO ${sql`notices`} (ask_id) VALUES (${id})`", ["notices"]],
    ["sql`AND EXISTS (${some ? sql`SELECT 1 FROM decisions` : empty})`", ["decisions"]],
    ["sql`asks.addressed_id = requests.ask_id`", ["requests"]],
    ['raw("LOCK TABLE meta IN SHARE MODE")', ["meta"]],
    ["database.exec('UPDATE meta SET commit_no = 1')", ["meta"]],
    ["sql`SELECT count(*) FROM asks JOIN jobs ON jobs.job_id = asks.job_id`", []],
    ["sql`SELECT a.keys FROM ${SHOWN_REQUESTS} a`", []],
    ["const topic = 'requests';", []],
  ] as const) {
    it(`${tables.length === 0 ? "takes" : "refuses"} ${text.replaceAll(/\s+/g, " ")} in a store of asks`, () => {
      assert.deepEqual(
        foreignTablesIn(asks, text).map(({ table }) => table),
        tables,
      );
    });
  }

  it("refuses a table in code that is of no room", () => {
    assert.equal(foreignTablesIn("src/cli/command.ts", "sql`SELECT 1 FROM asks`").length, 1);
  });
});
