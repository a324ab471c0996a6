import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { sealRecord } from "../../src/core/seal-record.ts";
import { transact } from "../../src/core/store/transact.ts";
import { sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { freeze, thaw } from "../../src/policy/freezes.ts";
import { openOutcome, openReceipt } from "../../src/lib/receipt.ts";
import { REPORT_WITHIN_MS } from "../../src/requests/model/call-outcome.ts";
import { giveUpUnreported } from "../../src/requests/loops/unreported.ts";
import { advanceUntil, fresh, HOUR, MINUTE, sharedWorld } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { actionsOf, gateClient } from "../support/gate.ts";
import { OPERATOR } from "../support/identities.ts";
import { tool } from "../support/mcp.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const A2H = "/a2h/v1alpha1";
const ADMIN = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;
const DIGEST = `sha256:${"5f".repeat(32)}`;

for (const on of DATABASES) {
  describe(`the outcome of an approved call, on ${on}`, () => {
    const world = sharedWorld({ on });
    let operator: Decider;
    let headers: Record<string, string>;
    before(async () => {
      operator = await decider(world(), OPERATOR);
      const { text } = await createKey(world().server.ctx, { name: "ana-bot", scope: "agent" });
      headers = { authorization: `Bearer ${text}` };
    });

    const post = (path: string, body: object, by = headers): Promise<Reply> =>
      world().call("POST", `${A2H}${path}`, { headers: by, body });
    const status = async (callId: string) =>
      (await world().call("GET", `${A2H}/function_calls/${callId}`, { headers })).body.status;
    const report = (callId: string, outcome: string, more: object = {}) =>
      post(`/function_calls/${callId}/outcome`, { outcome, ...more });

    async function asked(reports?: "start" | "end"): Promise<{ callId: string; requestId: string }> {
      const callId = fresh("call");
      const spec = { fn: "issue_refund", kwargs: { order: callId } };
      const { body } = await post("/function_calls", {
        run_id: "r",
        call_id: callId,
        ...(reports && { reports }),
        spec,
      });
      return { callId, requestId: body.status.ask_id };
    }

    async function approved(reports?: "start" | "end") {
      const call = await asked(reports);
      assert.equal((await operator.decide(call.requestId, { approved: true })).status, 200);
      return call;
    }

    /** Moves the clock until the call has this outcome. */
    const ends = (callId: string, state: string) =>
      advanceUntil(world(), MINUTE, async () => (await status(callId)).outcome?.state === state);

    it("is not told of a call about which nothing was promised, so that clients read what they always have", async () => {
      const { callId } = await approved();
      assert.equal("outcome" in (await status(callId)), false);
    });

    it("is done or failed as the agent says, with its words and the digest of the result, without secrets", async () => {
      const { callId, requestId } = await approved("end");
      assert.equal((await status(callId)).outcome.state, "awaited");
      const said = { text: "Refunded with ghp_0123456789abcdefghij0123456789abcdef", result_digest: DIGEST };
      const { status: code, body } = await report(callId, "done", said);
      assert.deepEqual([code, body.state, body.result_digest], [200, "done", DIGEST]);
      assert.match(body.text, /^Refunded with \[secret:/);
      assert.deepEqual((await status(callId)).outcome, body);
      assert.deepEqual(await actionsOf(world(), requestId), [
        "function_call.created",
        "function_call.approved",
        "function_call.outcome",
      ]);
      while (await sealRecord(world().server.ctx));
      const { items } = await readAudit(world().server.ctx, { subjectId: requestId, afterSeq: 0, limit: 10 });
      assert.deepEqual(items.at(-1)?.data, { state: "done", result_digest: DIGEST });
    });

    it("is accepted once: the same report again changes nothing, and another one is refused", async () => {
      const { callId, requestId } = await approved("end");
      assert.equal((await report(callId, "failed", { text: "No such order" })).status, 200);
      const again = await report(callId, "failed", { text: "No such order" });
      assert.deepEqual([again.status, again.headers.get("idempotency-replayed")], [200, "true"]);
      const other = await report(callId, "done");
      assert.deepEqual([other.status, other.body.error.code, other.body.error.state], [409, "outcome_known", "failed"]);
      assert.equal((await actionsOf(world(), requestId)).filter((action) => action.endsWith(".outcome")).length, 1);
    });

    it("is taken from the agent that asked alone, and of an approved call alone", async () => {
      const { callId, requestId } = await asked("end");
      assert.equal((await report(callId, "done")).body.error.code, "not_approved", "nobody has decided");
      const { text } = await createKey(world().server.ctx, { name: "bo-bot", scope: "agent" });
      const stranger = await post(
        `/function_calls/${callId}/outcome`,
        { outcome: "done" },
        { authorization: `Bearer ${text}` },
      );
      assert.equal(stranger.status, 404);
      await operator.decide(requestId, { approved: false });
      assert.equal((await report(callId, "done")).body.error.code, "not_approved", "it was rejected");
    });

    it("is refused with a clear error where it is not well-formed", async () => {
      const { callId } = await approved("end");
      for (const body of [
        {},
        { outcome: "unknown" },
        { outcome: "done", result_digest: "5f" },
        { outcome: "done", text: "x".repeat(501) },
      ]) {
        assert.equal((await post(`/function_calls/${callId}/outcome`, body)).status, 422, JSON.stringify(body));
      }
      assert.equal((await status(callId)).outcome.state, "awaited");
    });

    it("is unknown where an end was promised and none came in an hour; a late report replaces that", async () => {
      const { callId } = await approved("end");
      await ends(callId, "unknown");
      assert.equal((await report(callId, "withdrawn")).body.error.code, "outcome_started");
      assert.equal((await report(callId, "done")).body.state, "done");
    });

    it("is not run where a start was promised and none came in an hour, and no run can start then", async () => {
      const { callId } = await approved("start");
      await ends(callId, "not_run");
      const claim = await post(`/agent/function_calls/${callId}/claim`, { run: "late" });
      assert.deepEqual(
        [claim.status, claim.body.error.code, claim.body.error.state],
        [409, "outcome_known", "not_run"],
      );
      assert.equal((await report(callId, "done")).body.error.code, "outcome_known");
    });

    it("is unknown where a run has claimed the call and nobody says more, and no other run gets it", async () => {
      const { callId } = await approved("start");
      const claim = await post(`/agent/function_calls/${callId}/claim`, { run: "first" });
      assert.deepEqual([claim.status, claim.body.status.outcome.state], [200, "started"]);
      await ends(callId, "unknown");
      const second = await post(`/agent/function_calls/${callId}/claim`, { run: "second" });
      assert.equal(second.body.error.code, "already_claimed");
    });

    it("is withdrawn where the agent gives an unused approval back, and no run gets it then", async () => {
      const { callId } = await approved("start");
      assert.equal((await report(callId, "withdrawn", { text: "Not needed any more" })).body.state, "withdrawn");
      const claim = await post(`/agent/function_calls/${callId}/claim`, { run: "late" });
      assert.equal(claim.body.error.code, "outcome_known");
    });

    it("is taken by a tool of MCP, also where nothing was promised", async () => {
      const pending = await tool(
        world(),
        "request_approval",
        { fn: "issue_refund", kwargs: { n: 1 }, max_wait_seconds: 0 },
        { headers },
      );
      const callId = pending.structuredContent.call_id as string;
      const [open] = await operator.inbox();
      await operator.decide(open?.id ?? "", { approved: true });
      const said = await tool(
        world(),
        "report_outcome",
        { call_id: callId, outcome: "done", text: "Paid" },
        { headers },
      );
      assert.deepEqual([said.structuredContent.call_id, said.structuredContent.outcome], [callId, "done"]);
      const twice = await tool(world(), "report_outcome", { call_id: callId, outcome: "failed" }, { headers });
      assert.equal(twice.isError, true);
      assert.equal((await status(callId)).outcome.text, "Paid");
    });

    it("follows the calls of a plan: each starts as it is used, and is not run where its time passes unused", async () => {
      const calls = [1, 2].map((n) => ({ spec: { fn: "issue_refund", kwargs: { n } } }));
      const plan_id = fresh("plan");
      const { body: plan } = await post("/plans", { plan_id, calls, timeout_seconds: 600 });
      await operator.decide(plan.status.ask_id, { approved: true });
      const use = await post(`/plans/${plan_id}/uses`, calls[0]?.spec ?? {});
      assert.equal(use.status, 200, use.text);
      const [first, second] = plan.call_ids;
      assert.equal((await status(first)).outcome.state, "started");
      assert.equal((await report(first, "done")).status, 200);
      await ends(second, "not_run");
    });

    it("stays withdrawn in a plan: no use starts the call, nor one behind it, also where both come at once", async () => {
      const calls = [1, 2].map((n) => ({ spec: { fn: "issue_refund", kwargs: { n } } }));
      const plan_id = fresh("plan");
      const { body: plan } = await post("/plans", { plan_id, calls, timeout_seconds: 600 });
      await operator.decide(plan.status.ask_id, { approved: true });
      const [first, second] = plan.call_ids;
      const use = (call_id: string) => post(`/plans/${plan_id}/uses`, { call_id });
      const [withdrawn, used] = await Promise.all([report(first, "withdrawn"), use(first)]);
      const [accepted, refused] = withdrawn.status === 200 ? [withdrawn, used] : [used, withdrawn];
      assert.deepEqual([accepted.status, refused.status], [200, 409], `${withdrawn.text} ${used.text}`);
      assert.equal((await status(first)).outcome.state, withdrawn.status === 200 ? "withdrawn" : "started");
      const last = used.status === 200 ? second : first;
      if (used.status === 200) assert.equal((await report(second, "withdrawn")).status, 200);
      const late = await use(last);
      assert.deepEqual([late.status, late.body.error.code, late.body.error.state], [409, "outcome_known", "withdrawn"]);
      assert.equal((await status(last)).outcome.state, "withdrawn");
    });

    it("has no end while its agent is frozen before the start, whatever the time; a thaw gives the time back", async () => {
      const { ctx } = world().server;
      const { callId, requestId } = await approved("start");
      const bot = await gateClient(world());
      const { body: gated } = await bot.ask("write_file", { n: "frozen" });
      const { id } = await freeze(ctx, { scope: "all", subject: "" }, ADMIN);
      await world().advance(10 * HOUR);
      const { status: code } = await world().call("GET", `/receipts/${requestId}/outcome`, { headers });
      assert.equal(code, 404, "no statement says that it was not run");
      await thaw(ctx, id, ADMIN);
      const claim = await post(`/agent/function_calls/${callId}/claim`, { run: "thawed" });
      assert.equal(claim.body.status?.outcome?.state, "started", claim.text);
      await operator.decide(gated.id, { approved: true });
      await giveUpUnreported(ctx, AbortSignal.timeout(MINUTE));
      assert.equal((await operator.whole(gated.id)).body.call_outcome.state, "awaited");
      assert.equal((await bot.ask("write_file", { n: "frozen" })).body.state, "started");
    });

    it("is what the gate saw, as soon as the call has ended or was given up", async () => {
      const bot = await gateClient(world());
      const outcomeOf = async (requestId: string) => {
        const rows = await world().server.ctx.db.all<{ state: string; result_digest: string | null }>(
          sql`SELECT state, result_digest FROM call_outcomes WHERE ask_id = ${requestId}`,
        );
        return rows[0];
      };
      const start = async (n: number) => {
        const waiting = await bot.ask("write_file", { n });
        await operator.decide(waiting.body.id, { approved: true });
        return (await bot.ask("write_file", { n })).body.id as string;
      };
      const [ended, lapsed] = [await start(1), await start(2)];
      assert.equal((await outcomeOf(ended))?.state, "started");
      await bot.ended(ended);
      assert.equal((await outcomeOf(ended))?.state, "done");
      await advanceUntil(world(), 10_000, async () => (await outcomeOf(lapsed))?.state === "unknown");

      const unused = await bot.ask("write_file", { n: 3 });
      await operator.decide(unused.body.id, { approved: true });
      await advanceUntil(world(), 10 * MINUTE, async () => (await outcomeOf(unused.body.id))?.state === "not_run");
      assert.notEqual((await bot.ask("write_file", { n: 3 })).body.state, "started");
    });

    it("is shown to who decided, and has a signed statement that is no receipt and names the receipt", async () => {
      const { callId, requestId } = await approved("end");
      const statement = async () =>
        world().call("GET", `/receipts/${requestId}/outcome`, { headers: { ...headers, accept: "application/jose" } });
      assert.equal((await statement()).status, 404, "it has no end yet");
      await report(callId, "done", { text: "Refunded", result_digest: DIGEST });
      const shown = (await operator.whole(requestId)).body.call_outcome;
      assert.deepEqual([shown.state, shown.text, shown.result_digest], ["done", "Refunded", DIGEST]);

      const keys = (await world().call("GET", "/.well-known/jwks.json")).body;
      const { text: jws } = await statement();
      const outcome = await openOutcome(jws, keys);
      const receipt = await openReceipt((await world().call("GET", `/receipts/${requestId}`, { headers })).text, keys);
      assert.deepEqual(
        [outcome?.receipt, outcome?.state, outcome?.result_digest, outcome?.consent_digest, outcome?.settled_at],
        [receipt?.jti, "done", DIGEST, receipt?.consent_digest, receipt?.settled_at],
      );
      assert.equal(await openReceipt(jws, keys), null);
      assert.equal(jws.includes(Buffer.from("Refunded").toString("base64url")), false);
    });

    it("is named by the doctor where an approval without an end is long overdue", async () => {
      const { requestId } = await approved("end");
      const names = async () =>
        (await examineStore(world().server.ctx, { quick: false }))
          .filter(({ check }) => check === "W4")
          .flatMap(({ offenders }) => offenders);
      assert.deepEqual(await names(), []);
      await transact(world().server.ctx, (tx) =>
        tx.all(sql`UPDATE call_outcomes SET due_at = parley_now() - ${REPORT_WITHIN_MS} WHERE ask_id = ${requestId}`),
      );
      assert.deepEqual(await names(), [requestId]);
    });
  });
}
