import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { openMoment } from "../../src/backup/store/moment.ts";
import type { Db, Queryable, Tx } from "../../src/core/store/db.ts";
import { one } from "../../src/core/store/db.ts";
import { openStore } from "../../src/core/store/open-store.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { openAlone } from "../../src/key-rotation/store/alone.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { dropDatabase, freshDatabase } from "../support/fresh-database.ts";
import { databaseUrl } from "../support/postgres.ts";

const onError = (error: Error) => assert.fail(error);
const onFatal = onError;

async function query(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const text of statements) ({ rows } = await client.query<Record<string, unknown>>(text));
    return rows;
  } finally {
    await client.end();
  }
}

describe("a database whose sessions may be shared", () => {
  let url: string;
  let db: Db;

  before(async () => {
    url = await freshDatabase();
    db = await openPostgres({ url, listenUrl: url, onError, waitMs: 30_000 });
  });
  after(() => db.close());

  const limitsOn = (on: Queryable) =>
    one<Record<string, string>>(
      on,
      sql`SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
        current_setting('idle_in_transaction_session_timeout') AS idle`,
    );

  it("has the limits in each transaction and each read", async () => {
    const usual = { statement: "30s", lock: "20s", idle: "15s" };
    assert.deepEqual((await db.transact(limitsOn)).value, usual);
    const shared = { ...usual, statement: "15s", lock: "100ms" };
    assert.deepEqual((await db.transact(limitsOn, { rows: ["one"] })).value, shared);
    for (const limits of await Promise.all([limitsOn(db), limitsOn(db), limitsOn(db)])) assert.deepEqual(limits, usual);
  });

  it("gets nothing set that outlives a transaction", async () => {
    const afterTransaction = async (tx: Tx) => {
      await tx.all(raw("ROLLBACK"));
      return tx.all(raw("SELECT name, setting FROM pg_settings WHERE source = 'session'"));
    };
    assert.deepEqual((await db.transact(afterTransaction)).value, []);
    assert.deepEqual((await db.transact(afterTransaction, { rows: ["one"] })).value, []);
  });

  it("is refused where the address without the pooler is of another one", async () => {
    const listenUrl = await freshDatabase();
    await assert.rejects(
      openPostgres({ url, listenUrl, onError, waitMs: 30_000 }),
      /^Error: database_listen_url \(.*\) and database_url \(.*\) lead to two databases\.$/,
    );
  });

  it("is used without the pooler for the schema, notifications, long work and snapshots, and for nothing else", async () => {
    const database = await freshDatabase();
    const mark = randomBytes(8).toString("hex");
    const [pooled, own] = [`pooled_${mark}`, `own_${mark}`];
    const addressFor = (role: string) =>
      Object.assign(new URL(database), { username: role, password: mark, search: "sslmode=disable" }).href;
    // The one role cannot make a table, and the other makes them for it.
    await query(
      database,
      `CREATE ROLE ${pooled} LOGIN PASSWORD '${mark}'`,
      `CREATE ROLE ${own} LOGIN PASSWORD '${mark}'`,
      `GRANT CREATE ON SCHEMA public TO ${own}`,
      `ALTER DEFAULT PRIVILEGES FOR ROLE ${own} GRANT ALL ON TABLES TO ${pooled}`,
      `ALTER DEFAULT PRIVILEGES FOR ROLE ${own} GRANT ALL ON SEQUENCES TO ${pooled}`,
    );
    const dataDir = mkdtempSync(join(tmpdir(), "parley-pooled-"));
    const place = {
      dataDir,
      keyFile: join(dataDir, "installation.key"),
      databaseUrl: addressFor(pooled),
      databaseListenUrl: addressFor(own),
      databaseWaitMs: 30_000,
    };
    const who = async (on: Queryable) => (await one<{ who: string }>(on, sql`SELECT current_user AS who`)).who;
    try {
      const log = { warn: (details: object, message: string) => assert.fail(`${message}: ${JSON.stringify(details)}`) };
      const store = await openStore(place, { clock: systemClock, random: systemRandom, log, exclusive: true, onFatal });
      assert.equal(await who(store.db), pooled);
      assert.equal((await store.db.transact(who)).value, pooled);
      assert.equal((await store.db.transact(who, { rows: ["one"] })).value, pooled);
      assert.equal((await store.db.transact(who, { isLong: true })).value, own);
      assert.equal(await store.db.readInWorker(who), own);
      const listening = await query(
        database,
        `SELECT usename FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'parley wake'`,
      );
      assert.deepEqual(listening, [{ usename: own }]);
      await store.close();

      const moment = await openMoment(place, { isHeld: false });
      assert.equal(await who(moment), own);
      await moment.close();
      const alone = await openAlone(place, systemClock);
      assert.equal(await who(alone.tx), own);
      await alone.close();
    } finally {
      await dropDatabase(database);
      await query(await databaseUrl(), `DROP ROLE ${pooled}`, `DROP ROLE ${own}`);
    }
  });
});

describe("a database that is meant to fail over", () => {
  const describesOf = async (url: string) => {
    const db = await openPostgres({ url, onError, waitMs: 30_000 });
    await db.close();
    return db.describes;
  };
  const severalHosts = (url: string) => url.replace("@", "@127.0.0.1:1,");

  it("says when what was acknowledged may then be lost", async () => {
    const url = await freshDatabase();
    assert.match(await describesOf(url), /, checked$/);
    assert.match(
      await describesOf(severalHosts(url)),
      /, checked; a fail-over may lose what was acknowledged, because synchronous_standby_names is empty$/,
    );
    await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = local`);
    assert.match(await describesOf(severalHosts(url)), /, because synchronous_commit is local$/);
  });
});
