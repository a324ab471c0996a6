import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OPERATOR } from "../support/identities.ts";
import { until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { openRelayScene, type RelayScene } from "../support/relay.ts";
import { ONE_DATABASE } from "../support/world.ts";

const DEPLOY = { ask_type: "APPROVAL", prompt: "Deploy 1.4.2?", meta: { action: "deploy", resource: "shop-api" } };

/** Returns the policy as admins see it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
const shown = async (scene: RelayScene): Promise<any> => (await scene.admin.get("/admin/policy")).body;

/** Asks, and has the operator decide it. */
async function decided(scene: RelayScene, decision: object, more: object = {}) {
  const ask = await scene.ask({ ...DEPLOY, ...more });
  const operator = await decider(scene.world, OPERATOR);
  const reply = await operator.decide(await scene.withPeople(ask), decision);
  assert.equal(reply.status, 200, reply.text);
  return scene.answerTo(ask);
}

for (const on of ONE_DATABASE) {
  describe(`policy and the executors that ask, on ${on}`, () => {
    it("denies, allows and puts to people by rules, and says which", async () => {
      await using scene = await openRelayScene(on);
      await scene.policy(`version: 2
rules:
  - { id: no-wipes, when: { action: wipe }, decision: DENY, reason: Nobody wipes }
  - { id: open-prs, when: { action: open_pr }, decision: ALLOW }
`);
      const denied = await scene.answerTo(await scene.ask({ ...DEPLOY, meta: { action: "WIPE" } }));
      assert.deepEqual([denied.status, denied.error], ["REJECTED", "E_POLICY_DENY: Nobody wipes"]);
      assert.equal(denied.policy_trace.policy, "no-wipes@v2");
      const approved = await scene.answerTo(await scene.ask({ ...DEPLOY, meta: { action: "open_pr" } }));
      assert.deepEqual([approved.status, approved.answer_json], ["ANSWERED", { approved: true, by: "policy" }]);
      const allowed = await scene.answerTo(
        await scene.ask({ ask_type: "POLICY_DECISION", prompt: "May I?", meta: { action: "open_pr" } }),
      );
      assert.deepEqual(allowed.answer_json, { decision: "ALLOW", rules: ["open-prs"] });
      const { rules } = await shown(scene);
      assert.deepEqual(
        rules.map(({ rule, spared }: { rule: string; spared: number }) => [rule, spared]),
        [
          ["no-wipes", 1],
          ["open-prs", 2],
        ],
      );
    });

    it("repeats no question that an admin allowed for good, until it is revoked", async () => {
      await using scene = await openRelayScene(on);
      const first = await decided(scene, { approved: true, standing: true });
      assert.deepEqual([first.status, first.source], ["ANSWERED", "person"]);
      const [grant] = await until(async () => {
        await scene.world.advance(1000);
        const { grants } = await shown(scene);
        return grants.length > 0 && (grants as { id: string; agent: string; by: string }[]);
      });
      assert.deepEqual([grant?.agent, grant?.by], ["ana-runs", OPERATOR]);

      const again = await scene.answerTo(await scene.ask(DEPLOY));
      assert.deepEqual([again.source, again.answer_json], ["policy", { approved: true, by: "policy" }]);
      assert.equal(again.policy_trace.grant, grant?.id);
      assert.equal((await shown(scene)).grants[0].spared, 1);
      // The same ask of another agent goes to people.
      await scene.withPeople(await scene.ask(DEPLOY, scene.bo));

      assert.equal((await scene.admin.call("DELETE", `/admin/policy/grants/${grant?.id}`)).status, 200);
      await scene.withPeople(await scene.ask(DEPLOY));
    });

    it("learns a rule from what people keep approving, once an admin accepts it", async () => {
      await using scene = await openRelayScene(on);
      await decided(scene, { approved: true });
      await decided(scene, { approved: true });
      await decided(scene, { approved: true }, { meta: { ...DEPLOY.meta, resource: "shop-web" } });
      assert.deepEqual((await shown(scene)).proposals, []);
      await decided(scene, { approved: true });
      const [proposal] = await until(async () => {
        await scene.world.advance(1000);
        const { proposals } = await shown(scene);
        return proposals.length > 0 && (proposals as { id: string; rule: string }[]);
      });
      const { status } = await scene.admin.post(`/admin/policy/proposals/${proposal?.id}/accept`);
      assert.equal(status, 200);

      const answer = await scene.answerTo(await scene.ask(DEPLOY));
      assert.deepEqual([answer.source, answer.policy_trace.policy], ["policy", `${proposal?.rule}@v1`]);
      const rule = (await shown(scene)).rules.find(({ learned }: { learned: boolean }) => learned);
      assert.deepEqual([rule.rule, rule.spared], [proposal?.rule, 1]);
      assert.equal((await scene.admin.call("DELETE", `/admin/policy/rules/${proposal?.rule}`)).status, 200);
      await scene.withPeople(await scene.ask(DEPLOY));
    });
  });
}
