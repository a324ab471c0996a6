import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { readRulesInUse, usesOf } from "../../src/policy/list.ts";
import { nameOf } from "../../src/policy/model/policy.ts";
import { loadPolicy } from "../../src/policy/model/text.ts";
import { replayPolicy } from "../../src/requests/read/replay-policy.ts";
import { accepted, openScene } from "../support/a2h.ts";
import { asked, broken, withRules } from "../support/policy-calls.ts";
import { openRelayScene } from "../support/relay.ts";
import { DATABASES, type World } from "../support/world.ts";

const HOUR_MS = 3_600_000;
const CALLS = `version: 1
rules:
  - { id: pings, when: { fn: ping }, decision: ALLOW }
  - { id: no-pings, when: { fn: "p*" }, decision: DENY, mode: observe }
  - { id: refunds, when: { fn: refund, args: { /amount: { max: 10 } } }, decision: ALLOW, mode: observe }
`;

type Uses = readonly [rule: string, spared: number, observed: number | null];

async function usesIn(world: World): Promise<Uses[]> {
  const policy = await loadPolicy(readFileSync(world.config.relay.policyFile, "utf8"));
  const inUse = await readRulesInUse(world.server.ctx, policy);
  return policy.rules.map((rule): Uses => {
    const { spared, observed } = usesOf(rule, inUse);
    return [nameOf(rule), spared, observed];
  });
}

for (const on of DATABASES) {
  describe(`rules that are only observed, on ${on}`, () => {
    it("count the function calls that they match, once each, whoever decides these", async () => {
      await using scene = await openScene(on);
      const { ctx } = scene.world.server;
      await withRules(scene, CALLS);
      const ana = await scene.human("Ana");
      const channel = { human: { id: ana.id } };
      const refund = (amount: number) => asked(scene, { fn: "refund", kwargs: { amount }, channel });
      assert.equal((await asked(scene, { fn: "ping", channel })).approved, true);
      const { ask_id, approved } = await refund(5);
      assert.equal(approved, undefined);
      await refund(500);
      assert.deepEqual(await usesIn(scene.world), [
        ["pings", 1, null],
        ["no-pings", 0, 1],
        ["refunds", 0, 1],
      ]);
      accepted(await ana.answer.post(`/agent/function_calls/${ask_id}/respond`, { approved: true }));
      assert.equal((await usesIn(scene.world))[2]?.[2], 1);

      const { matched, decisions } = await replayPolicy(ctx, await loadPolicy(CALLS), { sinceMs: HOUR_MS });
      assert.deepEqual(decisions, { ALLOW: 1, DENY: 0, ESCALATE: 2 });
      assert.deepEqual(matched, [
        { rule: "pings", calls: 1 },
        { rule: "no-pings", calls: 1, changed: 1 },
        { rule: "refunds", calls: 1, changed: 1 },
      ]);
      const again = CALLS.replace(", mode: observe }\n  - { id: refunds", " }\n  - { id: refunds");
      await withRules(scene, again);
      assert.equal((await asked(scene, { fn: "ping", channel })).approved, false);
      assert.deepEqual((await usesIn(scene.world))[1], ["no-pings", 1, null]);
      assert.deepEqual(await broken(scene), []);
    });

    it("are counted and named with asks of executors that rules, defaults and people decide", async () => {
      await using scene = await openRelayScene(on);
      await scene.policy(`version: 2
rules:
  - { id: open-prs, when: { action: open_pr }, decision: ALLOW }
  - { id: any, when: { resource: "shop*" }, decision: DENY, mode: observe }
  - { when: { action: deploy }, decision: ESCALATE, standing: false, mode: observe }
`);
      const ask = (action: string) =>
        scene.ask({ ask_type: "APPROVAL", prompt: "May I?", meta: { action, resource: "shop-api" } });
      const allowed = await scene.answerTo(await ask("open_pr"));
      assert.deepEqual(
        [allowed.answer_json, allowed.policy_trace.observed],
        [{ approved: true, by: "policy" }, ["any"]],
      );
      await scene.withPeople(await ask("deploy"));
      assert.deepEqual(await usesIn(scene.world), [
        ["open-prs", 1, null],
        ["any", 0, 2],
        ["rules[2]", 0, 1],
      ]);
    });
  });
}
