import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Context } from "../../src/context.ts";
import type { Tx } from "../../src/core/store/db.ts";
import { claimKey } from "../../src/core/store/idempotency.ts";
import { SCHEMA_WORDS } from "../../src/core/store/migrate.ts";
import { FILL_PERSON_TOTALS, personTotals } from "../../src/core/store/migrations/0034-person-totals.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { examineRows } from "../../src/doctor/store/checks.ts";
import { answerQuestion } from "../../src/questions/answer.ts";
import { TAGS } from "../../src/questions/model/question.ts";
import { ensureParticipant, eraseParticipant } from "../../src/questions/store/participants.ts";
import { addToScores } from "../../src/questions/store/scores.ts";
import { lockTotals, updateTotals } from "../../src/questions/store/totals.ts";
import { DAY, LABELS, MINUTE, ROOMY, fresh, until } from "../support/contract.ts";
import { DATABASES, openWorld, personOf, type World } from "../support/world.ts";

const BONUSES = { ...ROOMY, PARLEY_ASK_A_HUMAN_POINTS_BONUSES: "true", PARLEY_ASK_A_HUMAN_POINTS_DAILY_CAP: "30" };

const asked = async (world: World, question: object = {}): Promise<string> =>
  (
    await world
      .agent(fresh("ana-bot"))
      .ask({ timeout_seconds: 86_400, min_responses: 50, options: LABELS, ...question })
  ).id;

const totalsOf = (world: World) => world.server.ctx.db.all(sql`SELECT * FROM person_totals ORDER BY person`);

async function broken(world: World): Promise<string[]> {
  return (await examineRows(world.server.ctx.db, false)).flatMap(({ offenders }) => offenders);
}

