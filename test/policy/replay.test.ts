import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadPolicy } from "../../src/policy/model/text.ts";
import { replayPolicy } from "../../src/requests/read/replay-policy.ts";
import { accepted, callBody, openScene } from "../support/a2h.ts";
import { ONE_DATABASE } from "../support/world.ts";

const HOUR_MS = 3_600_000;

for (const on of ONE_DATABASE) {
  describe(`a policy tried on recorded calls on ${on}`, () => {
    it("counts what it would decide, and names what people decided otherwise", async () => {
      await using scene = await openScene(on);
      const { ctx } = scene.world.server;
      const ana = await scene.human("Ana");
      const channel = { human: { id: ana.id } };
      const ask = async (fn: string, kwargs: Record<string, unknown>): Promise<string> => {
        await scene.world.advance(1000);
        return accepted(await scene.agent.post("/function_calls", callBody({ fn, kwargs, channel }))).status.ask_id;
      };
      const decide = async (id: string, approved: boolean) =>
        accepted(await ana.answer.post(`/agent/function_calls/${id}/respond`, { approved }));
      const small = await ask("refund", { amount: 5 });
      const refused = await ask("refund", { amount: 9 });
      const large = await ask("refund", { amount: 500 });
      const forced = await ask("deploy", { force: true });
      await ask("deploy", {});
      await decide(small, true);
      await decide(refused, false);
      await decide(large, true);
      await decide(forced, true);
      const policy = await loadPolicy(`version: 1
rules:
  - { id: small, when: { fn: refund, args: { /amount: { max: 10 } } }, decision: ALLOW }
  - { id: no-force, when: { fn: deploy, args: { /force: { exists: true, equals: true } } }, decision: DENY }
`);
      const pages: number[] = [];
      const replay = await replayPolicy(ctx, policy, { sinceMs: HOUR_MS, onProgress: (calls) => pages.push(calls) });
      assert.deepEqual([replay.calls, replay.decisions, pages], [5, { ALLOW: 2, DENY: 1, ESCALATE: 2 }, [5]]);
      assert.deepEqual(replay.matched, [
        { rule: "small", calls: 2 },
        { rule: "no-force", calls: 1 },
      ]);
      assert.deepEqual(
        replay.contradictions.map(({ id, approvedByPeople, decision, rule }) => [id, approvedByPeople, decision, rule]),
        [
          [forced, true, "DENY", "no-force"],
          [refused, false, "ALLOW", "small"],
        ],
      );
      await scene.world.advance(2 * HOUR_MS);
      assert.equal((await replayPolicy(ctx, policy, { sinceMs: HOUR_MS })).calls, 0);
    });
  });
}
