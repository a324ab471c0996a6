import assert from "node:assert/strict";
import { it } from "node:test";
import { one, storeNow, type Tx } from "../../src/core/store/db.ts";
import { lockedRows } from "../../src/core/store/locked-rows.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { sql } from "../../src/core/store/sql.ts";
import { freshDatabase } from "../support/fresh-database.ts";
import { until } from "../support/contract.ts";

const lockedMark = (tx: Tx) => one<{ n: number; now: number }>(tx, lockedRows(tx, "marks", sql`id = ${"one"}`));

it("reads a row and the clock on PostgreSQL after the wait for its lock, whether the holder changed it or not", async () => {
  const db = await openPostgres({
    url: await freshDatabase(),
    onError: (error) => assert.fail(error),
    waitMs: 20_000,
  });
  /** Locks the row, does `change`, and lets the row go once the other waits for it and the clock has gone on. */
  async function readBehind(change: (tx: Tx) => Promise<unknown>): Promise<{ n: number; now: number; freeAt: number }> {
    let freeAt = 0;
    let other: Promise<{ n: number; now: number }> | undefined;
    const holder = db.transact(async (tx) => {
      await lockedMark(tx);
      other = db.transact(lockedMark).then(({ value }) => value);
      const waiting = sql`SELECT count(*) AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until(async () => (await one<{ n: number }>(db, waiting)).n === 1);
      const seenAt = await storeNow(tx);
      await until(async () => (freeAt = await storeNow(tx)) > seenAt);
      await change(tx);
    });
    await holder.catch(() => undefined);
    assert.ok(other);
    return { ...(await other), freeAt };
  }
  try {
    await db.transact((tx) =>
      tx.all(sql`CREATE FUNCTION parley_now() RETURNS bigint LANGUAGE sql VOLATILE
      AS $body$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $body$`),
    );
    await db.transact((tx) => tx.all(sql`CREATE TABLE marks (id TEXT PRIMARY KEY, n BIGINT)`));
    await db.transact((tx) => tx.all(sql`INSERT INTO marks (id, n) VALUES ('one', 1)`));

    const changed = await readBehind((tx) => tx.all(sql`UPDATE marks SET n = 2 WHERE id = 'one'`));
    assert.equal(changed.n, 2);
    assert.ok(changed.now >= changed.freeAt, `the clock was read ${changed.freeAt - changed.now} ms too early`);

    const undone = await readBehind(async (tx) => {
      await tx.all(sql`UPDATE marks SET n = 3 WHERE id = 'one'`);
      throw new Error("undone");
    });
    assert.equal(undone.n, 2);
    assert.ok(undone.now >= undone.freeAt, `the clock was read ${undone.freeAt - undone.now} ms too early`);
  } finally {
    await db.close();
  }
});
