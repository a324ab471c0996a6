import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pino } from "pino";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { differingPolicies } from "../../src/cli/doctor/doctor.ts";
import { transact } from "../../src/core/store/transact.ts";
import { storeGrant } from "../../src/policy/grants.ts";
import { judge, type Judging } from "../../src/policy/judge.ts";
import { checkPolicy } from "../../src/policy/model/check.ts";
import { type PolicyWords, policyInput } from "../../src/policy/model/policy.ts";
import { parsePolicy } from "../../src/policy/model/text.ts";
import { acceptProposal, noteApproved, revokeLearnedRule } from "../../src/policy/proposals.ts";
import { readBesidePolicy } from "../../src/policy/list.ts";
import { forgetServer, LIVE_MS, listServers, noteServer } from "../../src/policy/store/servers.ts";
import { startServer } from "../../src/server/server.ts";
import { OPERATOR } from "../support/identities.ts";
import { advanceUntil } from "../support/contract.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const ALLOWS = `version: 1\nrules: [{ id: ok, when: { action: deploy }, decision: ALLOW }]\n`;
const DEPLOY = { action: "deploy", resource: "shop", agent: "ana-bot" };

/** A server that allows it itself, so that only what others say is in question. */
async function allowing(on: World["on"]): Promise<World> {
  const world = await openWorld({ on });
  writeFileSync(world.config.relay.policyFile, ALLOWS);
  await world.server.reload();
  return world;
}

/** Another server of the store goes by this policy, or by something that this one cannot read. */
async function other({ server: { ctx } }: World, policy: string, id = "other"): Promise<void> {
  const read = () => parsePolicy(policy).policyVersion;
  const policyVersion = policy.includes("unheard_of") ? "9:000000000000" : read();
  await transact(ctx, (tx) => noteServer(tx, { id, name: `${id}, policy.yaml`, policyVersion, policy }));
}

const decide = ({ server: { ctx } }: World, words: PolicyWords = DEPLOY, by: Partial<Judging> = {}) =>
  judge(ctx.db, { policy: parsePolicy(ALLOWS), ...by }, policyInput(words));

async function learn({ server: { ctx } }: World) {
  const policy = checkPolicy({ version: 1 });
  const input = policyInput({ ask_type: "APPROVAL", ...DEPLOY });
  for (const approvalId of ["a", "b", "c"])
    await transact(ctx, (tx) => noteApproved(ctx, tx, { policy, input, approvalId, learnAfter: 3 }));
  const [proposal] = (await readBesidePolicy(ctx)).proposals;
  assert.ok(proposal);
  return acceptProposal(ctx, proposal.id, { kind: "human", id: OPERATOR });
}