async function isWaitingForLock({ server }: World): Promise<boolean> {
  const waiting = await server.ctx.db.all(
    sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return waiting.length > 0;
}

/** Returns the context with a database that notes what is put to a transaction. */
function noting(ctx: Context, statements: string[]): Context {
  const noted = (tx: Tx): Tx => ({
    dialect: tx.dialect,
    all: (statement) => {
      statements.push(statement.sql);
      return tx.all(statement);
    },
    wake: (topic) => tx.wake(topic),
    tell: (fact) => tx.tell(fact),
  });
  const transact: Context["db"]["transact"] = (work, options) => ctx.db.transact((tx) => work(noted(tx)), options);
  return { ...ctx, db: { ...ctx.db, transact } };
}

/** Gives a participant many more answers than have been given here. */
async function addAnswers({ server }: World, person: string, count: number): Promise<void> {
  await server.ctx.db.transact(async (tx) => {
    await tx.all(sql`INSERT INTO ledger (person, ask_id, at, category, points, capped_points, entries, day, streak_days,
        early, night, speedy, confident)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT l.person, 'q_old_' || n.i, l.at - 1, l.category, 0, 0, '{"base":0}', l.day, l.streak_days, 0, 0, 0, 0
      FROM n, (SELECT * FROM ledger WHERE person = ${person} ORDER BY at LIMIT 1) AS l`);
    for (const badge of ["answers_10", "answers_100", "answers_500", "answers_1000", "expert_general"]) {
      await tx.all(sql`INSERT INTO badges (person, badge, ask_id, at) VALUES (${person}, ${badge}, 'q_old_1', 1)`);
    }
    await tx.all(sql`UPDATE scores SET answers = answers + ${count} WHERE person = ${person}`);
    await tx.all(sql`DELETE FROM person_totals`);
    await tx.all(raw(FILL_PERSON_TOTALS));
  });
}

for (const on of DATABASES) {
  describe(`the totals of a person on ${on}`, () => {
    it("cost an answer the same statements however many the person has given, none on the ledger but the entry", async () => {
      await using world = await openWorld({ on, env: BONUSES });
      const { ctx } = world.server;
      await world.person("bo").answer(await asked(world), 0);
      const [row] = await ctx.db.all<{ person: string }>(sql`SELECT person FROM ledger`);
      assert.ok(row);
      const statementsOfAnswer = async () => {
        const statements: string[] = [];
        const caller = { participant: row.person, network: "n" };
        const asAgent = { withKey: false, names: [] };
        const input = { questionId: await asked(world), caller, given: { selectedOption: 0 }, asAgent };
        await answerQuestion(noting(ctx, statements), input);
        return statements;
      };
      await statementsOfAnswer();
      const few = await statementsOfAnswer();
      await addAnswers(world, row.person, 1500);
      const many = await statementsOfAnswer();
      assert.deepEqual(many, few);
      const ofLedger = many.filter((text) => /\b(ledger|person_totals|badges)\b/.test(text));
      assert.deepEqual(
        ofLedger.map((text) => /^\s*(\w+ \w+ \w+)/.exec(text)?.[1]),
        ["INSERT INTO person_totals", "INSERT INTO ledger", "UPDATE person_totals SET"],
      );
      assert.deepEqual(await broken(world), []);
    });

    it("are what the ledger adds up to after many days of answers and erasures, and as the upgrade fills them in", async () => {
      await using world = await openWorld({ on, env: BONUSES });
      let seed = 20;
      const below = (n: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        return Math.floor((seed / 2 ** 31) * n);
      };
      const zones = ["Pacific/Auckland", "America/Los_Angeles", "UTC"];
      const people = zones.map((zone) => personOf(() => world, { "x-fingerprint": zone, "x-time-zone": zone }));
      for (let i = 0; i < 60; i += 1) {
        const person = people[below(people.length)];
        const tag = TAGS[below(TAGS.length)];
        const isText = below(2) === 0;
        const id = await asked(world, { ...(isText && { options: undefined }), audience: below(4) === 0 ? [] : [tag] });
        if (below(3) === 0) await world.advance(3 * MINUTE);
        const reply = await person?.answer(id, isText ? "yes" : below(2), { confidence: 4 + below(2) });
        assert.equal(reply?.status, 201, reply?.text);
        if (i === 40) await world.call("DELETE", "/human/me", { headers: person?.headers ?? {} });
        if (below(3) === 0) await world.advance(DAY);
        // The store's clock went back by more than a day.
        if (i === 50) await world.advance(-1.5 * DAY);
      }
      assert.deepEqual(await broken(world), []);
      const kept = await totalsOf(world);
      assert.equal(kept.length, 3);
      assert.ok(kept.some((row) => JSON.stringify(row).includes("[3")));
      await world.server.ctx.db.transact(async (tx) => {
        await tx.all(raw("DROP TABLE person_totals"));
        for (const statement of personTotals.statements(SCHEMA_WORDS[on])) await tx.all(raw(statement));
      });
      assert.deepEqual(await totalsOf(world), kept);
    });

    it("are gone with everything else when a first answer was being counted as its person was erased", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const { db } = world.server.ctx;
      const steps: string[] = [];
      const held = Promise.withResolvers<undefined>();
      const answering = db.transact(async (tx) => {
        const claim = { principal: "person:p_new", verb: "answer", key: "k", bodyHash: "h", objectId: "r_1" } as const;
        await ensureParticipant(tx, "p_new", null);
        await claimKey(tx, claim);
        const totals = await lockTotals(tx, "p_new");
        await addToScores(tx, { person: "p_new", points: 5, at: 1 });
        held.resolve(undefined);
        // On SQLite one transaction waits for another before its first statement.
        if (on === "postgres") await until(() => isWaitingForLock(world), "waiting for the row");
        await updateTotals(tx, "p_new", { ...totals, answers: 1 });
        steps.push("answered");
      });
      await held.promise;
      await db.transact(async (tx) => {
        await eraseParticipant(tx, ["p_new"], () => "gone_1");
        steps.push("erased");
      });
      await answering;
      assert.deepEqual(steps, ["answered", "erased"]);
      for (const table of ["person_totals", "scores", "participants", "idempotency"]) {
        assert.deepEqual(await db.all(raw(`SELECT * FROM ${table}`)), [], table);
      }
    });
  });
}
