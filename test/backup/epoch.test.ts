import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findKey } from "../../src/access/find-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { revokeKey } from "../../src/access/revoke-key.ts";
import { beginEpoch } from "../../src/backup/begin-epoch.ts";
import { putBackHeld, readHeld } from "../../src/backup/put-back.ts";
import type { HeldKind } from "../../src/backup/store/held-rows.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { createEndpoint } from "../../src/notices/webhook-endpoints.ts";
import { storeGrant, readGrants, revokeGrantOf } from "../../src/policy/grants.ts";
import { FIRST_POLICY, parsePolicy } from "../../src/policy/model/text.ts";
import { policyInput } from "../../src/policy/model/policy.ts";
import { acceptProposal, noteApproved } from "../../src/policy/proposals.ts";
import { listAccepted } from "../../src/policy/store/learning.ts";
import { Refusal } from "../../src/refusals.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { readLink } from "../../src/requests/links/open-link.ts";
import { askPeople, enrol, type Provider, providerOf, toPerson } from "../support/addressed.ts";
import { advanceUntil, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { gateClient } from "../support/gate.ts";
import { byToken, namedPerson, OPERATOR, tokenIn } from "../support/identities.ts";
import { answerAsk, assertFenced, claim, openJobs, pendingAsk } from "../support/jobs.ts";
import { tool } from "../support/mcp.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const BY = { kind: "server", id: "cli:ana" } as const;
const DEPLOY = { action: "deploy", resource: "shop-api", env: "dev", agent: "ana-bot" };
const POLICY = parsePolicy(FIRST_POLICY);
const ALL: readonly HeldKind[] = ["access", "messages"];

/** The store of the world is as if it had just been restored from a backup of this moment. */
async function restore(world: World, keeps: readonly HeldKind[] = []): Promise<void> {
  const { ctx } = world.server;
  const source = { madeAt: new Date(world.clock.now()).toISOString() };
  await transact(ctx, (tx) => beginEpoch(tx, source, { clock: world.clock, keeps }));
  await world.restart();
  await world.advance(1000);
}

const heldIn = async ({ server: { ctx } }: World) =>
  Object.fromEntries((await readHeld(ctx.db)).map(({ noun, names }) => [noun, names.length]));
const isDead = (error: unknown) => error instanceof Refusal && error.code === "link_dead";

for (const on of DATABASES) {
  describe(`a restored store on ${on}`, () => {
    it("takes no session, sign-in link or recovery code of the backup, and no device of them", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const ana = await namedPerson(world, "Ana Ruiz");
      const headers = await ana.signIn();
      const { code } = await createSignInLink(ctx, ana.id);
      assert.equal((await world.call("GET", "/session", { headers })).status, 200);
      const crowd = byToken(tokenIn(await world.call("POST", "/human/recovery", { body: {} })));
      const recovery = (await world.call("POST", "/human/recovery", { headers: crowd })).body;
      assert.ok(recovery.code, JSON.stringify(recovery));
      await restore(world, ALL);
      assert.equal((await world.call("GET", "/session", { headers })).status, 401);
      assert.notEqual((await world.call("POST", "/session", { body: { code } })).status, 200);
      const redeemed = await world.call("POST", "/human/recovery/redeem", { body: { code: recovery.code } });
      assert.notEqual(redeemed.status, 200);
    });

    it("takes no key until the operator puts it back, and none that was revoked meanwhile or is an attempt's", async () => {
      await using scene = await openJobs(on);
      const { world, agent, ana, admin } = scene;
      const idOf = async (key: string) => (await findKey(world.server.ctx, key))?.keyId ?? assert.fail("no key");
      const revoked = await idOf(ana.key);
      await restore(world);
      const { ctx } = world.server;
      const status = async (key: string) =>
        (await world.call("GET", "/hooks/agents/claude", { headers: { authorization: `Bearer ${key}` } })).status;
      for (const { key } of [agent, admin]) assert.equal(await status(key), 401);
      assert.ok(((await heldIn(world))["keys"] ?? 0) >= 5);
      await revokeKey(ctx, revoked, BY);
      await putBackHeld(ctx, ["messages"], BY);
      assert.equal(await status(agent.key), 401);
      await putBackHeld(ctx, ["access"], BY);
      assert.equal(await status(agent.key), 200);
      assert.equal(await findKey(ctx, ana.key), null);
      assert.deepEqual(await heldIn(world), {});
    });

    it("goes by no permanent permission or learned rule, and sends to no endpoint, until they are put back", async () => {
      await using world = await openWorld({ on });
      let { ctx } = world.server;
      const input = policyInput(DEPLOY);
      const grantOf = (resource: string, approvalId: string) =>
        transact(ctx, (tx) =>
          storeGrant(ctx, tx, {
            input: policyInput({ ...DEPLOY, resource }),
            approvalId,
            person: OPERATOR,
            forMs: 30 * 86_400_000,
          }),
        );
      await grantOf("shop-api", "ask_1");
      const second = await grantOf("site", "ask_2");
      const asked = policyInput({ ...DEPLOY, ask_type: "APPROVAL" });
      for (let i = 0; i < 3; i += 1)
        await transact(ctx, (tx) =>
          noteApproved(ctx, tx, { policy: POLICY, input: asked, approvalId: `ask_n${i}`, learnAfter: 3 }),
        );
      const [proposal] = await ctx.db.all<{ id: string }>(sql`SELECT proposal_id AS id FROM policy_proposals`);
      await acceptProposal(ctx, proposal?.id ?? assert.fail("nothing was proposed"), BY);
      const endpoint = { url: "http://127.0.0.1:9/", format: "v1beta3", events: [], description: "", enabled: true };
      await createEndpoint(ctx, "agent:helper", endpoint as never, BY);
      const inForce = async () => ({
        grants: (await readGrants(ctx.db, input)).filter(({ learned }) => !learned?.isRevoked).length,
        rules: (await listAccepted(ctx.db)).length,
        endpoints: (await ctx.db.all(sql`SELECT 1 AS one FROM webhook_endpoints WHERE enabled = 1`)).length,
      });
      const before = await inForce();
      // A learned rule counts among the grants.
      assert.deepEqual(before, { grants: 2, rules: 1, endpoints: 1 });
      await restore(world);
      ctx = world.server.ctx;
      assert.deepEqual(await inForce(), { grants: 0, rules: 0, endpoints: 0 });
      const { id } = second ?? assert.fail("no grant");
      await revokeGrantOf(ctx, id, BY);
      await putBackHeld(ctx, ["access"], BY);
      assert.deepEqual(await inForce(), before);
      assert.equal((await readGrants(ctx.db, policyInput({ ...DEPLOY, resource: "site" }))).length, 0);
    });

    it("starts no gated call by an approval of the backup, and asks people again about one that was running", async () => {
      await using world = await openWorld({ on });
      const operator = await decider(world, OPERATOR);
      const bot = await gateClient(world);
      const approved = async (tool: string) => {
        const { body } = await bot.ask(tool, { path: "/srv" });
        assert.equal((await operator.decide(body.id, { approved: true })).status, 200);
        return body.id as string;
      };
      const unused = await approved("wipe");
      await approved("write");
      assert.equal((await bot.ask("write", { path: "/srv" })).body.state, "started");
      const open = (await bot.ask("move", { path: "/srv" })).body.id as string;
      await restore(world, ALL);

      const again = (await bot.ask("wipe", { path: "/srv" }, { run: "second" })).body;
      assert.equal(again.state, "waiting");
      assert.notEqual(again.id, unused);
      const running = (await bot.ask("write", { path: "/srv" })).body;
      assert.equal(running.state, "waiting");
      const titles = (await operator.inbox()).map(({ title }) => title);
      assert.ok(titles.includes("files.write, which may have run already"), titles.join());
      assert.equal((await bot.ask("move", { path: "/srv" })).body.id, open);
      const { outcome } = (
        await world.server.ctx.db.all<{ outcome: string }>(sql`SELECT outcome FROM requests WHERE ask_id = ${unused}`)
      )[0] ?? { outcome: "" };
      assert.match(outcome, /"approved":true/);
    });

    it("gives no run a decision of the backup, which another may have claimed since", async () => {
      await using world = await openWorld({ on });
      const operator = await decider(world, OPERATOR);
      const ids = ["used", "unused", "open"];
      const path = (id: string) => `/a2h/v1alpha1/agent/function_calls/${id}/claim`;
      const claim = (id: string, run: string) => world.call("POST", path(id), { body: { run } });
      for (const call_id of ids) {
        const spec = { fn: "pay", kwargs: { call_id }, channel: { inbox: {} } };
        const body = { run_id: "r", call_id, spec };
        assert.equal((await world.call("POST", "/a2h/v1alpha1/function_calls", { body })).status, 200);
        if (call_id !== "open") await operator.decides({ approved: true });
      }
      assert.equal((await claim("used", "first")).status, 200);
      await restore(world, ALL);

      assert.equal((await claim("used", "first")).status, 200);
      assert.equal((await claim("unused", "first")).body.error.code, "already_claimed");
      await operator.decides({ approved: true });
      assert.equal((await claim("open", "first")).status, 200);
    });

    it("counts every approved call of a plan of the backup as used", async () => {
      await using world = await openWorld({ on });
      const operator = await decider(world, OPERATOR);
      const calls = [1, 2].map((amount) => ({ spec: { fn: "pay", kwargs: { amount } } }));
      const plans = "/a2h/v1alpha1/plans";
      for (const plan_id of ["approved", "open"]) {
        const made = await world.call("POST", plans, { body: { plan_id, calls, channel: { inbox: {} } } });
        assert.equal(made.status, 201, made.text);
        if (plan_id === "approved") await operator.decides({ approved: true });
      }
      const use = (plan: string, amount: number, key: string) =>
        world.call("POST", `${plans}/${plan}/uses`, {
          body: { fn: "pay", kwargs: { amount } },
          headers: { "idempotency-key": key },
        });
      assert.equal((await use("approved", 1, "k")).status, 200);
      await restore(world, ALL);

      assert.equal((await use("approved", 1, "k")).status, 200);
      assert.equal((await use("approved", 2, "k2")).body.error.reason, "spent");
      await operator.decides({ approved: true });
      assert.equal((await use("open", 1, "k3")).status, 200);
    });

    it("hands out no approval that had not reached its agent, to the same call or under the same key", async () => {
      await using world = await openWorld({ on });
      const operator = await decider(world, OPERATOR);
      const call = async (more: object) =>
        (await tool(world, "request_approval", { fn: "pay", kwargs: { amount: 1 }, max_wait_seconds: 0, ...more }))
          .structuredContent as { call_id: string; status: string };
      for (const more of [{}, { idempotency_key: "one" }]) {
        const first = await call(more);
        const [ask] = await until(async () => {
          const asks = await operator.inbox();
          return asks.length > 0 ? asks : undefined;
        });
        assert.equal((await operator.decide(ask?.id ?? "", { approved: true })).status, 200);
        await restore(world, ALL);
        const second = await call(more);
        assert.notEqual(second.call_id, first.call_id);
        assert.equal(second.status, "pending");
        // The next round asks anew.
        const [left] = await operator.inbox();
        await operator.decide(left?.id ?? "", { approved: false });
      }
    });

    it("knows no lease: the job is offered again, and its next executor joins no approval of before", async () => {
      await using scene = await openJobs(on);
      const { world, ana, bo } = scene;
      const held = await scene.claimed(ana, { max_attempts: 3 });
      const call = { type: "APPROVAL", call: { fn: "deploy", kwargs: "{}" } } as const;
      const answered = await pendingAsk(scene, held.id, ana, { ...call, prompt: "Deploy?" });
      await answerAsk(scene, held.id, answered);
      await restore(world, ALL);
      const beat = await ana.post(`/jobs/${held.id}/heartbeat`, { type: "Heartbeat" }, held.lease);
      assertFenced(beat, beat.body.error.details.epoch, beat.body.error.details.state);
      await advanceUntil(world, 100, async () => (await scene.planner.get(`/jobs/${held.id}`)).body.state === "QUEUED");
      const next = await claim(bo, held.kind);
      assert.equal(next.id, held.id);
      const asked = await pendingAsk(scene, held.id, bo, { ...call, prompt: "Deploy?" });
      const [row] = await world.server.ctx.db.all<{ joined: string | null; status: string }>(
        sql`SELECT joined_to AS joined, status FROM asks WHERE ask_id = ${asked}`,
      );
      assert.deepEqual(row, { joined: null, status: "PENDING" });
    });

    it("sends no message that waited, and no link of before is alive, until the operator has messages sent", async () => {
      const slack: Provider = providerOf("slack");
      await using world = await openWorld({ on, channels: [slack] });
      let { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", [{ channel: "slack", target: { to: "U0ANA" } }], {
        identities: [{ kind: "slack", value: "U0ANA" }],
      });
      const sentOnes = () => slack.sent.map(({ delivery }) => delivery);
      await askPeople(ctx, { audience: toPerson(ana) });
      await advanceUntil(world, 500, () => slack.sent.length === 1);
      await until(
        async () => (await ctx.db.all(sql`SELECT 1 AS one FROM deliveries WHERE state = 'sent'`)).length === 1,
      );
      const { link } = tokensOf(ctx, sentOnes()[0] ?? "");
      // The provider is away, so that this one waits.
      let isTrying = false;
      slack.send = (_notice, signal) =>
        new Promise((_, reject) => {
          isTrying = true;
          signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
        });
      await askPeople(ctx, { audience: toPerson(ana) });
      await advanceUntil(world, 500, () => isTrying);
      const [waiting] = await ctx.db.all<{ id: string }>(
        sql`SELECT delivery_id AS id FROM deliveries WHERE state IN ('queued', 'sending') AND channel = 'slack'`,
      );
      const { id } = waiting ?? assert.fail("nothing waits");
      assert.ok((await readLink(ctx, tokensOf(ctx, id).link)).delivery.id === id);

      const { send } = providerOf("slack");
      await transact(ctx, (tx) => beginEpoch(tx, { madeAt: "then" }, { clock: world.clock, keeps: ["access"] }));
      slack.send = (notice) => (slack.sent.push(notice), send.call(slack, notice, new AbortController().signal));
      await world.restart();
      ctx = world.server.ctx;
      for (let i = 0; i < 5; i += 1) await world.advance(60_000);
      assert.equal(sentOnes().length, 1);
      await assert.rejects(readLink(ctx, link), isDead);
      await assert.rejects(readLink(ctx, tokensOf(ctx, id).link), isDead);
      assert.ok(((await heldIn(world))["messages to people"] ?? 0) >= 1);

      await putBackHeld(ctx, ["messages"], BY);
      await advanceUntil(world, 500, () => sentOnes().includes(id));
      assert.equal((await readLink(ctx, tokensOf(ctx, id).link)).delivery.id, id);
      await assert.rejects(readLink(ctx, link), isDead);
    });

    it("is in the record, and breaks no promise that the doctor checks", async () => {
      await using world = await openWorld({ on });
      await restore(world);
      const { ctx } = world.server;
      const [entry] = await ctx.db.all<{ data: string }>(sql`SELECT data FROM audit WHERE action = 'store.restored'`);
      assert.deepEqual(Object.keys(JSON.parse(entry?.data ?? "{}") as object), ["keeps", "made_at"]);
      await until(async () => (await ctx.db.all(sql`SELECT 1 AS one FROM audit WHERE seq IS NULL`)).length === 0);
      const report = await examineStore(ctx, { quick: false });
      assert.deepEqual(
        report.filter(({ offenders }) => offenders.length > 0),
        [],
      );
    });
  });
}
