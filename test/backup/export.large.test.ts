import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { readTables } from "../../src/backup/store/tables.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { openSqlite } from "../../src/core/store/sqlite/sqlite.ts";
import { CALLS, openSite, QUESTION, ROOMY, type Site } from "../support/backup-site.ts";
import { dropDatabase, freshDatabase, migratedDatabase, writeMigratedDatabase } from "../support/fresh-database.ts";
import { newFolder, parley, post, serve, stop } from "../support/program.ts";

const rowsOf = (out: string) => /^rows {4}(\d+), SHA-256 ([0-9a-f]{64})\nrecord {2}(.*)$/m.exec(out)?.slice(1);
const PATIENT = 60_000;
const KEEPING = ["--keep-access", "--send"];

describe("a store that is carried to another engine", () => {
  let site: Site;
  let folder: string;
  let file: string;
  let rows: string[] | undefined;
  const databases: string[] = [];
  const newDatabase = async () => {
    const url = await freshDatabase();
    databases.push(url);
    return url;
  };

  before(async () => {
    folder = newFolder();
    mkdirSync(folder);
    site = await openSite();
    assert.equal((await site.put("out/report.md", `${"x".repeat(500_000)}\u2028end`)).status, 201);
    assert.equal((await site.put("empty", "")).status, 201);
    await post(
      site.server.url,
      "/agent/questions",
      { ...QUESTION, prompt: "Wörter\u2028 in 'two' \"lines\" 🙂?" },
      site.agent,
    );
    const spec = { fn: "deploy", kwargs: { to: "production" } };
    await post(site.server.url, CALLS, { run_id: "r", call_id: "c", spec }, site.agent);
    file = join(folder, "taken.jsonl");
    const running = await parley(["export", file, "--data-dir", site.dataDir]);
    assert.equal(running.code, 0, running.err);
    const held = await parley(["move", "--to", join(folder, "held"), "--data-dir", site.dataDir]);
    assert.equal(held.code, 1);
    assert.match(held.err, /^parley: Another Parley server is using .*; stop it/);
    assert.equal(await stop(site.server), 0);
    const stopped = join(folder, "stopped.jsonl");
    const { code, out, err } = await parley(["export", stopped, "--data-dir", site.dataDir]);
    assert.equal(code, 0, err);
    rows = rowsOf(out);
    assert.ok(rows);
    file = stopped;
  });
  after(async () => {
    for (const url of databases) await dropDatabase(url);
  });

  it("goes by a file to PostgreSQL and back, with the same rows, record and files", async () => {
    const url = await newDatabase();
    const there = newFolder();
    const imported = await parley(["import", file, "--data-dir", there, ...KEEPING], { DATABASE_URL: url });
    assert.equal(imported.code, 0, imported.out + imported.err);
    assert.deepEqual(rowsOf(imported.out), rows);
    assert.match(imported.out, /\nEverything holds\.\n/);
    const again = join(folder, "postgres.jsonl");
    const exported = await parley(["export", again, "--data-dir", there], { DATABASE_URL: url });
    const carried = rowsOf(exported.out);
    assert.equal(carried?.[2], rows?.[2], exported.err);
    const back = newFolder();
    const returned = await parley(["import", again, "--data-dir", back, ...KEEPING]);
    assert.equal(returned.code, 0, returned.out + returned.err);
    assert.deepEqual(rowsOf(returned.out), carried);
    const server = await serve(back, ROOMY);
    const report = await (await site.read(server.url, "out/report.md")).text();
    assert.equal(report, `${"x".repeat(500_000)}\u2028end`);
    assert.equal(await (await site.read(server.url, "empty")).text(), "");
    assert.equal((await post(server.url, "/agent/questions", QUESTION, site.agent)).status, 201);
    assert.equal(await stop(server), 0);
  });

  it("moves to PostgreSQL, where a server runs on it, and back into a folder", async () => {
    const url = await newDatabase();
    const moved = await parley(["move", "--data-dir", site.dataDir], { PARLEY_MOVE_TO: url });
    assert.equal(moved.code, 0, moved.out + moved.err);
    assert.deepEqual(rowsOf(moved.out), rows);
    const full = await parley(["move", "--data-dir", site.dataDir], { PARLEY_MOVE_TO: url });
    assert.equal(full.code, 1);
    assert.match(full.err, /^parley: The database \S+ is not empty; name one without any tables\.$/m);

    const server = await serve(site.dataDir, { ...ROOMY, DATABASE_URL: url });
    assert.equal((await post(server.url, "/agent/questions", QUESTION, site.agent)).status, 201);
    // The counters of the database go on after the moved rows.
    const spec = { fn: "deploy", kwargs: {} };
    assert.equal((await post(server.url, CALLS, { run_id: "r", call_id: "c2", spec }, site.agent)).status, 200);
    const back = newFolder();
    const held = await parley(["move", "--to", back, "--data-dir", site.dataDir], { DATABASE_URL: url });
    assert.equal(held.code, 1);
    assert.match(held.err, /Parley servers are running on this database; stop them/);
    assert.equal(await stop(server), 0);
    const returned = await parley(["move", "--to", back, "--data-dir", site.dataDir], { DATABASE_URL: url });
    assert.equal(returned.code, 0, returned.out + returned.err);
    assert.match(returned.out, /\nEverything holds\.\nStart it with: parley serve --data-dir \S+\n$/);
    assert.ok(Number(rowsOf(returned.out)?.[0]) > Number(rows?.[0]));
    const last = await serve(back, ROOMY);
    assert.equal((await site.read(last.url, "out/report.md")).status, 200);
    assert.equal(await stop(last), 0);
  });

  it("shows no password of an address that cannot be used", async () => {
    for (const to of ["postgres://parley:hunter2@127.0.0.1:1/parley", "postgres://parley:hunter2@[nowhere/parley"]) {
      const { code, out, err } = await parley(["move", "--to", to, "--data-dir", site.dataDir]);
      assert.notEqual(code, 0);
      assert.ok(!`${out}${err}`.includes("hunter2"), `${out}${err}`);
    }
  });

  it("is refused in the words of its command where the file is damaged, newer or another", async () => {
    const text = readFileSync(file, "utf8");
    const path = join(folder, "changed.jsonl");
    for (const [changed, says] of [
      [text.slice(0, -1000), /^parley: .* is damaged \(.+\); nothing was imported from it\. Make another export\.\n$/],
      [
        text.replace('"schema":', '"schema":9'),
        /^parley: The export was made by a newer Parley .*; import it with that/,
      ],
      ["{}\n", /is not an export that parley export has made\.\n$/],
    ] as const) {
      writeFileSync(path, changed);
      const { code, out, err } = await parley(["import", path, "--data-dir", join(folder, "nothing")]);
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, says);
    }
  });

  it("of the first format is imported and restored: its first line has the counts", async () => {
    const lines = readFileSync(file, "utf8").split("\n");
    const { end } = JSON.parse(lines.at(-2) ?? "") as {
      end: { made_at: string; tables: object; rows: number; sha256: string };
    };
    const { made_at, tables, ...first } = end;
    const header = { ...(JSON.parse(lines[0] ?? "") as object), format: 1, made_at, tables };
    const former = join(folder, "former.jsonl");
    writeFileSync(
      former,
      [JSON.stringify(header), ...lines.slice(1, -2), JSON.stringify({ end: first }), ""].join("\n"),
    );
    for (const command of ["import", "restore"]) {
      const { code, out, err } = await parley([command, former, "--data-dir", newFolder()]);
      assert.equal(code, 0, out + err);
      assert.deepEqual(rowsOf(out), rows);
      assert.match(out, new RegExp(`ed as it was at ${made_at}\n`));
    }
  });
});

