import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import type { Db, Queryable, Tx } from "../../src/core/store/db.ts";
import { one } from "../../src/core/store/db.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { sql } from "../../src/core/store/sql.ts";
import { Refusal } from "../../src/refusals.ts";
import { freshDatabase } from "../support/fresh-database.ts";

const MANY = 40;

/** Returns the number of the database's own transaction that does the work. */
async function numberOf(tx: Tx): Promise<string> {
  return (await one<{ id: string }>(tx, sql`SELECT pg_current_xact_id()::text AS id`)).id;
}

const add = (tx: Tx, id: string) => tx.all(sql`INSERT INTO marks (id, n) VALUES (${id}, 1)`);

describe("transactions that share a commit on PostgreSQL", () => {
  let db: Db;
  let url: string;

  before(async () => {
    url = await freshDatabase();
    db = await openPostgres({ url, onError: (error) => assert.fail(error), waitMs: 20_000 });
    await db.transact((tx) => tx.all(sql`CREATE TABLE marks (id TEXT PRIMARY KEY, n BIGINT)`));
  });
  after(() => db.close());

  const marks = async (like: string) =>
    (await db.all<{ id: string }>(sql`SELECT id FROM marks WHERE id LIKE ${like} ORDER BY id`)).map(({ id }) => id);

  it("are fewer for the database than for those who asked for them, and each is there", async () => {
    const numbers = await Promise.all(
      Array.from({ length: MANY }, async (_, i) => {
        const work = async (tx: Tx) => {
          await add(tx, `shared-${i}`);
          return numberOf(tx);
        };
        return (await db.transact(work, { rows: [`mark ${i}`] })).value;
      }),
    );
    assert.equal((await marks("shared-%")).length, MANY);
    assert.ok(new Set(numbers).size <= 3, `${new Set(numbers).size} transactions`);
  });

  it("run one after another where they name the same row, so that none decides by what another is about to change", async () => {
    await db.transact((tx) => add(tx, "counted"));
    const work = async (tx: Tx) => {
      const { n } = await one<{ n: number }>(tx, sql`UPDATE marks SET n = n WHERE id = 'counted' RETURNING n`);
      await tx.all(sql`UPDATE marks SET n = ${n + 1} WHERE id = 'counted'`);
    };
    await Promise.all(
      Array.from({ length: MANY }, (_, i) => db.transact(work, { rows: ["mark counted", `own ${i}`] })),
    );
    assert.equal((await one<{ n: number }>(db, sql`SELECT n FROM marks WHERE id = 'counted'`)).n, 1 + MANY);
  });

  it("leave nothing of one that fails after it has written, and lose nothing of the others", async () => {
    const runs = new Map<number, number>();
    const ends = await Promise.allSettled(
      Array.from({ length: MANY }, (_, i) => {
        const work = async (tx: Tx) => {
          runs.set(i, (runs.get(i) ?? 0) + 1);
          await add(tx, `part-${String(i).padStart(2, "0")}`);
          if (i % 10 === 3) throw new Refusal("quota_exceeded");
        };
        return db.transact(work, { rows: [`part ${i}`] });
      }),
    );
    assert.deepEqual(
      ends.flatMap(({ status }, i) => (status === "rejected" ? [i] : [])),
      [3, 13, 23, 33],
    );
    assert.equal((await marks("part-%")).length, MANY - 4);
    assert.ok(Math.max(...runs.values()) <= 3);
  });

  it("stand where another was refused before it wrote, or failed by a statement", async () => {
    const [stood, refused, broken] = await Promise.allSettled([
      db.transact((tx) => add(tx, "stood"), { rows: ["a"] }),
      db.transact(
        async (tx) => {
          await tx.all(sql`UPDATE marks SET n = n WHERE id = 'nowhere'`);
          throw new Refusal("question_not_found");
        },
        { rows: ["b"] },
      ),
      db.transact((tx) => tx.all(sql`SELECT 1 / (SELECT count(*) FROM marks WHERE id = 'nowhere')`), { rows: ["c"] }),
    ]);
    assert.equal(stood.status, "fulfilled");
    assert.equal(refused.status === "rejected" && (refused.reason as Refusal).code, "question_not_found");
    assert.equal(broken.status === "rejected" && (broken.reason as { code?: string }).code, "22012");
    assert.deepEqual(await marks("stood"), ["stood"]);
  });

  it("wait for nobody's row: whoever wants it runs alone", async () => {
    await db.transact((tx) => add(tx, "wanted"));
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query("BEGIN");
    await holder.query("SELECT 1 FROM marks WHERE id = 'wanted' FOR UPDATE");
    let isDone = false;
    const waiting = db
      .transact((tx) => tx.all(sql`UPDATE marks SET n = 2 WHERE id = 'wanted'`), { rows: ["wanted"] })
      .finally(() => (isDone = true));
    await Promise.all(
      Array.from({ length: MANY }, (_, i) => db.transact((tx) => add(tx, `beside-${i}`), { rows: [`beside ${i}`] })),
    );
    assert.equal((await marks("beside-%")).length, MANY);
    assert.equal(isDone, false);
    await holder.query("ROLLBACK");
    await holder.end();
    await waiting;
    assert.equal((await one<{ n: number }>(db, sql`SELECT n FROM marks WHERE id = 'wanted'`)).n, 2);
  });

  it("are refused where a thousand wait for the same row, and not for another", async () => {
    const look = (row: string) => db.transact((tx) => tx.all(sql`SELECT 1`), { rows: [row] });
    const waiting = Array.from({ length: 1010 }, () => look("longed for"));
    const other = look("other");
    const ends = await Promise.allSettled(waiting);
    const refused = ends.flatMap((end) => (end.status === "rejected" ? [(end.reason as Refusal).code] : []));
    assert.deepEqual(refused, Array(10).fill("store_unavailable"));
    await other;
  });

  it("wait for no member whose statement takes long", async () => {
    const hasty = await openPostgres({ url, onError: (error) => assert.fail(error), waitMs: 1000 });
    const slow = hasty.transact((tx) => tx.all(sql`SELECT pg_sleep(60)`), { rows: ["slow"] });
    const [, beside] = await Promise.allSettled([slow, hasty.transact((tx) => add(tx, "by slow"), { rows: ["a"] })]);
    await hasty.close();
    assert.equal(beside.status, "fulfilled");
  });

  it("wait for no member that has stopped for good", async () => {
    const hasty = await openPostgres({ url, onError: (error) => assert.fail(error), waitMs: 1000 });
    const end = Promise.withResolvers<void>();
    const stopped = hasty.transact(() => end.promise, { rows: ["stopped"] });
    try {
      await hasty.transact((tx) => add(tx, "with stopped"), { rows: ["a"] });
      await hasty.transact((tx) => add(tx, "after stopped"), { rows: ["b"] });
      assert.deepEqual(await marks("% stopped"), ["after stopped", "with stopped"]);
    } finally {
      end.resolve();
      await stopped.catch(() => {});
      await hasty.close();
    }
  });

  it("are left by one that wants to run by itself", async () => {
    const work = (alone: boolean) => async (tx: Tx) => {
      if (alone) tx.runAlone?.();
      return numberOf(tx);
    };
    const [apart, ...together] = await Promise.all(
      [true, false, false].map((alone, i) => db.transact(work(alone), { rows: [`apart ${i}`] })),
    );
    const numbers = new Set(together.map(({ value }) => value));
    assert.equal(apart && numbers.has(apart.value), false);
  });
});

