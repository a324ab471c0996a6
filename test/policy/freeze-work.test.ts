import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readAudit } from "../../src/core/read-audit.ts";
import { sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { freeze, thaw } from "../../src/policy/freezes.ts";
import { parsePolicy } from "../../src/policy/model/text.ts";
import { Refusal } from "../../src/refusals.ts";
import { bindCall } from "../../src/requests/model/bound-call.ts";
import { createPlan } from "../../src/requests/plans/create-plan.ts";
import { readPlanCalls } from "../../src/requests/plans/read-plan.ts";
import { useCall } from "../../src/requests/plans/use-call.ts";
import { expireDueRequests } from "../../src/requests/loops/expire.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { openAssignment } from "../support/assignment.ts";
import { fresh, HOUR, until } from "../support/contract.ts";
import { openJobs } from "../support/jobs.ts";
import { openRelayScene } from "../support/relay.ts";
import { signedIn } from "../support/signed-in.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;
const ALL = { scope: "all", subject: "" } as const;
const LOOK = { ask_type: "APPROVAL", prompt: "Open it?", meta: { action: "open_pr", resource: "shop" } };

const broken = async ({ server }: Pick<World, "server">) => {
  const findings = await examineStore(server.ctx, { quick: false });
  return findings.filter(({ offenders }) => offenders.length > 0);
};

for (const on of DATABASES) {
  describe(`while agents are frozen, on ${on}`, () => {
    it("a press that approves is void when its time to undo it is over, and one that rejects is carried out", async () => {
      await using world = await openWorld({ on, env: { PARLEY_INBOX_UNDO_SECONDS: "5" } });
      const { ctx } = world.server;
      const ana = await signedIn(world, "Ana Ruiz");
      const asker = `agent:${fresh("bot")}`;
      const [yes, no, late] = [
        await askPeople(ctx, { asker, audience: toPerson(ana.id) }),
        await askPeople(ctx, { asker, audience: toPerson(ana.id) }),
        await askPeople(ctx, { asker, audience: toPerson(ana.id) }),
      ];
      await ana.approve(yes);
      await ana.reject(no);
      const { id } = await freeze(ctx, { scope: "agent", subject: asker }, ADMIN);
      assert.equal((await ana.approve(late)).status, 409);
      await world.advance(5000);
      await expireDueRequests(ctx, AbortSignal.timeout(60_000));
      const { items } = await readAudit(ctx, { subjectId: yes.id, afterSeq: 0, limit: 50 });
      const last = items.at(-1);
      assert.deepEqual([last?.action, last?.data], ["function_call.press_voided", { reason: "frozen" }]);
      assert.equal((await readRequest(ctx, no.id)).outcome?.approved, false);
      await thaw(ctx, id, ADMIN);
      assert.equal((await readRequest(ctx, yes.id)).state, "open");
      assert.deepEqual(await broken(world), []);
    });

    it("no call of an approved plan is used, which is shown as one that waits, and the thaw lets it be", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const ana = await signedIn(world, "Ana Ruiz");
      const [asker, planId] = [`agent:${fresh("bot")}`, fresh("plan")];
      const calls = ["c1", "c2"].map((id) => ({
        door: "a2h",
        ref: `call:${planId}.${id}`,
        sameHash: id,
        wire: {},
        bound: bindCall("pay_out", { to: id }),
      }));
      const plan = { asker, ref: `plan:${planId}`, sameHash: "plan", words: "", wire: {}, evidence: [], calls };
      const input = { ...plan, audience: toPerson(ana.id), timeoutSeconds: 60 };
      const { request } = await createPlan(ctx, parsePolicy("version: 1"), input);
      await ana.approve(request);
      const { id } = await freeze(ctx, { scope: "agent", subject: asker }, ADMIN);
      const use = () => useCall(ctx, request.id, { callId: `${planId}.c1`, key: "run" });
      const waiting = await readRequest(ctx, request.id);
      const states = (await readPlanCalls(ctx, waiting)).map(({ state, outcome }) => [state, outcome]);
      assert.deepEqual(
        [waiting.state, states],
        [
          "open",
          [
            ["open", null],
            ["open", null],
          ],
        ],
      );
      await assert.rejects(use(), (error: unknown) => error instanceof Refusal && error.code === "not_in_plan");
      await world.advance(HOUR);
      await thaw(ctx, id, ADMIN);
      assert.equal((await use()).repeated, false);
      assert.deepEqual(await broken(world), []);
    });

    it("an executor's ask waits where a rule would allow it, a denial stands, and what was approved is not handed out", async () => {
      await using scene = await openRelayScene(on);
      const { ctx } = scene.world.server;
      await scene.policy(`version: 2
rules:
  - { id: no-wipes, when: { action: wipe }, decision: DENY }
  - { id: open-prs, when: { action: open_pr }, decision: ALLOW }
`);
      const before = await scene.ask(LOOK);
      await scene.answerTo(before);
      const { id } = await freeze(ctx, ALL, ADMIN);
      const waits = await scene.ask(LOOK);
      const denied = await scene.ask({ ...LOOK, meta: { action: "wipe" } });
      assert.equal((await scene.answerTo(denied)).status, "REJECTED");
      assert.equal((await scene.ana.get(`/asks/${before.ask_id}/answer?wait=0`)).status, 204);
      await scene.world.advance(HOUR);
      assert.equal((await scene.ana.get(`/asks/${waits.ask_id}/answer?wait=0`)).status, 204);
      const held = scene.ana.get(`/asks/${before.ask_id}/answer?wait=60`);
      await thaw(ctx, id, ADMIN);
      assert.equal((await held).body.status, "ANSWERED");
      await until(async () => {
        await scene.world.advance(1000);
        return (await scene.ana.get(`/asks/${waits.ask_id}/answer?wait=0`)).status === 200;
      });
      assert.equal((await scene.answerTo(waits)).status, "ANSWERED");
      assert.deepEqual(await broken(scene.world), []);
    });

    it("a frozen executor claims no job, others do, and a job lives on for the time that was left", async () => {
      await using scene = await openJobs(on);
      const { ctx } = scene.world.server;
      const job = await scene.queue();
      const claim = { kinds: [job.kind], worker_id: "w-1", wait: "0" };
      const [{ ttl }] = (await ctx.db.all(sql`SELECT ttl_until AS ttl FROM jobs`)) as [{ ttl: number }];
      const one = await freeze(ctx, { scope: "agent", subject: "executor:ana-runs" }, ADMIN);
      const two = await freeze(ctx, ALL, ADMIN);
      assert.equal((await scene.bo.post("/jobs/claim", claim)).status, 204);
      await scene.world.advance(400 * 24 * HOUR);
      await thaw(ctx, two.id, ADMIN);
      assert.equal((await scene.ana.post("/jobs/claim", claim)).status, 204);
      assert.equal((await scene.bo.post("/jobs/claim", claim)).status, 200);
      const [after] = (await ctx.db.all(sql`SELECT ttl_until AS ttl FROM jobs`)) as [{ ttl: number }];
      assert.equal(after.ttl - ttl, 400 * 24 * HOUR);
      await thaw(ctx, one.id, ADMIN);
    });

    it("no attempt at a task is started, by whom the task is or whose agent works on it", async () => {
      await using scene = await openAssignment(on);
      const { ana, runner, world } = scene;
      const { ctx } = world.server;
      await ana.submit("a");
      const [task] = (await ctx.db.all(sql`SELECT principal FROM tasks`)) as [{ principal: string }];
      for (const what of [ALL, { scope: "agent", subject: task.principal } as const]) {
        const { id } = await freeze(ctx, what, ADMIN);
        assert.equal(await runner.start(), undefined);
        await thaw(ctx, id, ADMIN);
      }
      assert.equal(await runner.start(), "a");
    });
  });
}