describe("the tables of an export", () => {
  it("are those of the schema, whichever there are, in one order on both engines", async () => {
    const path = join(newFolder(), "parley.db");
    mkdirSync(join(path, ".."));
    await writeMigratedDatabase(path);
    const url = await migratedDatabase();
    const onFatal = (error: Error) => assert.fail(error);
    const sqlite = openSqlite({ path, clock: { now: () => 0 }, onFatal });
    const postgres = await openPostgres({ url, onError: onFatal, waitMs: PATIENT });
    const tables = await readTables(sqlite);
    assert.deepEqual(await readTables(postgres), tables);
    await sqlite.close();
    await postgres.close();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    await client.end();
    await dropDatabase(url);
    assert.deepEqual(tables.map(({ name }) => name).sort(), rows.map(({ name }) => name).sort());
  });

  it("hold a table that nobody has told the export of, and a row of every other", async () => {
    const site = await openSite();
    assert.equal(await stop(site.server), 0);
    const database = new DatabaseSync(join(site.dataDir, "parley.db"), { enableForeignKeyConstraints: false });
    database.exec("PRAGMA ignore_check_constraints = ON; CREATE TABLE later_things (id TEXT PRIMARY KEY, n INTEGER)");
    const named = database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all() as { name: string }[];
    for (const { name } of named) {
      if (database.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get()) continue;
      const columns = database.prepare("SELECT type FROM pragma_table_info(?)").all(name) as { type: string }[];
      const values = columns.map(({ type }) => (type === "INTEGER" ? "7" : `'in ${name}'`));
      database.exec(`INSERT INTO "${name}" VALUES (${values.join(", ")})`);
    }
    database.close();
    const file = `${newFolder()}.jsonl`;
    const { code, err } = await parley(["export", file, "--data-dir", site.dataDir]);
    assert.equal(code, 0, err);
    const text = readFileSync(file, "utf8");
    for (const { name } of named) assert.ok(text.includes(`\n{"table":"${name}","row":{`), name);
    const { err: refused } = await parley(["import", file, "--data-dir", newFolder()]);
    assert.match(refused, /is damaged \(schema \d+ has no table later_things\)/);
  });
});
