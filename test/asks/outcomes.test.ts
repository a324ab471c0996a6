import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { examineStore } from "../../src/doctor/examine.ts";
import { sql } from "../../src/core/store/sql.ts";
import { giveUpUnreportedAsks } from "../../src/asks/loops/unreported.ts";
import { freeze, thaw } from "../../src/policy/freezes.ts";
import { advanceUntil, MINUTE } from "../support/contract.ts";
import { actionsOf } from "../support/gate.ts";
import { claim, type Held } from "../support/jobs.ts";
import { answer, sharedRelay } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const DIGEST = `sha256:${"5f".repeat(32)}`;
const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;
const POLICY = `version: 2
rules:
  - { id: tests, when: { action: test }, decision: ALLOW }
`;

for (const on of DATABASES) {
  describe(`the outcome of what an ask allowed, on ${on}`, () => {
    const scene = sharedRelay(on);
    before(() => scene().policy(POLICY));

    type Way = "by a rule" | "by people";
    /** A call that was allowed, and the job in which it was asked for. */
    async function allowed(way: Way, reports?: "start" | "end"): Promise<{ held: Held; id: string; inboxId: string }> {
      const { ana, ask, answerTo, claimed, person, withPeople } = scene();
      const held = await claimed(ana, { max_attempts: 9 });
      const action = way === "by a rule" ? "test" : "deploy";
      const wish = { ask_type: "APPROVAL", prompt: "May I?", meta: { action }, ...(reports && { reports }) };
      const one = await ask({ ...wish, job_id: held.id }, ana, held.lease);
      const inboxId = way === "by a rule" ? "" : await withPeople(one);
      if (way === "by people") await answer((await person()).by, one, { answer_json: { approved: true } });
      await answerTo(one);
      return { held, id: one.ask_id, inboxId };
    }

    const report = (id: string, lease: string, outcome: string, more: object = {}) =>
      scene().ana.post(`/asks/${id}/outcome`, { outcome, ...more }, lease);
    const read = async (id: string) => (await scene().ana.get(`/asks/${id}`)).body.outcome;
    const ends = (id: string, state: string) =>
      advanceUntil(scene().world, MINUTE, async () => (await read(id))?.state === state);

    for (const way of ["by a rule", "by people"] as const) {
      it(`is started and done as the holder of the job says, once, where it was allowed ${way}`, async () => {
        const { held, id, inboxId } = await allowed(way, "start");
        assert.equal((await read(id)).state, "awaited");
        assert.equal((await report(id, held.lease, "started")).body.state, "started");
        const again = await report(id, held.lease, "started");
        assert.deepEqual([again.status, again.headers.get("idempotency-replayed")], [200, "true"]);
        const late = await report(id, held.lease, "withdrawn");
        assert.deepEqual([late.status, late.body.error.code], [409, "OUTCOME_STARTED"]);

        const said = { text: "exit 0, with ghp_0123456789abcdefghij0123456789abcdef", result_digest: DIGEST };
        const done = await report(id, held.lease, "done", said);
        assert.deepEqual([done.status, done.body.state, done.body.result_digest], [200, "done", DIGEST]);
        assert.match(done.body.text, /\[secret:/);
        assert.deepEqual(await read(id), done.body);
        const other = await report(id, held.lease, "failed");
        assert.deepEqual([other.status, other.body.error.code], [409, "OUTCOME_KNOWN"]);

        // The request to people is the one place of its outcome, where there is one.
        const [ofAsk, ofRequest] = [await actionsOf(scene().world, id), await actionsOf(scene().world, inboxId)];
        const [where, action] = way === "by a rule" ? [ofAsk, "relay.outcome"] : [ofRequest, "function_call.outcome"];
        assert.equal(where.filter((one) => one === action).length, 2);
        assert.equal([...ofAsk, ...ofRequest].filter((one) => one.endsWith(".outcome")).length, 2);
      });

      it(`is unknown or not run as soon as its job is over, where it was allowed ${way}`, async () => {
        for (const [reports, isStarted, state] of [
          ["start", true, "unknown"],
          ["start", false, "not_run"],
          ["end", false, "unknown"],
        ] as const) {
          const { held, id } = await allowed(way, reports);
          if (isStarted) await report(id, held.lease, "started");
          const { ana } = scene();
          assert.equal((await ana.post(`/jobs/${held.id}/finish`, { state: "FAILED" }, held.lease)).status, 200);
          assert.equal((await read(id)).state, state);
          // Who ended the job may still say more of what is unknown.
          const late = await report(id, held.lease, "done");
          assert.equal(late.status, state === "unknown" ? 200 : 409, late.text);
        }
      });

      it(`is unknown once its holder has lost the job that had started it, where it was allowed ${way}`, async () => {
        const { held, id } = await allowed(way, "start");
        await report(id, held.lease, "started");
        const { ana, bo } = scene();
        await ana.post(`/jobs/${held.id}/release`, {}, held.lease);
        assert.equal((await read(id)).state, "unknown");
        const next = await claim(bo, held.kind);
        const started = await bo.post(`/asks/${id}/outcome`, { outcome: "started" }, next.lease);
        assert.deepEqual([started.status, started.body.error.code], [409, "OUTCOME_KNOWN"]);
        // A late report is better than none.
        const late = await bo.post(`/asks/${id}/outcome`, { outcome: "failed" }, next.lease);
        assert.deepEqual([late.status, late.body.state], [200, "failed"]);
      });

      it(`ends an hour after its last word, where it was allowed ${way}`, async () => {
        const { ana, ask, answerTo, person } = scene();
        const action = way === "by a rule" ? "test" : "deploy";
        const one = await ask({ ask_type: "APPROVAL", prompt: "May I?", meta: { action }, reports: "start" }, ana);
        if (way === "by people") {
          await scene().withPeople(one);
          await answer((await person()).by, one, { answer_json: { approved: true } });
        }
        await answerTo(one);
        await ends(one.ask_id, "not_run");
        const started = await report(one.ask_id, "", "started");
        assert.deepEqual([started.status, started.body.error.code], [409, "OUTCOME_KNOWN"]);
      });
    }

    it("is not told where nothing was promised, until somebody reports it", async () => {
      const { held, id } = await allowed("by a rule");
      assert.equal(await read(id), undefined);
      assert.equal((await report(id, held.lease, "done")).status, 200);
      assert.equal((await read(id)).state, "done");
    });

    it("is for the holder of the job alone, and of an allowed call alone", async () => {
      const { ana, ask, bo, claimed } = scene();
      const held = await claimed(ana);
      const one = await ask(
        { ask_type: "APPROVAL", prompt: "May I?", meta: { action: "deploy" }, reports: "end", job_id: held.id },
        ana,
        held.lease,
      );
      const pending = await report(one.ask_id, held.lease, "done");
      assert.deepEqual([pending.status, pending.body.error.code], [409, "NOT_APPROVED"]);
      const fenced = await report(one.ask_id, "lease_of_another", "done");
      assert.deepEqual([fenced.status, fenced.body.error.code], [409, "FENCED"]);
      const foreign = await bo.post(`/asks/${one.ask_id}/outcome`, { outcome: "done" }, held.lease);
      assert.deepEqual([foreign.status, foreign.body.error.code], [404, "ASK_NOT_FOUND"]);
      const wrong = await report(one.ask_id, held.lease, "perhaps");
      assert.deepEqual([wrong.status, wrong.body.error.code], [400, "VALIDATION_ERROR"]);
    });

    it("does not start while its executor is frozen", async () => {
      const { ana, world } = scene();
      const { held, id } = await allowed("by a rule", "start");
      const frozen = await freeze(world.server.ctx, { scope: "agent", subject: ana.principal }, ADMIN);
      const started = await report(id, held.lease, "started");
      assert.deepEqual([started.status, started.body.error.code], [409, "FROZEN"]);
      await thaw(world.server.ctx, frozen.id, ADMIN);
      assert.equal((await report(id, held.lease, "started")).status, 200);
    });

    it("has no end of its time while its executor is frozen, and may be given back then", async () => {
      const { ana, ask, answerTo, world } = scene();
      const { ctx } = world.server;
      const asked = async () => {
        const one = await ask(
          { ask_type: "APPROVAL", prompt: "May I?", meta: { action: "test" }, reports: "start" },
          ana,
        );
        await answerTo(one);
        return one.ask_id;
      };
      const [waiting, left] = [await asked(), await asked()];
      const frozen = await freeze(ctx, { scope: "agent", subject: ana.principal }, ADMIN);
      await world.advance(90 * MINUTE);
      const withdrawn = await report(left, "", "withdrawn");
      assert.deepEqual([withdrawn.status, withdrawn.body.state], [200, "withdrawn"], withdrawn.text);
      assert.deepEqual(await giveUpUnreportedAsks(ctx, ctx.stopping), false);
      await thaw(ctx, frozen.id, ADMIN);
      assert.equal((await read(waiting)).state, "awaited");
      await ends(waiting, "not_run");
      const { body } = await scene().admin.get(`/asks/${waiting}?view=admin`);
      assert.equal(body.outcome.state, "not_run");
    });

    it("costs a job nothing at its end where no report was promised", async () => {
      const { ana, world } = scene();
      for (const [reports, isAwaited] of [
        [undefined, 0],
        ["end", 1],
      ] as const) {
        const { held } = await allowed("by a rule", reports);
        assert.equal((await ana.post(`/jobs/${held.id}/finish`, { state: "FAILED" }, held.lease)).status, 200);
        const noted = sql`SELECT awaits_reports FROM jobs WHERE job_id = ${held.id}`;
        assert.deepEqual(await world.server.ctx.db.all(noted), [{ awaits_reports: isAwaited }]);
      }
    });

    it("is unknown at the end of its job also where nothing was promised before its start", async () => {
      const { ana } = scene();
      const { held, id } = await allowed("by a rule");
      assert.equal((await report(id, held.lease, "started")).status, 200);
      assert.equal((await ana.post(`/jobs/${held.id}/finish`, { state: "FAILED" }, held.lease)).status, 200);
      assert.equal((await read(id)).state, "unknown");
    });

    it("leaves a store that its doctor finds sound", async () => {
      const { ctx } = scene().world.server;
      const found = (await examineStore(ctx, { quick: false })).filter(({ check }) => check === "W4");
      assert.deepEqual(
        found.flatMap(({ offenders }) => offenders),
        [],
      );
    });
  });
}