for (const on of DATABASES) {
  describe(`what servers with different policies allow, on ${on}`, () => {
    it("is what each of them allows; all else is put to people, and nobody can allow it for good", async () => {
      await using world = await allowing(on);
      assert.equal((await decide(world)).decision, "ALLOW");
      await other(world, `${ALLOWS}# the same rules\n`);
      assert.equal((await decide(world)).decision, "ALLOW", "the same policy");
      const denies = "{ id: no, when: { action: deploy }, decision: DENY, mode: observe }";
      await other(world, ALLOWS.replace("rules: [", `rules: [${denies}, `));
      assert.equal((await decide(world)).decision, "ALLOW", "a rule that is only observed there");
      const observing = parsePolicy(ALLOWS.replace("rules: [", `rules: [${denies}, `));
      await other(world, ALLOWS.replace("decision: ALLOW", "decision: ALLOW, mode: observe"));
      const disputed = await decide(world, DEPLOY, { policy: observing });
      assert.deepEqual([disputed.decision, disputed.trace.observed], ["ESCALATE", ["no"]]);
      assert.deepEqual(disputed.observed?.policyVersion, observing.policyVersion);
      await other(world, ALLOWS.replace("version: 1", "version: 2"));
      assert.equal((await decide(world)).decision, "ALLOW", "another policy that allows it, too");

      const version = parsePolicy("version: 1\n").policyVersion;
      await other(world, "version: 1\n");
      const { trace, ...policyDecision } = await decide(world);
      const because = `another server goes by policy ${version}, which does not allow it`;
      assert.deepEqual(policyDecision, {
        decision: "ESCALATE",
        matchedRule: true,
        rules: ["ok"],
        countedAs: null,
        need: 1,
        isGrantable: false,
        because,
      });
      assert.deepEqual(
        [trace.policy, trace.decision, trace.reason, trace.defaulted, trace.rule_index],
        ["policy.yaml@v1", "ESCALATE", because, false, undefined],
      );

      for (const rest of ["DENY", "ESCALATE", "ESCALATE, standing: false"]) {
        await other(world, `version: 1\nrules: [{ when: { resource: shop }, decision: ${rest} }]\n`);
        assert.equal((await decide(world)).decision, "ESCALATE", rest);
      }
      assert.equal((await decide(world, { ...DEPLOY, resource: "web" })).decision, "ESCALATE");
      await other(world, `version: 1\nrules: [{ when: { action: "*" }, decision: ESCALATE, to: ops, need: 2 }]\n`);
      const asked = await decide(world);
      assert.deepEqual([asked.to, asked.need], ["ops", 2], "whoever the other would ask");
      await other(world, "version: 1\nunheard_of: true\n");
      assert.equal((await decide(world)).decision, "ESCALATE", "what a newer program wrote");
    });

    it("is no approval where another only allows it by default, and no reading where another denies it", async () => {
      await using world = await allowing(on);
      const reads = parsePolicy(`version: 1\nrules: [{ id: r, when: { action: read }, decision: ALLOW }]\n`);
      await other(world, "version: 1\n");
      assert.equal((await decide(world, { action: "read" }, { policy: reads })).decision, "ESCALATE");
      const plain = parsePolicy("version: 2\n");
      assert.equal((await decide(world, { action: "read" }, { policy: plain })).decision, "ALLOW");
      await other(world, "version: 1\ndefaults: { read: DENY }\n");
      assert.equal((await decide(world, { action: "read" }, { policy: plain })).decision, "ESCALATE");
    });

    it("never makes a DENY milder, and asks the preset only where no policy speaks", async () => {
      await using world = await allowing(on);
      await other(world, ALLOWS);
      const denies = parsePolicy(`version: 1\nrules: [{ when: { action: deploy }, decision: DENY }]\n`);
      assert.equal((await decide(world, DEPLOY, { policy: denies })).decision, "DENY");

      const preset = parsePolicy(`version: 1\nrules: [{ when: { action: write }, decision: ALLOW }]\n`);
      const write = { action: "write", env: "agent" };
      assert.equal((await decide(world, write, { preset, policy: parsePolicy("version: 2\n") })).decision, "ALLOW");
      await other(world, `version: 1\nrules: [{ when: { action: write }, decision: DENY }]\n`);
      assert.equal((await decide(world, write, { preset, policy: parsePolicy("version: 2\n") })).decision, "ESCALATE");
    });

    it("is judged with the same permanent permissions and learned rules for all, which one revoke ends", async () => {
      await using world = await allowing(on);
      const { ctx } = world.server;
      const bare = { policy: parsePolicy("version: 2\n") };
      await other(world, "version: 1\n");
      const { rule } = await learn(world);
      assert.equal((await decide(world, DEPLOY, bare)).decision, "ALLOW");
      await other(world, `version: 1\nrules: [{ when: { action: deploy }, decision: ESCALATE }]\n`);
      assert.equal((await decide(world, DEPLOY, bare)).decision, "ESCALATE");
      const input = { input: policyInput(DEPLOY), approvalId: "ask_1", person: OPERATOR, forMs: 30 * 86_400_000 };
      await transact(ctx, (tx) => storeGrant(ctx, tx, input));
      assert.equal((await decide(world, DEPLOY, bare)).decision, "ALLOW");
      await other(world, `version: 1\nrules: [{ when: { action: deploy }, decision: ESCALATE, standing: false }]\n`);
      assert.equal((await decide(world, DEPLOY, bare)).decision, "ESCALATE");
      await revokeLearnedRule(ctx, rule.id, { kind: "human", id: OPERATOR });
      assert.equal((await decide(world, DEPLOY, bare)).decision, "ESCALATE");
    });

    it("goes by those that run: one that has left, or was silent for half a minute, is none", async () => {
      await using world = await allowing(on);
      const { ctx } = world.server;
      await other(world, "version: 1\n");
      await transact(ctx, (tx) => forgetServer(tx, "other"));
      assert.equal((await decide(world)).decision, "ALLOW");
      await other(world, "version: 1\n");
      await world.advance(LIVE_MS - 1);
      await other(world, "version: 1\n");
      await world.advance(LIVE_MS - 1);
      assert.equal((await decide(world)).decision, "ESCALATE", "it was heard of again");
      await world.advance(1);
      assert.equal((await decide(world)).decision, "ALLOW");
      await other(world, ALLOWS, "third");
      assert.deepEqual(
        (await listServers(ctx.db)).filter(({ id }) => id === "other" || id === "third").map(({ id }) => id),
        ["third"],
      );
    });

    it("is found by parley doctor, which names the servers", async () => {
      await using world = await allowing(on);
      const { ctx } = world.server;
      const found = async () => (await differingPolicies(ctx.db)).offenders.filter((one) => /^(one|two),/.test(one));
      await other(world, ALLOWS, "one");
      if (on === "sqlite") assert.deepEqual(await found(), []);
      await other(world, "version: 1\n", "two");
      assert.deepEqual(await found(), [
        `one, policy.yaml goes by ${parsePolicy(ALLOWS).policyVersion}: give each server the same file`,
        `two, policy.yaml goes by ${parsePolicy("version: 1\n").policyVersion}: give each server the same file`,
      ]);
    });
  });
}

