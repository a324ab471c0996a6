import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DECIDERS } from "../../src/core/model/decision-line.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { sharedRelay } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const MANY = 400;
const MINUTE_MS = 60_000;

/** Questions that ended in the past 40 hours, of every state; every fourth stands for an ask and counts there. */
const QUESTIONS = sql`INSERT INTO questions (ask_id, door, asker, kind, prompt, audience, need, n, state, version, held,
    created_at, expires_at, settled_at, wire)
  WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < ${MANY})
  SELECT 'q_activity' || i, CASE i % 4 WHEN 0 THEN 'relay' ELSE 'ask-a-human' END, 'agent:act' || (i % 3), 'text', 'Which?',
    '["general"]', 1, 0, CASE i % 3 WHEN 0 THEN 'answered' WHEN 1 THEN 'expired' ELSE 'cancelled' END, 1, 0,
    parley_now() - (i * 6 + 1) * ${raw(String(MINUTE_MS))}, parley_now() + 1,
    parley_now() - i * 6 * ${raw(String(MINUTE_MS))}, '{}' FROM k`;

for (const on of DATABASES) {
  describe(`what was decided, on ${on}`, () => {
    const shared = sharedRelay(on);

    it("counts in every bar, period and decider as many as the list has", async () => {
      const { world, admin, ask } = shared();
      await world.server.ctx.db.transact((tx) => tx.all(QUESTIONS));
      const waiting = await ask();
      for (const span of ["day", "week", "month"]) {
        const { status, body } = await admin.get(`/admin/activity/hours?span=${span}`);
        assert.equal(status, 200, JSON.stringify(body));
        const periods = [...body.bars, body.before, { from: body.from, until: body.at, counts: body.counts }];
        for (const { from, until, counts } of periods) {
          for (const by of DECIDERS) {
            const list = (await admin.get(`/admin/activity?from=${from}&until=${until}&by=${by}`)).body;
            assert.equal(list.total, counts[by], `${span} ${from} ${by}`);
          }
        }
        assert.equal(body.waiting, (await admin.get("/admin/activity?state=waiting")).body.total);
      }
      const listed: string[] = [];
      for (let cursor = ""; ;) {
        const { body } = await admin.get(`/admin/activity?agent=agent:act1${cursor}`);
        listed.push(...body.items.map(({ id }: { id: string }) => id));
        if (body.next === null) break;
        cursor = `&cursor=${body.next}`;
      }
      const numbers = Array.from({ length: MANY }, (_, i) => i + 1).filter((i) => i % 3 === 1 && i % 4 !== 0);
      assert.deepEqual(
        listed,
        numbers.map((i) => `q_activity${i}`),
      );
      const rows = (await admin.get("/admin/activity?state=waiting")).body.items;
      assert.ok(rows.some(({ id }: { id: string }) => id === waiting.ask_id));
    });
  });
}
