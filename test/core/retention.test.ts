import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { createKey } from "../../src/access/create-key.ts";
import { deleteRequest } from "../../src/requests/store/outlived.ts";
import { sweep } from "../../src/server/loops/sweep.ts";
import { insertInboundIfNew } from "../../src/requests/store/deliveries.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { decider } from "../support/deciders.ts";
import { OPERATOR } from "../support/identities.ts";
import { DATABASES, openWorld, type Reply } from "../support/world.ts";

const DAY_MS = 86_400_000;

for (const on of DATABASES) {
  describe(`retention on ${on}`, () => {
    it("forgets an answered and an expired question each after its own days, and an open one never", async () => {
      const env = {
        PARLEY_ASK_A_HUMAN_RETENTION_CLOSED_DAYS: "3",
        PARLEY_ASK_A_HUMAN_RETENTION_EXPIRED_DAYS: "1",
      };
      await using world = await openWorld({ on, env });
      const ana = world.agent("ana-bot");
      const answered = await ana.ask({ min_responses: 1 });
      await world.person("bo").answer(answered, "Submit, because it says what happens.");
      const cancelled = await ana.ask();
      await ana.cancel(cancelled.id);
      const statuses = async (...ids: string[]) => Promise.all(ids.map(async (id) => (await ana.poll(id)).status));

      await world.advance(DAY_MS - 1);
      await sweep(world.server.ctx);
      assert.deepEqual(await statuses(answered.id, cancelled.id), [200, 200]);

      await world.advance(1);
      await sweep(world.server.ctx);
      assert.deepEqual(await statuses(answered.id, cancelled.id), [200, 404]);

      await world.advance(DAY_MS);
      const open = await ana.ask({ timeout_seconds: 86_400 });
      await world.advance(DAY_MS - 1);
      await sweep(world.server.ctx);
      assert.deepEqual(await statuses(answered.id, open.id), [200, 200]);

      await world.advance(1);
      await sweep(world.server.ctx);
      assert.deepEqual(await statuses(answered.id, open.id), [404, 200]);
    });

    it("forgets what was heard after thirty days, and what Twilio said never", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const providers = ["slack", "email", "webhook:desk", "inbox", "twilio"];
      const hear = (provider: string, id: string) => transact(ctx, (tx) => insertInboundIfNew(tx, provider, id));
      const sweepAll = async () => {
        while (await sweep(ctx));
      };
      for (const provider of providers) assert.equal(await hear(provider, "1"), true);
      // More than one step deletes.
      for (let i = 0; i < 250; i += 1) await hear("slack", `more ${i}`);

      await world.advance(30 * DAY_MS - 1);
      await sweepAll();
      for (const provider of providers) assert.equal(await hear(provider, "1"), false, provider);
      await hear("slack", "new");

      await world.advance(1);
      await sweepAll();
      const left = await ctx.db.all<{ id: string }>(sql`SELECT provider, id FROM inbound_messages ORDER BY provider`);
      assert.deepEqual(
        left.map((row) => ({ ...row })),
        [
          { provider: "slack", id: "new" },
          { provider: "twilio", id: "1" },
        ],
      );
      await world.advance(365 * DAY_MS);
      await sweepAll();
      assert.equal(await hear("twilio", "1"), false);
    });
  });
}

describe("whoever comes while retention is deleting", () => {
  it("never hears of a question without its answers", async () => {
    await using world = await openWorld({ on: "postgres" });
    const bo = world.person("bo");
    const visits: Record<string, (id: string) => Promise<Reply>> = {
      answer: (id) => bo.answer(id, "Send"),
      view: (id) => bo.get(`/human/questions/${id}`),
      results: (id) => bo.get(`/human/questions/${id}/results`),
    };
    const retention = new pg.Client({ connectionString: world.config.databaseUrl });
    await retention.connect();

    for (const [name, visit] of Object.entries(visits)) {
      const { id } = await world.agent("ana-bot").ask({ min_responses: 1 });
      await bo.answer(id, "Submit, because it says what happens.");
      await retention.query("BEGIN");
      // The visit finds the question, and waits to look for its answers until all of it is deleted.
      await retention.query("LOCK TABLE responses IN ACCESS EXCLUSIVE MODE");
      const visiting = visit(id);
      await untilSomebodyWaits(retention);
      for (const table of ["responses", "outcomes", "questions"]) {
        await retention.query(`DELETE FROM ${table} WHERE ask_id = $1`, [id]);
      }
      await retention.query("COMMIT");

      const { status, body } = await visiting;
      assert.deepEqual([name, status, body.error?.code], [name, 404, "QUESTION_NOT_FOUND"]);
    }
    await retention.end();
  });
});

describe("an agent that reports while retention is deleting", () => {
  it("leaves nothing behind of a call that is forgotten", async () => {
    await using world = await openWorld({ on: "postgres" });
    const { ctx } = world.server;
    const operator = await decider(world, OPERATOR);
    const { text } = await createKey(ctx, { name: "ana-bot", scope: "agent" });
    const spec = { fn: "pay_out", kwargs: {} };
    const asked = { run_id: "r", call_id: "c", spec };
    const headers = { authorization: `Bearer ${text}` };
    const { body } = await world.call("POST", "/a2h/v1alpha1/function_calls", { headers, body: asked });
    const id = body.status.ask_id as string;
    await operator.decide(id, { approved: true });
    const agent = new pg.Client({ connectionString: world.config.databaseUrl });
    await agent.connect();
    // Nothing was promised, and the first report stores the outcome with its request held.
    await agent.query("BEGIN");
    await agent.query("SELECT 1 FROM requests WHERE ask_id = $1 FOR NO KEY UPDATE", [id]);
    const deleting = transact(ctx, (tx) => deleteRequest(tx, [id]));
    await untilSomebodyWaits(agent);
    await agent.query("INSERT INTO call_outcomes (ask_id, state, at) VALUES ($1, 'done', 1)", [id]);
    await agent.query("COMMIT");
    await deleting;
    await agent.end();
    const left = await ctx.db.all(
      sql`SELECT ask_id FROM call_outcomes UNION ALL SELECT ask_id FROM requests UNION ALL SELECT ask_id FROM decisions`,
    );
    assert.deepEqual(left, []);
  });
});

async function untilSomebodyWaits(client: pg.Client): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query("SELECT 1 FROM pg_locks WHERE NOT granted");
    if (rowCount) return;
  }
}