describe("statements that are asked for at once on PostgreSQL", () => {
  it("each have their own rows or error, in a transaction and outside", async () => {
    const db = await openPostgres({
      url: await freshDatabase(),
      onError: (error) => assert.fail(error),
      waitMs: 20_000,
    });
    try {
      const number = (n: number) => db.all<{ n: number }>(sql`SELECT ${n}::bigint / (${n}::bigint - 3) AS n`);
      // The first run of a text tells that it is quick; the others share their way.
      for (let round = 0; round < 3; round += 1) {
        const ends = await Promise.allSettled([1, 2, 3, 4, 5].map(number));
        assert.deepEqual(
          ends.map((end) => (end.status === "fulfilled" ? end.value : (end.reason as { code?: string }).code)),
          [[{ n: 0 }], [{ n: -2 }], "22012", [{ n: 4 }], [{ n: 2 }]],
        );
      }
      const { value } = await db.transact((tx) =>
        Promise.all([
          tx.all(sql`SELECT 'é' AS text, NULL AS none`),
          tx.all(sql`SELECT 2 AS n`),
          tx.all(sql`SELECT 1 WHERE false`),
        ]),
      );
      assert.deepEqual(value, [[{ text: "é", none: null }], [{ n: 2 }], []]);
      await assert.rejects(
        db.transact((tx) => Promise.all([tx.all(sql`SELECT 1 / 0`), tx.all(sql`SELECT 2 AS n`)])),
        { code: "22012" },
      );
    } finally {
      await db.close();
    }
  });

  it("give the columns of their table also when another server has changed it, or plans are gone", async () => {
    const url = await freshDatabase();
    const db = await openPostgres({ url, onError: (error) => assert.fail(error), waitMs: 20_000 });
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    try {
      await other.query("CREATE TABLE marks AS SELECT 'first' AS id");
      const lock = (tx: Tx) => tx.all(sql`UPDATE marks SET id = id WHERE id = 'first' RETURNING *, 1 AS now`);
      const read = (on: Queryable) => on.all(sql`SELECT *, 2 AS now FROM marks`);
      const readTwice = (tx: Tx) => Promise.all([read(tx), tx.all(sql`SELECT *, 3 AS now FROM marks`)]);
      const all = async () => [
        await read(db),
        ...(await Promise.all([read(db), read(db)])),
        (await db.transact(lock)).value,
        (await db.transact(lock, { rows: ["first"] })).value,
        ...(await db.transact(readTwice)).value,
        ...(await db.transact(readTwice, { rows: ["first"] })).value,
      ];
      const rows = (more: object) => [2, 2, 2, 1, 1, 2, 3, 2, 3].map((now) => [{ id: "first", ...more, now }]);
      assert.deepEqual([await all(), await all()], [rows({}), rows({})]);
      await other.query("ALTER TABLE marks ADD COLUMN more TEXT");
      assert.deepEqual([await all(), await all()], [rows({ more: null }), rows({ more: null })]);
      // As a pooler does between two that it lends a connection to.
      const forget = (on: Queryable) => on.all(sql`DEALLOCATE ALL`);
      await Promise.all([forget(db), db.transact(forget), db.transact(forget, { rows: [] })]);
      assert.deepEqual(await all(), rows({ more: null }));
    } finally {
      await other.end();
      await db.close();
    }
  });
});
