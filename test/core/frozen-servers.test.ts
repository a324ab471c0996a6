import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { loadConfig } from "../../src/config/config.ts";
import { Refusal } from "../../src/refusals.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { LABELS, limitsOf, ROOMY, until } from "../support/contract.ts";
import { openWorld } from "../support/world.ts";

const WAIT = { PARLEY_DATABASE_WAIT_MS: "6000" };

// Each waits in real time for what the database itself measures, and none needs another.
describe("servers that share a database with one that stands still", { concurrency: true }, () => {
  describe("a row that somebody holds and does not let go", () => {
    it("delays only what is written to it, which is refused with when to come again", async () => {
      await using world = await openWorld({ on: "postgres", env: WAIT });
      const agent = world.agent("ana-bot");
      const held = await agent.ask({ options: LABELS });
      const other = await agent.ask({ options: LABELS });
      const holder = new pg.Client({ connectionString: world.config.databaseUrl });
      await holder.connect();
      await holder.query("BEGIN");
      await holder.query("SELECT ask_id FROM questions WHERE ask_id = $1 FOR UPDATE", [held.id]);
      await holder.query("SELECT key FROM idempotency FOR UPDATE");

      const [stuck, cancelled, free, read] = await Promise.all([
        world.person("bo").answer(held, 0),
        agent.cancel(held.id),
        world.person("cy").answer(other, 1),
        agent.poll(held.id),
      ]);
      assert.deepEqual([free.status, read.status], [201, 200]);
      for (const reply of [stuck, cancelled]) {
        assert.deepEqual(
          [reply.status, reply.body.error.code, limitsOf(reply).retryAfter],
          [503, "STORE_UNAVAILABLE", 5],
        );
      }
      await holder.query("ROLLBACK");
      await holder.end();
      assert.equal((await world.person("bo").answer(held, 0)).status, 201);
    });
  });

  describe("a burst of writes that somebody holds up", () => {
    it("keeps no read waiting, however many they are, and those of it that cannot go on are refused", async () => {
      // Thirty reads are done long before the first write gives up, on a busy machine too.
      await using world = await openWorld({ on: "postgres", env: { ...ROOMY, PARLEY_DATABASE_WAIT_MS: "8000" } });
      const agent = world.agent("ana-bot");
      const held = await agent.ask({ options: LABELS });
      const holder = new pg.Client({ connectionString: world.config.databaseUrl });
      await holder.connect();
      await holder.query("BEGIN");
      await holder.query("SELECT ask_id FROM questions WHERE ask_id = $1 FOR UPDATE", [held.id]);
      // A transaction reads the activity of others only once, so the watcher is not in the holder's transaction.
      const watcher = new pg.Client({ connectionString: world.config.databaseUrl });
      await watcher.connect();
      const waiting = async () => {
        const { rows } = await watcher.query<{ n: string }>(
          `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return Number(rows[0]?.n);
      };

      let told = 0;
      const burst = Array.from({ length: 40 }, async () => {
        const reply = await agent.cancel(held.id);
        told += 1;
        return reply;
      });
      await until(async () => (await waiting()) >= 15);
      await watcher.end();
      const reads = await Promise.all(Array.from({ length: 30 }, () => agent.poll(held.id)));
      assert.deepEqual(new Set(reads.map(({ status }) => status)), new Set([200]));
      assert.equal(told, 0, "reads were answered while every write still waited");
      for (const reply of await Promise.all(burst)) {
        assert.deepEqual([reply.status, limitsOf(reply).retryAfter], [503, 5]);
      }
      await holder.query("ROLLBACK");
      await holder.end();
      assert.equal((await agent.cancel(held.id)).status, 200);
    });
  });

  describe("a transaction whose server stands still", () => {
    it("is ended by the database, which gives its rows to others; whoever stood still finds that nothing was done", async () => {
      await using world = await openWorld({ on: "postgres", env: WAIT });
      const other = await world.addNode();
      const { ctx } = world.server;
      await transact(ctx, (tx) => tx.all(sql`CREATE TABLE turns (id INTEGER PRIMARY KEY, who TEXT)`));
      await transact(ctx, (tx) => tx.all(sql`INSERT INTO turns (id, who) VALUES (1, 'nobody')`));
      const taken = Promise.withResolvers<undefined>();
      const thawed = Promise.withResolvers<undefined>();
      let runs = 0;
      const still = transact(ctx, async (tx) => {
        runs += 1;
        await tx.all(sql`UPDATE turns SET who = who || ', frozen' WHERE id = 1`);
        taken.resolve(undefined);
        // The process seems stopped: it does nothing until the test lets it go on.
        await thawed.promise;
        return tx.all<{ who: string }>(sql`SELECT who FROM turns WHERE id = 1`);
      }).then(
        (rows) => rows[0]?.who,
        (error: { code?: string }) => error.code,
      );
      await taken.promise;
      await transact(other.server.ctx, (tx) => tx.all(sql`UPDATE turns SET who = 'other' WHERE id = 1`));
      thawed.resolve(undefined);

      const told = await still;
      const [row] = await ctx.db.all<{ who: string }>(sql`SELECT who FROM turns WHERE id = 1`);
      // Run again while its time lasts, else refused: never acknowledged for what the database had undone.
      assert.deepEqual(row?.who, told === "store_unavailable" ? "other" : "other, frozen");
      if (told !== "store_unavailable") assert.deepEqual([told, runs], ["other, frozen", 2]);
    });
  });

  describe("a transaction that was refused, and whose end the database does not tell in time", () => {
    it("stays refused for that reason, and leaves no dead connection to the next", async () => {
      await using world = await openWorld({ on: "postgres", env: WAIT });
      const { ctx } = world.server;
      const refused = Array.from({ length: 15 }, () =>
        transact(ctx, async (tx) => {
          await tx.all(sql`SELECT 1`);
          // Nobody waits for this, so the word to roll back stands in line behind it.
          tx.all(sql`SELECT pg_sleep(2)`).catch(() => {});
          throw new Refusal("not_asked");
        }).catch((error: { code?: string }) => error.code),
      );
      assert.deepEqual(new Set(await Promise.all(refused)), new Set(["not_asked"]));
      const next = Array.from({ length: 30 }, () => transact(ctx, (tx) => tx.all<{ n: number }>(sql`SELECT 1 AS n`)));
      for (const rows of await Promise.all(next)) assert.equal(rows[0]?.n, 1);
    });
  });

  describe("every connection", () => {
    it("has times after which the database ends what stands on it", async () => {
      await using world = await openWorld({ on: "postgres", env: WAIT });
      const [set] = await world.server.ctx.db.all<Record<string, string>>(
        sql`SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement,
        current_setting('idle_in_transaction_session_timeout') AS idle`,
      );
      assert.deepEqual({ ...set }, { lock: "4s", statement: "6s", idle: "3s" });
      const { rows } = await transact({ ...world.server.ctx }, async (tx) => ({
        rows: await tx.all<{ wait: string }>(sql`SELECT current_setting('lock_timeout') AS wait`),
      }));
      assert.equal(rows[0]?.wait, "4s");
    });

    it("has none of two seconds or more where the settings say nothing", async () => {
      const { databaseWaitMs } = loadConfig({ env: { HOME: "/nowhere" } });
      await using world = await openWorld({ on: "postgres", env: { PARLEY_DATABASE_WAIT_MS: String(databaseWaitMs) } });
      const times = ["lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"];
      const look = sql`SELECT name, setting FROM pg_settings WHERE name IN (${times[0]}, ${times[1]}, ${times[2]})`;
      const { ctx } = world.server;
      const [reading, writing] = [await ctx.db.all(look), await transact(ctx, (tx) => tx.all(look))];
      for (const rows of [reading, writing] as { name: string; setting: string }[][]) {
        assert.equal(rows.length, times.length);
        // Milliseconds; 0 is no limit.
        for (const { name, setting } of rows)
          assert.ok(Number(setting) > 0 && Number(setting) < 2000, `${name} ${setting}`);
      }
    });
  });
});
