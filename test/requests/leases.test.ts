import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { callBody } from "../support/a2h.ts";
import { advanceUntil, fresh, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { DATABASES } from "../support/world.ts";

const CALLS = "/a2h/v1alpha1/function_calls";
const LEASE_MS = 30_000;

for (const on of DATABASES) {
  describe(`a prompt of a hook on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const headers = { "x-agent-id": "codex" };
    const ask = async (more: object = {}) => {
      const agent_prompt = { agent: "codex", lease_seconds: LEASE_MS / 1000, ...more };
      const body = callBody({ timeout_seconds: 3600 }, { agent_prompt, run_id: "monday" });
      const reply = await world().call("POST", CALLS, { headers, body });
      assert.equal(reply.status, 200, reply.text);
      return reply.body as { call_id: string; status: { ask_id: string; cancelled?: boolean } };
    };
    const read = async (callId: string, wait = 0) =>
      (await world().call("GET", `${CALLS}/${callId}?wait=${wait}`, { headers })).body.status;

    it("is withdrawn once nobody has waited for its lease, and takes no decision then", async () => {
      const operator = await decider(world(), "1");
      const { call_id: callId, status } = await ask();
      await world().advance(LEASE_MS - 1000);
      assert.equal((await read(callId)).resolved_at, undefined);
      await world().advance(2000);
      const late = await operator.decide(status.ask_id, { approved: true });
      assert.equal(late.status, 409, late.text);
      assert.equal((await read(callId)).cancelled, true);
      assert.deepEqual(await operator.inbox(), []);
    });

    it("stays while its agent waits, whatever that takes, and not while somebody else does", async () => {
      const operator = await decider(world(), "1");
      const { call_id: callId, status } = await ask();
      for (let round = 0; round < 3; round += 1) {
        let isOver = false;
        const waiting = read(callId, 50).finally(() => (isOver = true));
        await until(() => world().server.ctx.openWaits.has(status.ask_id));
        await advanceUntil(world(), 1000, () => isOver);
        assert.equal((await waiting).resolved_at, undefined);
      }
      const watching = world().call("GET", `${CALLS}/${status.ask_id}?wait=50`, {
        headers: { authorization: `Bearer ${(await phone()).text}` },
      });
      await world().advance(LEASE_MS);
      await until(async () => (await operator.inbox()).length === 0);
      assert.equal((await watching).body.status.cancelled, true);
    });

    it("is shared by hooks that ask about one use at a time, and by no later use of that id", async () => {
      const operator = await decider(world(), "1");
      const use = fresh("use");
      const [first, second] = [await ask({ use }), await ask({ use })];
      assert.equal(second.call_id, first.call_id);
      assert.notEqual((await ask({ use, subagent: "reviewer" })).call_id, first.call_id);
      await until(async () => (await operator.inbox()).length === 2);
      for (const { id } of await operator.inbox()) await operator.decide(id, { approved: true });
      const later = await ask({ use });
      assert.notEqual(later.call_id, first.call_id);
      assert.equal(later.status.cancelled, undefined);
      assert.equal((await operator.inbox()).length, 1);
    });

    it("shows the agent below the one that asks", async () => {
      const operator = await decider(world(), "1");
      const { status } = await ask({ subagent: "reviewer" });
      const { agent } = (await operator.whole(status.ask_id)).body;
      assert.equal(agent, "codex (without a key) (its agent reviewer)");
    });

    async function phone() {
      return createKey(world().server.ctx, { name: fresh("phone"), scope: "answer", person: "1" });
    }
  });
}
