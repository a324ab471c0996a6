import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { policyInput } from "../../src/policy/model/policy.ts";
import { FIRST_POLICY, parsePolicy } from "../../src/policy/model/text.ts";
import { transact } from "../../src/core/store/transact.ts";
import { createKey } from "../../src/access/create-key.ts";
import { storeGrant } from "../../src/policy/grants.ts";
import { noteApproved } from "../../src/policy/proposals.ts";
import { OPERATOR } from "../support/identities.ts";
import { ONE_DATABASE, openWorld, type World } from "../support/world.ts";

const DEPLOY = { ask_type: "APPROVAL", action: "deploy", resource: "shop-api", agent: "ana-bot" };

async function adminOf(world: World) {
  const { text } = await createKey(world.server.ctx, { name: "console", scope: "admin" });
  return (method: string, path: string, body?: unknown) =>
    world.call(method, path, { headers: { authorization: `Bearer ${text}` }, ...(body !== undefined && { body }) });
}

async function propose({ server: { ctx } }: World, words: typeof DEPLOY): Promise<void> {
  const [policy, input] = [parsePolicy(FIRST_POLICY), policyInput(words)];
  for (const n of [1, 2]) {
    const approval = { policy, input, approvalId: `${words.resource}-${n}`, learnAfter: 2 };
    await transact(ctx, (tx) => noteApproved(ctx, tx, approval));
  }
}

for (const on of ONE_DATABASE) {
  describe(`the policy over HTTP on ${on}`, () => {
    it("is shown with what each rule is about, and tried without asking anybody", async () => {
      await using world = await openWorld({ on });
      const admin = await adminOf(world);
      const { status, body } = await admin("GET", "/admin/policy");
      assert.equal(status, 200);
      assert.deepEqual(body, {
        state: "ok",
        problem: null,
        policy_version: parsePolicy(FIRST_POLICY).policyVersion,
        text: FIRST_POLICY,
        defaults: { read: "ALLOW", other: "ESCALATE" },
        rules: [
          {
            rule: "prod-writes",
            decision: "DENY",
            about: 'env is "prod", action is "write" or "apply_diff"',
            reason: "Production data is changed by releases only",
            to: null,
            need: 1,
            standing: true,
            spared: 0,
            observed: null,
            learned: false,
            idle: null,
          },
        ],
        grants: [],
        grants_next: null,
        proposals: [],
        proposals_next: null,
      });
      const tried = await admin("POST", "/admin/policy/test", { action: "write", env: "prod", meta: { ticket: 7 } });
      assert.equal(tried.status, 200);
      assert.equal(tried.body.trace.policy, "prod-writes@v1");
      assert.equal(tried.body.words[0], 'Asked about: action "write", resource "", env "prod", meta.ticket "7".');
      const refused = await admin("POST", "/admin/policy/test", { action: 7 });
      assert.deepEqual([refused.status, refused.body.error.code], [400, "VALIDATION_ERROR"]);
    });

    it("takes a proposed rule, loses it again, and ends what was allowed for good", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const path = world.config.relay.policyFile;
      const admin = await adminOf(world);
      await propose(world, DEPLOY);
      await propose(world, { ...DEPLOY, resource: "shop-web" });
      const proposals = (await admin("GET", "/admin/policy")).body.proposals as {
        id: string;
        rule: string;
        diff: string;
      }[];
      assert.equal(proposals.length, 2);
      const [one, other] = proposals;
      assert.match(one?.diff ?? "", /^\+ {2}- id: learned-[0-9a-f]{8}$/m);

      const accepted = await admin("POST", `/admin/policy/proposals/${one?.id}/accept`);
      assert.deepEqual([accepted.status, accepted.body.state], [200, "accepted"]);
      assert.equal(readFileSync(path, "utf8"), FIRST_POLICY, "the store holds it");
      const dismissed = await admin("POST", `/admin/policy/proposals/${other?.id}/dismiss`);
      assert.deepEqual([dismissed.status, dismissed.body.state], [200, "dismissed"]);
      const shown = (await admin("GET", "/admin/policy")).body.rules as { rule: string; learned: boolean }[];
      assert.deepEqual(
        shown.map(({ rule, learned }) => [rule, learned]),
        [
          ["prod-writes", false],
          [one?.rule, true],
        ],
      );
      assert.equal((await admin("DELETE", `/admin/policy/rules/${one?.rule}`)).body.state, "revoked");
      for (const none of [one?.rule, "prod-writes", "learned-00000000"]) {
        const { status, body } = await admin("DELETE", `/admin/policy/rules/${none}`);
        assert.deepEqual([status, body.error.code], [404, "NOT_FOUND"]);
      }

      const input = { input: policyInput(DEPLOY), approvalId: "ask_1", person: OPERATOR, forMs: 30 * 86_400_000 };
      const { id } = await transact(ctx, (tx) => storeGrant(ctx, tx, input));
      const decide = async () => (await admin("POST", "/admin/policy/test", DEPLOY)).body.trace.decision as string;
      assert.equal(await decide(), "ALLOW");
      assert.notEqual((await admin("DELETE", `/admin/policy/grants/${id}`)).body.revoked_at, null);
      assert.equal(await decide(), "ESCALATE");
      assert.equal((await admin("DELETE", `/admin/policy/grants/${id}`)).status, 404, "there is nothing to revoke");
      assert.equal((await admin("GET", "/admin/policy")).body.grants[0].live, false);
    });
  });
}
