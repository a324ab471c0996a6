import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { freeze, scopeOfAgent, thaw } from "../../src/policy/freezes.ts";
import { Refusal } from "../../src/refusals.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { accepted, callBody, openScene } from "../support/a2h.ts";
import { enrol } from "../support/addressed.ts";
import { openAgentServer } from "../support/agent-server.ts";
import { advanceUntil, fresh, openStream, until } from "../support/contract.ts";
import { newAsk, openRelayScene } from "../support/relay.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;
const human = (id: string) => ({ actor: { kind: "human", id }, via: "web", isAdmin: false }) as const;
const onAgent = (subject: string) => ({ scope: "agent", subject }) as const;

const broken = async ({ server }: Pick<World, "server">) => {
  const findings = await examineStore(server.ctx, { quick: false });
  return findings.filter(({ offenders }) => offenders.length > 0);
};

for (const on of DATABASES) {
  describe(`what a frozen agent is given, on ${on}`, () => {
    it("is no receipt of an approval, no event and no vote for it, and its list holds the call as one that waits", async () => {
      await using scene = await openScene(on);
      await using told = await openAgentServer([503]);
      const { agent, world } = scene;
      const { ctx } = world.server;
      const [ana, bo] = [await scene.human("Ana Ruiz"), await scene.human("Bo Lee")];
      const joint = { all_of: [{ human: { id: ana.id } }, { human: { id: bo.id } }] };
      const call = callBody({ channel: joint });
      const asked = accepted(await agent.post("/function_calls", call));
      const respond = `/agent/function_calls/${call.call_id}/respond`;
      const approve = { approved: true, consent_digest: asked.status.consent_digest };
      accepted(await ana.answer.post(respond, approve));
      accepted(await bo.answer.post(respond, approve));
      accepted(await agent.post("/webhook_endpoints", { url: told.url, format: "v1beta2" }));
      const other = callBody({ channel: { human: { id: ana.id } } });
      const alone = accepted(await agent.post("/function_calls", other));
      // The first attempt to tell of it fails, and the freeze comes before the second one.
      accepted(
        await ana.answer.post(`/agent/function_calls/${other.call_id}/respond`, {
          ...approve,
          consent_digest: alone.status.consent_digest,
        }),
      );
      await until(() => told.told.length === 1);
      const made = await freeze(ctx, onAgent("agent:support"), ADMIN);

      const receipt = `//receipts/${asked.status.ask_id}`;
      for (const path of [receipt, `${receipt}/outcome`]) assert.equal((await agent.get(path)).status, 404, path);
      assert.equal((await bo.answer.get(receipt)).status, 200);
      const read = accepted(await agent.get(`/function_calls/${call.call_id}`));
      assert.deepEqual([read.status.approved, read.status.approvals], [undefined, undefined]);
      const page = accepted(await agent.get("/agent/function_calls/pending?limit=10"));
      assert.deepEqual(
        page.items.map(({ status }: { status: { approved?: boolean } }) => status.approved),
        [undefined, undefined],
      );
      for (let i = 0; i < 30; i += 1) await world.advance(60_000);
      assert.equal(told.told.length, 1);

      await thaw(ctx, made.id, ADMIN);
      assert.equal((await agent.get(receipt)).status, 200);
      await advanceUntil(world, 60_000, () => told.told.length === 2);
      assert.match(JSON.stringify(told.told[1]), /approved/);
      assert.equal(accepted(await agent.get("/agent/function_calls/pending?limit=10")).total, 0);
      assert.deepEqual(await broken(world), []);
    });

    it("is no answer on the stream of its job, which goes on after the thaw, nor where it asks the same again", async () => {
      await using scene = await openRelayScene(on);
      const { ctx } = scene.world.server;
      await scene.policy(`version: 2
rules:
  - { id: open-prs, when: { action: open_pr }, decision: ALLOW }
`);
      const look = { ask_type: "APPROVAL", prompt: "Open it?", meta: { action: "open_pr", resource: "shop" } };
      const body = newAsk({ ...look, ask_id: fresh("A") });
      const ask = (await scene.ana.post("/asks", body)).body;
      await scene.answerTo(ask);
      const { id } = await freeze(ctx, onAgent("executor:ana-runs"), ADMIN);
      const stream = await openStream(`${scene.world.url}/jobs/${ask.job_id}/events?after=0`, scene.ana.headers);
      const seen: string[] = [];
      const reading = (async () => {
        while (!seen.includes("answer")) seen.push((await stream.nextEvent())?.event ?? assert.fail("it ended"));
      })();
      await until(() => seen.length > 0);
      const again = await scene.ana.post("/asks", body);
      assert.deepEqual([again.status, again.body.status], [202, "PENDING"]);
      await scene.world.advance(5000);
      assert.ok(!seen.includes("answer"), seen.join(" "));
      await thaw(ctx, id, ADMIN);
      await until(() => seen.includes("answer"));
      stream.close();
      await reading;
      assert.deepEqual(await broken(scene.world), []);
    });

    it("is nothing where only the agent of an attempt is frozen, or only who runs it", async () => {
      await using scene = await openRelayScene(on);
      const { ctx } = scene.world.server;
      await scene.policy(`version: 2
rules:
  - { id: open-prs, when: { action: open_pr }, decision: ALLOW }
`);
      const { id: jobId, lease } = await scene.claimed(scene.ana, {});
      await transact(ctx, (tx) => tx.all(sql`UPDATE jobs SET kind = 'aa/shop' WHERE job_id = ${jobId}`));
      const meta = { action: "open_pr", resource: "shop", agent: "claude" };
      // People are asked in the agent's name, and the freeze covers who runs it.
      const dana = await scene.person();
      const other = { ...meta, action: "merge" };
      const asked = await scene.ask(
        { ask_type: "APPROVAL", prompt: "Merge?", meta: other, job_id: jobId },
        scene.ana,
        lease,
      );
      const requestId = await scene.withPeople(asked);
      const runner = await freeze(ctx, onAgent("executor:ana-runs"), ADMIN);
      const responder = await responderOf(ctx.db, dana.id, "web");
      const decision = { kind: "approve" } as const;
      const isFrozen = (error: unknown) => error instanceof Refusal && error.code === "frozen";
      await assert.rejects(decideRequest(ctx, { requestId, responder, decision }), isFrozen);
      await thaw(ctx, runner.id, ADMIN);
      await decideRequest(ctx, { requestId, responder, decision });

      const { id } = await freeze(ctx, onAgent("attempt:claude"), ADMIN);
      const ask = await scene.ask({ ask_type: "APPROVAL", prompt: "Open it?", meta, job_id: jobId }, scene.ana, lease);
      for (let i = 0; i < 10; i += 1) await scene.world.advance(1000);
      assert.equal((await scene.ana.get(`/asks/${ask.ask_id}/answer?wait=0`)).status, 204);
      await thaw(ctx, id, ADMIN);
      await until(async () => {
        await scene.world.advance(1000);
        return (await scene.ana.get(`/asks/${ask.ask_id}/answer?wait=0`)).status === 200;
      });
      const again = await freeze(ctx, onAgent("attempt:claude"), ADMIN);
      assert.equal((await scene.ana.get(`/asks/${ask.ask_id}/answer?wait=0`)).status, 204);
      await thaw(ctx, again.id, ADMIN);
    });
  });

  describe(`who is frozen, on ${on}`, () => {
    it("is the agent of exactly this name, and in another case only where there is none", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      await createKey(ctx, { name: "shop", scope: "agent" });
      await world.advance(1000);
      await createKey(ctx, { name: "Shop", scope: "agent" });
      assert.equal((await scopeOfAgent(ctx, "shop"))?.subject, "agent:shop");
      assert.equal((await scopeOfAgent(ctx, "Shop"))?.subject, "agent:Shop");
      assert.equal((await scopeOfAgent(ctx, "SHOP"))?.subject, "agent:Shop");
    });

    it("is nobody's own who once had its key, while it is another's; the last who had one may thaw it", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const [ana, bo] = [await enrol(ctx, "Ana Ruiz"), await enrol(ctx, "Bo Lee")];
      const missing = (error: unknown) => error instanceof Refusal && error.code === "scope_missing";
      await createKey(ctx, { name: "bot", scope: "agent", person: bo, expiresInMs: 3_600_000 });
      await createKey(ctx, { name: "old", scope: "agent", person: bo, expiresInMs: 3_600_000 });
      await createKey(ctx, { name: "bot", scope: "agent", person: ana });
      await world.advance(4_000_000);
      const { id } = await freeze(ctx, onAgent("agent:bot"), human(ana));
      await assert.rejects(thaw(ctx, id, human(bo)), missing);
      await thaw(ctx, id, human(ana));
      await assert.rejects(freeze(ctx, onAgent("agent:bot"), human(bo)), missing);
      const old = await freeze(ctx, onAgent("agent:old"), human(bo));
      await thaw(ctx, old.id, human(bo));
    });
  });
}