describe("two servers on one PostgreSQL, each with its own policy file", () => {
  const readyz = async ({ url }: { url: string }) => (await fetch(`${url}/readyz`)).text();

  it("say so to each other from the start, at /readyz, and to admins after a minute, once", async () => {
    await using world = await openWorld({ on: "postgres" });
    const policyFile = join(world.config.dataDir, "second.yaml");
    writeFileSync(policyFile, ALLOWS);
    const config = { ...world.config, relay: { ...world.config.relay, policyFile } };
    const second = await startServer(config, { clock: world.clock, log: pino({ level: "silent" }) });
    try {
      assert.equal(await readyz(second), "ready\npolicy: differs");
      assert.equal(await readyz(world), "ready\npolicy: differs");
      assert.equal((await fetch(`${world.url}/readyz`)).status, 200);
      const input = policyInput(DEPLOY);
      assert.equal((await judge(second.ctx.db, { policy: parsePolicy(ALLOWS) }, input)).decision, "ESCALATE");

      const inbox = await inboxOf(world);
      await advanceUntil(world, 2000, async () => (await inbox()).length > 0);
      await world.advance(5000);
      assert.deepEqual(await inbox(), ["The servers go by different policies"]);

      writeFileSync(world.config.relay.policyFile, ALLOWS);
      await world.server.reload();
      assert.equal(await readyz(world), "ready");
      assert.equal((await judge(second.ctx.db, { policy: parsePolicy(ALLOWS) }, input)).decision, "ALLOW");
    } finally {
      await second.stop();
    }
    writeFileSync(world.config.relay.policyFile, "version: 1\n");
    await world.server.reload();
    assert.equal(await readyz(world), "ready", "a server that was stopped is none");
  });

  /** Signs the operator in, and returns what lists the titles of what waits for them. */
  async function inboxOf(world: World): Promise<() => Promise<string[]>> {
    const { code } = await createSignInLink(world.server.ctx, OPERATOR);
    const session = await world.call("POST", "/session", { body: { code } });
    const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    return async () => {
      const headers = { cookie, "sec-fetch-site": "same-origin" };
      const { body } = await world.call("GET", "/people/me/asks", { headers });
      return (body as { asks: { title: string }[] }).asks.map(({ title }) => title);
    };
  }
});
