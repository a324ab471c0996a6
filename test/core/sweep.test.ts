import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { deleteOldMarks, upsertSkip } from "../../src/questions/store/marks.ts";
import type { Tx } from "../../src/core/store/db.ts";
import { claimKey, deleteExpiredKeys } from "../../src/core/store/idempotency.ts";
import { countInWindow, deleteOldWindows, readWindow } from "../../src/core/store/limit-windows.ts";
import { openStore, type Store } from "../../src/core/store/open-store.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { until } from "../support/contract.ts";
import { freshDatabase } from "../support/fresh-database.ts";
import { DATABASES } from "../support/world.ts";

const LONG_AGO = 1;

for (const on of DATABASES) {
  describe(`sweeping beside other work on ${on}`, () => {
    const dataDir = mkdtempSync(join(tmpdir(), "parley-sweep-"));
    let store: Store;
    before(async () => {
      const databaseUrl = on === "postgres" ? await freshDatabase() : undefined;
      store = await openStore(
        { dataDir, keyFile: join(dataDir, "installation.key"), databaseUrl, databaseWaitMs: 60_000 },
        { clock: systemClock, random: systemRandom, log: { warn() {} }, exclusive: true, onFatal: assert.fail },
      );
    });
    after(async () => {
      await store.close();
      rmSync(dataDir, { recursive: true });
    });

    const waitingForLocks = async (): Promise<number> => {
      const [row] = await store.db.all<{ n: number }>(
        sql`SELECT count(*) AS n FROM pg_locks l JOIN pg_stat_activity a USING (pid)
          WHERE NOT l.granted AND a.datname = current_database()`,
      );
      return row?.n ?? 0;
    };

    /** Renews a row, and sweeps while that has not been committed yet. */
    async function sweepDuring(
      renew: (tx: Tx) => Promise<unknown>,
      sweep: (tx: Tx) => Promise<unknown>,
    ): Promise<void> {
      const renewed = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      const renewing = transact(store, async (tx) => {
        await renew(tx);
        renewed.resolve();
        await held.promise;
      });
      await renewed.promise;
      let isOver = false;
      const sweeping = transact(store, sweep).finally(() => (isOver = true));
      // SQLite has one writer: the sweep stands in line since it was called.
      if (on === "postgres") await until(async () => isOver || (await waitingForLocks()) > 0);
      held.resolve();
      await Promise.all([renewing, sweeping]);
    }

    it("leaves a limit's window that was just opened anew", async () => {
      await transact(store, (tx) =>
        tx.all(
          sql`INSERT INTO limit_windows (bucket, subject, opened_at, used) VALUES ('questions', 'ana', ${LONG_AGO}, 60)`,
        ),
      );
      await sweepDuring(
        (tx) => countInWindow(tx, "questions", "ana"),
        (tx) => deleteOldWindows(tx, 100),
      );
      assert.equal((await readWindow(store.db, "questions", "ana")).used, 1);
    });

    it("leaves an idempotency key that was just taken anew", async () => {
      const claim = { principal: "ana", verb: "ask", key: "once", bodyHash: "same", objectId: "second" };
      await transact(store, (tx) =>
        tx.all(sql`INSERT INTO idempotency (principal, verb, key, body_hash, object_id, expires_at)
          VALUES ('ana', 'ask', 'once', 'same', 'first', ${LONG_AGO})`),
      );
      await sweepDuring(
        (tx) => claimKey(tx, claim),
        (tx) => deleteExpiredKeys(tx, 100),
      );
      const used = await transact(store, (tx) => claimKey(tx, { ...claim, objectId: "third" }));
      assert.equal(used?.objectId, "second");
    });

    it("leaves a skip that was just renewed", async () => {
      await transact(store, (tx) =>
        tx.all(sql`INSERT INTO skips (person, ask_id, until) VALUES ('bo', 'q', ${LONG_AGO})`),
      );
      await sweepDuring(
        (tx) => upsertSkip(tx, "q", "bo", 60_000),
        (tx) => deleteOldMarks(tx, 1000, 100),
      );
      assert.equal((await store.db.all(sql`SELECT ask_id FROM skips WHERE person = 'bo'`)).length, 1);
    });
  });
}
