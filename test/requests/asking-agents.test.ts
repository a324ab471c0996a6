import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { freeze } from "../../src/policy/freezes.ts";
import { askPeople, toPerson } from "../support/addressed.ts";
import { fresh, MINUTE } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { OPERATOR } from "../support/identities.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;

interface Agent {
  principal: string;
  name: string;
  asked_at: string | null;
  waiting: number;
  questions: number;
  newest: { of: number; approved: number; rejected: number; median_wait_ms: number | null };
  frozen: boolean;
  keys: unknown[];
}

async function lister(world: World) {
  const { text } = await createKey(world.server.ctx, { name: fresh("boss"), scope: "admin" });
  return async (cursor?: string): Promise<{ agents: Agent[]; next: string | null }> => {
    const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
    const headers = { authorization: `Bearer ${text}` };
    const { status, body, text: whole } = await world.call("GET", `/admin/asking_agents${query}`, { headers });
    assert.equal(status, 200, whole);
    return body;
  };
}

for (const on of DATABASES) {
  describe(`the programs that ask, on ${on}`, () => {
    it("are each listed with what waits, how its newest requests ended, its keys and its freeze", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const list = await lister(world);
      const operator = await decider(world, OPERATOR);
      const ask = (asker: string) =>
        askPeople(ctx, { asker, ref: fresh("call"), audience: toPerson(OPERATOR), timeoutSeconds: 86_400 });
      const [approved, rejected, third] = [await ask("agent:bee"), await ask("agent:bee"), await ask("agent:bee")];
      await world.advance(2 * MINUTE);
      await operator.decide(approved.id, { approved: true });
      await world.advance(2 * MINUTE);
      await operator.decide(rejected.id, { approved: false });
      const last = await ask("attempt:shop/1/2");
      await world.agent("crowd").ask({ timeout_seconds: 86_400 });
      await createKey(ctx, { name: "quiet", scope: "executor" });
      await createKey(ctx, { name: "bee", scope: "agent" });
      await freeze(ctx, { scope: "agent", subject: "agent:bee" }, ADMIN);

      const { agents, next } = await list();
      assert.deepEqual(
        agents.map(({ principal, name }) => [principal, name]),
        [
          ["agent:bee", "bee"],
          ["agent:first", "first"],
          ["executor:quiet", "quiet"],
          ["open:crowd", "crowd (without a key)"],
        ],
        `without the attempt that asked ${last.id}`,
      );
      const [bee, first, quiet, crowd] = agents;
      assert.deepEqual([first?.asked_at, first?.keys.length], [null, 1], "the key that setup made");
      assert.deepEqual(bee?.newest, { of: 3, approved: 1, rejected: 1, median_wait_ms: 3 * MINUTE });
      assert.deepEqual([bee?.waiting, bee?.frozen, bee?.keys.length], [1, true, 1], third.id);
      assert.equal(Date.parse(bee?.asked_at ?? ""), third.createdAt);
      assert.deepEqual([quiet?.asked_at, quiet?.newest.of, quiet?.keys.length], [null, 0, 1]);
      assert.deepEqual([crowd?.questions, crowd?.waiting, crowd?.keys.length, next], [1, 0, 0, null]);
    });

    it("come page by page in the order of their names, each once", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const list = await lister(world);
      const names = Array.from({ length: 120 }, (_, i) => `agent:n${String(i).padStart(3, "0")}`);
      for (const asker of names.toReversed()) await askPeople(ctx, { asker, audience: toPerson(OPERATOR) });
      await askPeople(ctx, { asker: "agent:Ünï", audience: toPerson(OPERATOR) });
      const found: string[] = [];
      for (let cursor: string | undefined; ;) {
        const { agents, next } = await list(cursor);
        found.push(...agents.map(({ principal }) => principal));
        if (next === null) break;
        cursor = next;
      }
      assert.deepEqual(found, ["agent:first", ...names, "agent:Ünï"]);
    });
  });
}
