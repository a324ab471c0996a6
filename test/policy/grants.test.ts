import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Logger } from "pino";
import { openFollowPolicy } from "../../src/policy/loops/follow.ts";
import { sweep } from "../../src/server/loops/sweep.ts";
import {
  evaluate,
  policyClassOf,
  policyInput,
  type PolicyWords,
  type PolicyDecision,
} from "../../src/policy/model/policy.ts";
import { FIRST_POLICY, parsePolicy, ruleText } from "../../src/policy/model/text.ts";
import { takeOverLearned } from "../../src/policy/take-over.ts";
import { Refusal } from "../../src/refusals.ts";
import { countApprovals } from "../../src/policy/store/learning.ts";
import { classKeyOf } from "../../src/policy/model/class.ts";
import { transact } from "../../src/core/store/transact.ts";
import { addPerson } from "../../src/access/add-person.ts";
import { readBesidePolicy, readRulesInUse, proposalDiff } from "../../src/policy/list.ts";
import { storeGrant, noteSpared, readGrants, revokeGrantOf } from "../../src/policy/grants.ts";
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
import { DATABASES, openWorld, type World, onOneDatabase } from "../support/world.ts";

const DAY_MS = 86_400_000;
const POLICY = parsePolicy(FIRST_POLICY);
const DEPLOY = { action: "deploy", resource: "shop-api", env: "dev", agent: "ana-bot" };
const BY = { kind: "human", id: OPERATOR } as const;

/** A policy file that is a text. */
function fileOf(text: string) {
  return {
    text,
    state: () => "ok" as const,
    current() {
      return { policy: parsePolicy(this.text) };
    },
    async edit(change: (text: string) => Promise<string>) {
      this.text = await change(this.text);
    },
  };
}

async function judge({ server: { ctx } }: World, words: PolicyWords, policy = POLICY): Promise<PolicyDecision> {
  const input = policyInput(words);
  return evaluate(policy, await readGrants(ctx.db, input), input);
}

async function grant({ server: { ctx } }: World, words: PolicyWords = DEPLOY, person: string = OPERATOR) {
  const input = { input: policyInput(words), approvalId: "ask_1", person, forMs: 30 * DAY_MS };
  return transact(ctx, (tx) => storeGrant(ctx, tx, input));
}

let asks = 0;
async function approve({ server: { ctx } }: World, words: PolicyWords = DEPLOY, policy = POLICY): Promise<void> {
  asks += 1;
  const input = policyInput({ ask_type: "APPROVAL", ...words });
  const approval = { policy, input, approvalId: `ask_${asks}`, learnAfter: 3 };
  await transact(ctx, (tx) => noteApproved(ctx, tx, approval));
}

/** People approve the same often enough, and an admin accepts what is proposed. */
async function learn(world: World, state: "open" | "accepted" = "accepted") {
  const { ctx } = world.server;
  for (let i = 0; i < 3; i += 1) await approve(world);
  const [proposal] = (await readBesidePolicy(ctx)).proposals;
  assert.ok(proposal);
  return state === "open" ? proposal : acceptProposal(ctx, proposal.id, BY);
}

const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
const actions = async ({ server: { ctx } }: World) =>
  (await readAudit(ctx, { afterSeq: 0, limit: 100 })).items.map((entry) => entry["action"]);

