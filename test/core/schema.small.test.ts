import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Queryable } from "../../src/core/store/db.ts";
import { migrateTo, SCHEMA_NUMBER } from "../../src/core/store/migrate.ts";

const page: { PAGE: URL; schemaPage(): Promise<string>; schemaText(database: DatabaseSync): string } = await import(
  new URL("../../scripts/schema.mjs", import.meta.url).href
);

function queryable(database: DatabaseSync): Queryable {
  database.function("parley_now", () => 1);
  const all: Queryable["all"] = <Row>({ sql, values }: { sql: string; values: unknown[] }) =>
    Promise.resolve(database.prepare(sql).all(...(values as SQLInputValue[])) as Row[]);
  return { dialect: "sqlite", all };
}

async function newDatabase(number = SCHEMA_NUMBER): Promise<DatabaseSync> {
  const database = new DatabaseSync(":memory:");
  await migrateTo(queryable(database), number);
  return database;
}

describe("the schema", () => {
  it("is what its page shows", async () => {
    const told = "node scripts/schema.mjs writes the page";
    assert.equal(readFileSync(page.PAGE, "utf8"), await page.schemaPage(), told);
  });

  for (const version of ["0.1.0", "0.2.0"]) {
    it(`of a store of ${version} is that of a new one once it is upgraded`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "parley-schema-"));
      try {
        const path = join(folder, "store");
        const store = new URL(`released-stores/${version}-sqlite.db.gz`, import.meta.url);
        writeFileSync(path, gunzipSync(readFileSync(store)));
        using database = new DatabaseSync(path);
        await migrateTo(queryable(database), SCHEMA_NUMBER);
        using fresh = await newDatabase();
        assert.equal(page.schemaText(database), page.schemaText(fresh));
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }

  it("is refused where a program from before 0.1.0 made it, and where a newer one did", async () => {
    using database = await newDatabase();
    const renumber = (number: number) => {
      database.exec("DELETE FROM migrations");
      database.prepare("INSERT INTO migrations VALUES (?, 'other')").run(number);
    };
    for (const [number, told] of [
      [21, /^The data was written before Parley 0\.1\.0 \(schema 21\); it is read from schema 22 on\.$/],
      [SCHEMA_NUMBER + 1, /^The data was written by a newer Parley /],
    ] as const) {
      renumber(number);
      await assert.rejects(migrateTo(queryable(database), SCHEMA_NUMBER), { message: told });
    }
  });
});
