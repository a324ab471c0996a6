import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DECIDERS } from "../../src/core/model/decision-line.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { sharedRelay } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const MANY = 1000;
const MINUTE_MS = 60_000;

/** Questions that ended in the past 40 hours, of every state; every fourth stands for an ask and counts there. */
const QUESTIONS = sql`INSERT INTO questions (ask_id, door, asker, kind, prompt, audience, need, n, state, version, held,
    created_at, expires_at, settled_at, wire)
  WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < ${MANY})
  SELECT 'q_activity' || i, CASE i % 4 WHEN 0 THEN 'relay' ELSE 'ask-a-human' END, 'agent:act' || (i % 3), 'text', 'Which?',
    '["general"]', 1, 0, CASE i % 3 WHEN 0 THEN 'answered' WHEN 1 THEN 'expired' ELSE 'cancelled' END, 1, 0,
    parley_now() - (i * 6 + 1) * ${raw(String(MINUTE_MS))}, parley_now() + 1,
    parley_now() - i * 6 * ${raw(String(MINUTE_MS))}, '{}' FROM k`;

/** As many requests, every third decided by a person, every third by a rule, the others withdrawn or too late. */
const REQUESTS = sql`INSERT INTO requests (ask_id, door, asker, ref, same_hash, title, words, form, kind, audience, state,
    version, created_at, expires_at, settled_at, outcome, wire)
  WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < ${MANY})
  SELECT 'ask_activity' || i, 'a2h', 'agent:act' || (i % 3), 'call:activity' || i, 'same', 'issue_refund', '',
    '{"kind":"reply","options":[]}', 'reply', '{"kind":"leaf","target":{"via":"inbox"}}',
    CASE WHEN i % 3 < 2 THEN 'answered' WHEN i % 2 = 0 THEN 'expired' ELSE 'cancelled' END, 2,
    parley_now() - (i * 6 + 1) * ${raw(String(MINUTE_MS))}, parley_now() + 1,
    parley_now() - i * 6 * ${raw(String(MINUTE_MS))}, '{"status":"answered"}', '{}' FROM k`;
const DECISIONS = sql`INSERT INTO decisions (ask_id, ord, by_id, responder, counted)
  SELECT ask_id, 1, '1', '{}', '[]' FROM requests WHERE ref LIKE 'call:activity%' AND asker = 'agent:act0'`;
/** The number of those from 1 to MANY that leave this rest when divided by three. */
const ofRest = (rest: number): number =>
  Array.from({ length: MANY }, (_, i) => i + 1).filter((i) => i % 3 === rest).length;

for (const on of DATABASES) {
  describe(`what was decided, on ${on}`, () => {
    const shared = sharedRelay(on);

    it("counts in every bar, period and decider as many as the list has", async () => {
      const { world, admin, ask } = shared();
      const { ctx } = world.server;
      await ctx.db.transact(async (tx) => {
        await tx.all(QUESTIONS);
        await tx.all(REQUESTS);
        await tx.all(DECISIONS);
      });
      const waiting = await ask();
      const withdrawn = await ask();
      assert.equal((await shared().ana.call("DELETE", `/asks/${withdrawn.ask_id}`)).status, 200);
      const dana = await shared().person();
      const answered = await ask();
      assert.equal((await dana.decide(await shared().withPeople(answered), { text: "EUR" })).status, 200);
      await shared().answerTo(answered);
      // The reading of a moment counts what ended before it.
      await world.advance(MINUTE_MS);
      // Others end while the numbers are read.
      const endings = (async () => {
        for (let i = 0; i < 20; i += 1) await shared().ana.call("DELETE", `/asks/${(await ask()).ask_id}`);
      })();
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
      }
      await endings;
      const month = (await admin.get("/admin/activity/hours?span=month")).body;
      assert.equal(month.waiting, (await admin.get("/admin/activity?state=waiting")).body.total);
      const requests = `/admin/activity?kind=request&from=${month.from}`;
      for (const [by, count] of [
        ["people", ofRest(0)],
        ["rule", ofRest(1)],
      ] as const) {
        assert.equal((await admin.get(`${requests}&by=${by}`)).body.total, count, by);
      }
      const asks = async (by: string) =>
        (await admin.get(`/admin/activity?kind=ask&by=${by}`)).body.items.map(({ id }: { id: string }) => id);
      assert.deepEqual(await asks("people"), [answered.ask_id]);
      assert.deepEqual((await asks("withdrawn")).slice(-1), [withdrawn.ask_id]);
      const listed: string[] = [];
      for (let cursor = ""; ;) {
        const { body } = await admin.get(`/admin/activity?kind=question&agent=agent:act1${cursor}`);
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