for (const on of DATABASES) {
  describe(`permanent permissions on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    it("allow the exact thing from now on, until they are over", async () => {
      await using world = await openWorld({ on });
      assert.equal((await judge(world, DEPLOY)).decision, "ESCALATE");
      const { id, expiresAt, createdAt } = await grant(world);
      assert.equal(expiresAt - createdAt, 30 * DAY_MS);

      const policyDecision = await judge(world, { ...DEPLOY, env: " DEV" });
      assert.deepEqual(
        [policyDecision.decision, policyDecision.trace.grant, policyDecision.matchedRule],
        ["ALLOW", id, true],
      );
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
      const policyDecision = await judge(world, DEPLOY);
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, policyDecision)), true);
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, policyDecision)), true);
      assert.equal((await readBesidePolicy(ctx)).grants[0]?.uses, 2);

      await revokeGrantOf(ctx, id, BY);
      assert.equal((await judge(world, DEPLOY)).decision, "ESCALATE");
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, policyDecision)), false);
      assert.equal((await readBesidePolicy(ctx)).grants[0]?.uses, 2);
      await world.advance(5000);
      for (const none of [id, "grant_unknown"])
        await assert.rejects(revokeGrantOf(ctx, none, BY), refused("policy_entry_not_found"));
      const { id: over } = await grant(world, { ...DEPLOY, resource: "other" });
      await world.advance(30 * DAY_MS);
      await assert.rejects(revokeGrantOf(ctx, over, BY), refused("policy_entry_not_found"));
      const record = await actions(world);
      assert.deepEqual(
        record.filter((action) => String(action).startsWith("policy_grant.")),
        ["policy_grant.created", "policy_grant.revoked", "policy_grant.created"],
      );
    });

    itOnOne("are made by admins, and never for an ask that does not say what it does", async () => {
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
    const itOnOne = onOneDatabase(on);
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
      assert.deepEqual(proposalDiff(proposal), [
        `+  - id: ${proposal.rule.id}`,
        "+    when: { action: deploy, resource: shop-api, env: dev, tool: null, repo: null, agent: ana-bot }",
        "+    decision: ALLOW",
        "+    reason: People approved this 3 times, and an admin made a rule of it",
      ]);

      assert.equal((await acceptProposal(ctx, proposal.id, BY)).state, "accepted");
      const policyDecision = await judge(world, DEPLOY);
      assert.deepEqual(
        [
          policyDecision.decision,
          policyDecision.rules,
          policyDecision.matchedRule,
          policyDecision.trace.policy,
          policyDecision.trace.defaulted,
        ],
        ["ALLOW", [proposal.rule.id], true, `${proposal.rule.id}@v1`, false],
      );
      for (const other of [{ resource: "shop" }, { env: "test" }, { agent: "bo-bot" }, { tool: "t" }, { repo: "r" }])
        assert.equal((await judge(world, { ...DEPLOY, ...other })).decision, "ESCALATE");
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, policyDecision)), true);
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, policyDecision)), true);
      const { spared, learned } = await readRulesInUse(ctx, POLICY);
      assert.deepEqual([...spared], [[proposal.rule.id, 2]]);
      assert.deepEqual(
        learned.map(({ id }) => id),
        [proposal.rule.id],
      );
      await assert.rejects(acceptProposal(ctx, proposal.id, BY), refused("policy_entry_not_found"));

      await revokeLearnedRule(ctx, proposal.rule.id, BY);
      assert.equal((await judge(world, DEPLOY)).decision, "ESCALATE");
      assert.equal(await transact(ctx, (tx) => noteSpared(tx, policyDecision)), false, "nor by a verdict from before");
      for (const id of [proposal.rule.id, "prod-writes", "learned-00000000"])
        await assert.rejects(revokeLearnedRule(ctx, id, BY), refused("policy_entry_not_found"));
      assert.deepEqual(
        (await actions(world)).filter((action) => String(action).startsWith("policy_")),
        ["policy_proposal.created", "policy_proposal.accepted", "policy_proposal.revoked"],
      );
    });

    itOnOne(
      "are weaker than what a rule of the file denies or puts to people, and than what somebody allowed for good",
      async () => {
        await using world = await openWorld({ on });
        const { rule, id: proposal } = await learn(world);
        const ruled = (decision: string) =>
          parsePolicy(`version: 1\nrules: [{ when: { action: deploy }, ${decision} }]`);
        const decided = async (decision: string) => (await judge(world, DEPLOY, ruled(decision))).decision;
        assert.equal(await decided("decision: DENY"), "DENY");
        assert.equal(await decided("decision: ESCALATE"), "ESCALATE");
        assert.equal(await decided("decision: ALLOW"), "ALLOW");
        assert.deepEqual((await judge(world, DEPLOY)).countedAs, { rule: rule.id, proposal });
        const { id } = await grant(world);
        assert.deepEqual((await judge(world, DEPLOY)).countedAs, { grant: id });
      },
    );

    it("are the store's to decide on, whatever is left of one in a file", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const { rule } = await learn(world);
      const left = parsePolicy(`version: 1\nrules:\n${ruleText(rule).join("\n")}\n`);
      assert.equal(evaluate(left, [], policyInput(DEPLOY)).decision, "ALLOW");
      await revokeLearnedRule(ctx, rule.id, BY);
      const policyDecision = await judge(world, DEPLOY, left);
      assert.deepEqual([policyDecision.decision, policyDecision.trace.matched], ["ESCALATE", []]);
    });

    itOnOne("leave a file in which an earlier version wrote them, once, and lose nothing by it", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const { id, rule } = await learn(world, "open");
      const before = `${FIRST_POLICY}${ruleText(rule).join("\n")}\n  - { id: mine, when: { action: x }, decision: ALLOW }\n`;
      const file = fileOf(before);
      const logged: unknown[] = [];
      const log = { info: (facts: unknown) => logged.push(facts), warn: () => assert.fail() } as unknown as Logger;
      await takeOverLearned({ ...ctx, log }, file);
      assert.deepEqual(logged, [{ rule: rule.id }]);
      assert.deepEqual(
        file.current().policy.rules.map((one) => one.id),
        ["prod-writes", "mine"],
      );
      assert.ok(file.text.includes("# What no rule speaks of."), "comments stay");
      assert.equal((await readBesidePolicy(ctx)).proposals[0]?.state, "accepted");
      assert.deepEqual((await judge(world, DEPLOY, file.current().policy)).countedAs, { rule: rule.id, proposal: id });

      await revokeLearnedRule(ctx, rule.id, BY);
      const other = fileOf(before);
      await takeOverLearned({ ...ctx, log }, other);
      assert.equal(other.text, file.text, "the file of another server that still had it");
      assert.equal((await readBesidePolicy(ctx)).proposals[0]?.state, "revoked");
      await takeOverLearned({ ...ctx, log }, other);
      assert.equal(logged.length, 2);
    });

    itOnOne("stay in a file where somebody changed them, or that cannot be written", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const { rule } = await learn(world);
      const written = `version: 1\nrules:\n${ruleText(rule).join("\n")}\n`;
      const logged: string[] = [];
      const log = {
        info: () => assert.fail(),
        warn: (_: unknown, text: string) => logged.push(text),
      } as unknown as Logger;
      const changed = fileOf(written.replace("resource: shop-api", 'resource: "shop-*"'));
      const text = changed.text;
      await takeOverLearned({ ...ctx, log }, changed);
      assert.equal(changed.text, text);
      assert.deepEqual(logged, []);
      const fixed = { ...fileOf(written), edit: () => Promise.reject(new Error("EROFS")) };
      await takeOverLearned({ ...ctx, log }, fixed);
      assert.match(logged.join(), /cannot be taken out .* the store decides/);
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

    itOnOne(
      "are not proposed for what a rule puts to people, for stars, for answers, or for what was dismissed",
      async () => {
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
      },
    );

    it("are proposed once, however many approvals arrive at one time", async () => {
      await using world = await openWorld({ on });
      await Promise.all(Array.from({ length: 3 }, () => approve(world)));
      assert.equal((await readBesidePolicy(world.server.ctx)).proposals.length, 1);
    });

    itOnOne("have no file read again; only who asks for it does", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      let reloads = 0;
      const follow = openFollowPolicy(ctx, { reload: async () => void (reloads += 1) });
      await follow();
      await learn(world);
      await follow();
      assert.equal(reloads, 1);
      await reloadPolicy(ctx);
      await follow();
      assert.equal(reloads, 2);
    });
  });
}
