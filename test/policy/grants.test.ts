import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openFollowPolicy } from "../../src/policy/loops/follow.ts";
import { sweep } from "../../src/server/loops/sweep.ts";
import {
  evaluate,
  policyClassOf,
  policyInput,
  type PolicyWords,
  type PolicyVerdict,
} from "../../src/policy/model/policy.ts";
import { FIRST_POLICY, parsePolicy } from "../../src/policy/model/text.ts";
import { Refusal } from "../../src/refusals.ts";
import { countApprovals } from "../../src/policy/store/learning.ts";
import { classKeyOf } from "../../src/policy/model/class.ts";
import { transact } from "../../src/core/store/transact.ts";
import { addPerson } from "../../src/access/add-person.ts";
import { readBesidePolicy, readRulesInUse, proposalDiff } from "../../src/policy/list.ts";
import { grantStanding, noteSpared, readGrants, revokeStanding } from "../../src/policy/grants.ts";
import {
  acceptProposal,
  dismissProposal,
  LEARNED_WITHIN_MS,
  noteApproved,
  noteRejected,
  reloadPolicy,
  revokeLearnedRule,
} from "../../src/policy/proposals.ts";
import { OPERATOR } from "../support/identities.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const DAY_MS = 86_400_000;
const POLICY = parsePolicy(FIRST_POLICY);
const DEPLOY = { action: "deploy", resource: "shop-api", env: "dev", agent: "ana-bot" };
const BY = { kind: "human", id: OPERATOR } as const;

/** A policy file that is a text. */
function fileOf(text: string) {
  return {
    text,
    async edit(change: (text: string) => string) {
      this.text = change(this.text);
    },
  };
}

async function judge({ server: { ctx } }: World, words: PolicyWords, policy = POLICY): Promise<PolicyVerdict> {
  const input = policyInput(words);
  return evaluate(policy, await readGrants(ctx.db, input), input);
}

async function grant({ server: { ctx } }: World, words: PolicyWords = DEPLOY, person: string = OPERATOR) {
  const wish = { input: policyInput(words), askId: "ask_1", person, days: 30 };
  return transact(ctx, (tx) => grantStanding(ctx, tx, wish));
}

let asks = 0;
async function approve({ server: { ctx } }: World, words: PolicyWords = DEPLOY, policy = POLICY): Promise<void> {
  asks += 1;
  const input = policyInput({ ask_type: "APPROVAL", ...words });
  const approval = { policy, input, askId: `ask_${asks}`, learnAfter: 3 };
  await transact(ctx, (tx) => noteApproved(ctx, tx, approval));
}

const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
const actions = async ({ server: { ctx } }: World) =>
  (await readAudit(ctx, { afterSeq: 0, limit: 100 })).items.map((entry) => entry["action"]);

for (const on of DATABASES) {
  describe(`standing grants on ${on}`, () => {
    it("allow the exact thing from now on, until they are over", async () => {
      await using world = await openWorld({ on });
      assert.equal((await judge(world, DEPLOY)).decision, "ESCALATE");
      const { id, expiresAt, createdAt } = await grant(world);
      assert.equal(expiresAt - createdAt, 30 * DAY_MS);

      const verdict = await judge(world, { ...DEPLOY, env: " DEV" });
      assert.deepEqual([verdict.decision, verdict.trace.grant, verdict.matchedRule], ["ALLOW", id, true]);
      for (const other of [{ resource: "shop" }, { env: "test" }, { agent: "bo-bot" }, { tool: "t" }, { repo: "r" }])
        assert.equal((await judge(world, { ...DEPLOY, ...other })).decision, "ESCALATE");

      await world.advance(30 * DAY_MS - 1000);
      assert.equal((await judge(world, DEPLOY)).decision, "ALLOW");
      await world.advance(1000);
      assert.equal((await judge(world, DEPLOY)).decision, "ESCALATE");
    });

    it("end at once when they are revoked, also for a verdict that was read before", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const { id } = await grant(world);
      const verdict = await judge(world, DEPLOY);
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, verdict)), true);
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, verdict)), true);
      assert.equal((await readBesidePolicy(ctx)).grants[0]?.uses, 2);

      const { revokedAt } = await revokeStanding(ctx, id, BY);
      assert.equal((await judge(world, DEPLOY)).decision, "ESCALATE");
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, verdict)), false);
      assert.equal((await readBesidePolicy(ctx)).grants[0]?.uses, 2);
      await world.advance(5000);
      assert.equal((await revokeStanding(ctx, id, BY)).revokedAt, revokedAt);
      await assert.rejects(revokeStanding(ctx, "grant_unknown", BY), refused("policy_entry_not_found"));
      const record = await actions(world);
      assert.deepEqual(
        record.filter((action) => String(action).startsWith("policy_grant.")),
        ["policy_grant.created", "policy_grant.revoked", "policy_grant.revoked"],
      );
    });

    it("are made by admins, and never for an ask that does not say what it does", async () => {
      await using world = await openWorld({ on });
      const { id: bo } = await addPerson(world.server.ctx, { name: "Bo", role: "member" });
      await assert.rejects(grant(world, DEPLOY, bo), refused("scope_missing"));
      await assert.rejects(grant(world, DEPLOY, "mallory"), refused("scope_missing"));
      await assert.rejects(grant(world, { ask_type: "APPROVAL", resource: "shop-api" }), refused("not_grantable"));
      await assert.rejects(grant(world, { action: " Unknown " }), refused("not_grantable"));
      assert.deepEqual((await readBesidePolicy(world.server.ctx)).grants, []);
    });
  });

  describe(`learned rules on ${on}`, () => {
    it("are proposed once people have approved the same three times, and are in force once an admin accepts", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      await approve(world);
      await approve(world);
      await approve(world, { ...DEPLOY, resource: "other" });
      assert.deepEqual((await readBesidePolicy(ctx)).proposals, []);
      await approve(world);
      await approve(world);
      const { proposals } = await readBesidePolicy(ctx);
      assert.equal(proposals.length, 1);
      const [proposal] = proposals;
      assert.ok(proposal);
      assert.deepEqual([proposal.state, proposal.approvals], ["open", 3]);
      assert.deepEqual(
        proposalDiff(FIRST_POLICY, proposal).filter((line) => line.startsWith("+")),
        [
          `+  - id: ${proposal.rule.id}`,
          "+    when: { action: deploy, resource: shop-api, env: dev, tool: null, repo: null, agent: ana-bot }",
          "+    decision: ALLOW",
          "+    reason: People approved this 3 times, and an admin made a rule of it",
        ],
      );

      let reloads = 0;
      const follow = openFollowPolicy(ctx, { reload: async () => void (reloads += 1) });
      await follow(ctx.stopping);
      await follow(ctx.stopping);
      assert.equal(reloads, 1);
      const file = fileOf(FIRST_POLICY);
      assert.equal((await acceptProposal(ctx, proposal.id, BY, file)).state, "accepted");
      await follow(ctx.stopping);
      assert.equal(reloads, 2, "every server reads the file again");

      const verdict = await judge(world, DEPLOY, parsePolicy(file.text));
      assert.deepEqual([verdict.decision, verdict.rules], ["ALLOW", [proposal.rule.id]]);
      await transact(ctx, (tx) => noteSpared(tx, verdict));
      await transact(ctx, (tx) => noteSpared(tx, verdict));
      const { spared, learned } = await readRulesInUse(ctx, parsePolicy(file.text));
      assert.deepEqual([...spared], [[proposal.rule.id, 2]]);
      assert.deepEqual([...learned], [proposal.rule.id]);
      await assert.rejects(acceptProposal(ctx, proposal.id, BY, file), refused("policy_entry_not_found"));

      await revokeLearnedRule(ctx, proposal.rule.id, BY, file);
      assert.equal((await judge(world, DEPLOY, parsePolicy(file.text))).decision, "ESCALATE");
      await assert.rejects(revokeLearnedRule(ctx, "prod-writes", BY, file), refused("policy_entry_not_found"));
      assert.deepEqual(
        (await actions(world)).filter((action) => String(action).startsWith("policy_")),
        ["policy_proposal.created", "policy_proposal.accepted", "policy_proposal.revoked"],
      );
    });

    it("count each ask once, a month long, and from the last rejection on", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const what = policyClassOf(policyInput(DEPLOY));
      assert.ok(what);
      const count = () => countApprovals(ctx.db, classKeyOf(what), LEARNED_WITHIN_MS);
      await approve(world);
      asks -= 1;
      await approve(world);
      assert.equal(await count(), 1);
      await approve(world);
      await transact(ctx, (tx) => noteRejected(tx, policyInput(DEPLOY)));
      assert.equal(await count(), 0);
      await approve(world);
      await approve(world);
      await world.advance(30 * DAY_MS);
      assert.equal(await count(), 0);
      await approve(world);
      assert.deepEqual((await readBesidePolicy(ctx)).proposals, []);
      await sweep(ctx);
      assert.equal(await count(), 1);
    });

    it("are not proposed for what a rule puts to people, for stars, for answers, or for what was dismissed", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const asking = parsePolicy(`version: 1\nrules: [{ when: { action: deploy }, decision: ESCALATE }]`);
      for (let i = 0; i < 4; i += 1) {
        await approve(world, DEPLOY, asking);
        await approve(world, { ...DEPLOY, resource: "*" });
        await approve(world, { ...DEPLOY, action: "unknown" });
        await approve(world, { ...DEPLOY, ask_type: "CLARIFICATION" });
      }
      assert.deepEqual((await readBesidePolicy(ctx)).proposals, []);

      await approve(world);
      const [proposal] = (await readBesidePolicy(ctx)).proposals;
      assert.ok(proposal);
      assert.equal((await dismissProposal(ctx, proposal.id, BY)).state, "dismissed");
      await assert.rejects(dismissProposal(ctx, proposal.id, BY), refused("policy_entry_not_found"));
      for (let i = 0; i < 4; i += 1) await approve(world);
      assert.equal((await readBesidePolicy(ctx)).proposals.length, 1);
    });

    it("are proposed once, however many approvals arrive at one time", async () => {
      await using world = await openWorld({ on });
      await Promise.all(Array.from({ length: 3 }, () => approve(world)));
      assert.equal((await readBesidePolicy(world.server.ctx)).proposals.length, 1);
    });

    it("can be accepted again after a server that died in between, and not into a file that holds a mistake", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      for (let i = 0; i < 3; i += 1) await approve(world);
      const [proposal] = (await readBesidePolicy(ctx)).proposals;
      assert.ok(proposal);
      await assert.rejects(acceptProposal(ctx, proposal.id, BY, fileOf("version: [")), refused("policy_broken"));

      const file = fileOf(FIRST_POLICY);
      const dying = { ...ctx, db: { ...ctx.db, transact: () => Promise.reject(new Error("the power went")) } };
      dying.db.all = ctx.db.all.bind(ctx.db);
      await assert.rejects(acceptProposal(dying, proposal.id, BY, file), /the power went/);
      const once = file.text;
      await acceptProposal(ctx, proposal.id, BY, file);
      assert.equal(file.text, once);
    });

    it("are not the only reason to read the file again", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      let reloads = 0;
      const follow = openFollowPolicy(ctx, { reload: async () => void (reloads += 1) });
      await follow(ctx.stopping);
      await reloadPolicy(ctx);
      await follow(ctx.stopping);
      assert.equal(reloads, 2);
    });
  });
}
