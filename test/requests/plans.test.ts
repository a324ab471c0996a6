import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { readOwnConversation } from "../../src/conversations/speak-in-inbox.ts";
import { insertConversation } from "../../src/conversations/store/conversations.ts";
import { readAudit } from "../../src/core/read-audit.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { parsePolicy } from "../../src/policy/model/text.ts";
import { Refusal } from "../../src/refusals.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { claimDecision } from "../../src/requests/decide/claim-decision.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { readInbox } from "../../src/requests/inbox/read-inbox.ts";
import { bindCall } from "../../src/requests/model/bound-call.ts";
import { riskOf } from "../../src/requests/model/risk.ts";
import type { Audience, Decision, Request } from "../../src/requests/model/request.ts";
import { createPlan, type PlanInput } from "../../src/requests/plans/create-plan.ts";
import { readPlanCalls } from "../../src/requests/plans/read-plan.ts";
import { useCall } from "../../src/requests/plans/use-call.ts";
import { readByRef, readInInbox, readRequest } from "../../src/requests/read/read-request.ts";
import { readReceipt } from "../../src/requests/read/read-receipt.ts";
import { expireDueRequests } from "../../src/requests/loops/expire.ts";
import { sweepRequests } from "../../src/requests/loops/retention.ts";
import { askerOf } from "../../src/tasks/model/attempt-asked.ts";
import { everyAskOf } from "../../src/tasks/read-asks.ts";
import { enrol, toPerson } from "../support/addressed.ts";
import { DAY, fresh, sharedWorld } from "../support/contract.ts";
import { DATABASES } from "../support/world.ts";

const ASKER = "agent:ana-bot";
const PEOPLE = parsePolicy("version: 1");
const RULES_TEXT = `version: 1
rules:
  - { id: lookups, when: { fn: look_up }, decision: ALLOW }
  - { id: two, when: { fn: notify }, decision: ALLOW, most: { calls: 2, per: day } }
  - { id: no-drops, when: { fn: drop_table }, decision: DENY, reason: Databases are dropped by hand }
`;
const RULES = parsePolicy(RULES_TEXT);

interface Called {
  fn: string;
  kwargs: Record<string, unknown>;
}

const pay = (amount: number): Called => ({ fn: "pay_out", kwargs: { amount } });
const refusal =
  (code: string, reason?: string) =>
  (error: unknown): boolean =>
    error instanceof Refusal && error.code === code && (reason === undefined || error.details["reason"] === reason);

for (const on of DATABASES) {
  describe(`a plan on ${on}`, () => {
    const world = sharedWorld({ on });
    const ctx = () => world().server.ctx;
    // Servers of one database must agree.
    before(async () => {
      writeFileSync(world().config.relay.policyFile, RULES_TEXT);
      await world().server.reload();
    });

    async function plan(
      calls: readonly Called[],
      audience: Audience,
      more: Partial<PlanInput> = {},
      policy = PEOPLE,
    ): Promise<Request> {
      const name = fresh("plan");
      const input: PlanInput = {
        asker: ASKER,
        ref: `plan:${name}`,
        sameHash: "same",
        words: "",
        audience,
        timeoutSeconds: 3600,
        wire: { plan_id: name, run_id: "run_9", spec: "{}" },
        evidence: [],
        calls: calls.map(({ fn, kwargs }, i) => ({
          door: "a2h",
          ref: `call:${name}.${i + 1}`,
          sameHash: "same",
          wire: { run_id: "run_9", call_id: `${name}.${i + 1}`, spec: "{}" },
          bound: bindCall(fn, kwargs),
        })),
        ...more,
      };
      return (await createPlan(ctx(), policy, input)).request;
    }

    const decide = async (request: Request, person: string, decision: Decision) =>
      (
        await decideRequest(ctx(), {
          requestId: request.id,
          responder: await responderOf(ctx().db, person, "web"),
          decision,
        })
      ).request;
    const ends = async ({ id }: Request) =>
      (await readPlanCalls(ctx(), await readRequest(ctx(), id))).map(({ state, outcome }) => [
        state,
        outcome?.approved,
      ]);
    const use = (request: Request, { fn, kwargs }: Called, key = fresh("use")) =>
      useCall(ctx(), request.id, { key, digest: bindCall(fn, kwargs).digest });
    const callOf = async (request: Request, ord: number) =>
      readRequest(ctx(), (await readPlanCalls(ctx(), request))[ord - 1]?.requestId ?? "");
    const someone = async () => {
      const person = await enrol(ctx(), fresh("Ana"));
      return { person, audience: toPerson(person) };
    };

    it("is one request in the inbox, and each call of it one for its agent", async () => {
      const { person, audience } = await someone();
      const asked = await plan([pay(1), pay(2)], audience);
      const { asks, counts } = await readInbox(ctx(), person, { state: "open" }, { limit: 10 });
      assert.deepEqual([asks.map(({ id }) => id), counts?.all], [[asked.id], 1]);
      const second = await readByRef(ctx(), ASKER, `call:${asked.ref.slice(5)}.2`);
      assert.deepEqual([second.state, second.plan], ["open", asked.id]);
      await assert.rejects(readInInbox(ctx(), person, second.id), refusal("request_not_found"));
      await assert.rejects(decide(second, person, { kind: "approve" }), refusal("decided_with_plan"));
      assert.deepEqual(await ends(asked), [
        ["open", undefined],
        ["open", undefined],
      ]);
    });

    it("waits in a conversation as one request", async () => {
      const { person, audience } = await someone();
      const conversation = { number: 7, entry: "desk", agent: ASKER, channel: "inbox", person, opener: null } as const;
      await transact(ctx(), (tx) => insertConversation(tx, { ...conversation, target: { via: "person", person } }));
      const asked = await plan([pay(1), pay(2)], audience, { conversation: 7 });
      const { asks, waiting } = await readOwnConversation(ctx(), person, 7, { limit: 10 });
      assert.deepEqual(
        [asks, waiting].map((all) => all.map(({ id }) => id)),
        [[asked.id], [asked.id]],
      );
    });

    it("is one of the requests that a coding agent made for its task", async () => {
      const attemptId = fresh("att");
      const asked = await plan([pay(1), pay(2)], (await someone()).audience, { asker: askerOf(attemptId) });
      const asks = await everyAskOf(ctx().db, { attemptId, jobId: fresh("job"), n: 1 });
      assert.deepEqual(
        asks.map((one) => "addressed" in one && one.addressed.id),
        [asked.id],
      );
    });

    it("ends each call with a record and a receipt of its own", async () => {
      const { person, audience } = await someone();
      const asked = await plan([pay(1), pay(2)], audience);
      const over = await decide(asked, person, { kind: "approve", digest: asked.digest ?? "" });
      assert.equal(over.outcome?.approved, true);
      const call = await callOf(asked, 2);
      assert.deepEqual([call.outcome?.approved, call.outcome?.by?.id], [true, person]);
      assert.equal(call.outcome?.digest, bindCall("pay_out", { amount: 2 }).digest);
      const { jws } = await readReceipt(ctx(), call, "https://parley.example");
      assert.ok(jws.includes("."));
      const { entries } = await recorded(call.id);
      assert.deepEqual(entries, ["function_call.created", "function_call.approved"]);
    });

    it("is approved up to a call, from which on all are rejected", async () => {
      const { person, audience } = await someone();
      const asked = await plan([pay(1), pay(2), pay(3)], audience);
      for (const upTo of [0, 4, 1.5]) {
        await assert.rejects(decide(asked, person, { kind: "approve", upTo }), refusal("wrong_decision"));
      }
      const over = await decide(asked, person, { kind: "approve", upTo: 1 });
      assert.equal(over.outcome?.upTo, 1);
      assert.deepEqual(await ends(asked), [
        ["answered", true],
        ["answered", false],
        ["answered", false],
      ]);
      assert.match((await callOf(asked, 2)).outcome?.comment ?? "", /taken out/);
      assert.match((await callOf(asked, 3)).outcome?.comment ?? "", /behind/);
      assert.equal((await decideAgain(asked, person, 1)).repeated, true);
      await assert.rejects(decide(asked, person, { kind: "approve" }), refusal("already_decided"));
      assert.equal((await use(asked, pay(1))).call.ord, 1);
      await assert.rejects(use(asked, pay(2)), refusal("not_in_plan", "not_approved"));
    });

    const decideAgain = async (request: Request, person: string, upTo: number) =>
      decideRequest(ctx(), {
        requestId: request.id,
        responder: await responderOf(ctx().db, person, "web"),
        decision: { kind: "approve", upTo },
      });

    it("that several have to approve is approved as far as each of them approves it", async () => {
      const [ana, bo] = [await someone(), await someone()];
      const asked = await plan([pay(1), pay(2)], { kind: "all", of: [ana.audience, bo.audience] });
      await decide(asked, ana.person, { kind: "approve", upTo: 1 });
      assert.deepEqual((await ends(asked))[0], ["open", undefined]);
      await decide(asked, bo.person, { kind: "approve" });
      assert.deepEqual(await ends(asked), [
        ["answered", true],
        ["answered", false],
      ]);
      assert.equal((await callOf(asked, 2)).outcome?.by?.id, ana.person);
    });

    it("is used in order, each call once, by its very arguments", async () => {
      const { person, audience } = await someone();
      const asked = await plan([pay(1), pay(2), pay(1)], audience);
      await assert.rejects(use(asked, pay(1)), refusal("not_in_plan", "not_approved"));
      await decide(asked, person, { kind: "approve" });
      await assert.rejects(use(asked, pay(2)), refusal("not_in_plan", "order"));
      await assert.rejects(use(asked, pay(7)), refusal("not_in_plan", "arguments"));
      assert.deepEqual(await numbered(use(asked, pay(1), "k")), [1, false]);
      assert.deepEqual(await numbered(use(asked, pay(1), "k")), [1, true]);
      await assert.rejects(use(asked, pay(2), "k"), refusal("idempotency_mismatch"));
      await assert.rejects(use(asked, pay(1)), refusal("not_in_plan", "order"));
      assert.deepEqual(await numbered(use(asked, pay(2))), [2, false]);
      assert.deepEqual(await numbered(use(asked, pay(1))), [3, false]);
      await assert.rejects(use(asked, pay(1)), refusal("not_in_plan", "spent"));
      assert.deepEqual(await numbered(use(asked, pay(1), "k")), [1, true]);
      const first = await callOf(asked, 1);
      assert.equal((await recorded(first.id)).entries.filter((one) => one.endsWith(".used")).length, 1);
      await assert.rejects(claimDecision(ctx(), first.id, "run"), refusal("decided_with_plan"));
    });

    const numbered = async (used: ReturnType<typeof use>) => {
      const { call, repeated } = await used;
      return [call.ord, repeated];
    };

    it("gives each call to one of many programs", async () => {
      const { person, audience } = await someone();
      const asked = await plan([pay(1), pay(1)], audience);
      await decide(asked, person, { kind: "approve" });
      const uses = await Promise.allSettled(Array.from({ length: 12 }, () => use(asked, pay(1))));
      const ords = uses.flatMap((one) => (one.status === "fulfilled" ? [one.value.call.ord] : []));
      assert.deepEqual(ords.toSorted(), [1, 2]);
    });

    it("expires with all of its calls, whichever of them is read first", async () => {
      const { audience } = await someone();
      const asked = await plan([pay(1), pay(2)], audience, { timeoutSeconds: 60 });
      const call = await callOf(asked, 2);
      await world().advance(61_000);
      assert.equal((await readRequest(ctx(), call.id)).state, "expired");
      assert.deepEqual(await ends(asked), [
        ["expired", false],
        ["expired", false],
      ]);
      await assert.rejects(use(asked, pay(1)), refusal("not_in_plan", "expired"));
    });

    it("cannot be used once its time is over", async () => {
      const { person, audience } = await someone();
      const asked = await plan([pay(1)], audience, { timeoutSeconds: 60 });
      await decide(asked, person, { kind: "approve" });
      await world().advance(61_000);
      await assert.rejects(use(asked, pay(1)), refusal("not_in_plan", "expired"));
    });

    it("is withdrawn as a whole, also by one of its calls", async () => {
      const { audience } = await someone();
      for (const ord of [0, 2]) {
        const asked = await plan([pay(1), pay(2)], audience);
        const id = ord === 0 ? asked.id : (await callOf(asked, ord)).id;
        const over = await cancelRequest(ctx(), id, { kind: "agent", id: ASKER }, "Not needed");
        assert.deepEqual([over.id, over.state], [id, "cancelled"]);
        assert.deepEqual(await ends(asked), [
          ["cancelled", false],
          ["cancelled", false],
        ]);
      }
    });

    it("is one of its agent's open requests, and is asked once however often it is sent", async () => {
      const { audience } = await someone();
      const ref = `plan:${fresh("again")}`;
      const calls = [{ door: "a2h", ref: `call:${fresh("c")}`, sameHash: "x", wire: {}, bound: bindCall("pay", {}) }];
      const first = await plan([], audience, { ref, calls });
      assert.equal((await plan([], audience, { ref, calls })).id, first.id);
      await assert.rejects(plan([], audience, { ref, calls, sameHash: "other" }), refusal("ref_taken"));
      await assert.rejects(plan([], audience, { calls }), refusal("ref_taken"));
    });

    it("is rejected by a rule that denies one of its calls, which it names", async () => {
      const { audience } = await someone();
      const calls = [{ fn: "look_up", kwargs: {} }, { fn: "drop_table", kwargs: { name: "users" } }, pay(1)];
      const over = await plan(calls, audience, {}, RULES);
      assert.deepEqual([over.state, over.outcome?.approved, over.outcome?.by?.id], ["answered", false, "no-drops"]);
      assert.match(over.outcome?.comment ?? "", /^drop_table \(.*\.2\) is refused: Databases are dropped by hand/);
      assert.deepEqual(new Set((await ends(over)).flat()), new Set(["answered", false]));
    });

    it("is approved by the rules that allow each of its calls, unless people are to decide", async () => {
      const { audience } = await someone();
      const calls = [1, 2].map((id) => ({ fn: "look_up", kwargs: { id } }));
      const over = await plan(calls, audience, {}, RULES);
      assert.deepEqual([over.outcome?.approved, over.outcome?.by?.kind], [true, "policy"]);
      assert.deepEqual(new Set((await ends(over)).flat()), new Set(["answered", true]));
      assert.equal((await use(over, { fn: "look_up", kwargs: { id: 1 } })).call.ord, 1);
      assert.equal((await plan(calls, audience, { forPeople: true }, RULES)).state, "open");
      assert.equal((await plan([...calls, pay(1)], audience, {}, RULES)).state, "open");
    });

    it("is put to people where the allowance of a rule is too small, of which nothing is spent", async () => {
      const { audience } = await someone();
      const notify = (id: number): Called => ({ fn: "notify", kwargs: { id } });
      assert.equal((await plan([1, 2, 3].map(notify), audience, {}, RULES)).state, "open");
      assert.equal((await plan([1, 2].map(notify), audience, {}, RULES)).outcome?.approved, true);
      assert.equal((await plan([1].map(notify), audience, {}, RULES)).state, "open");
    });

    it("is as risky as the riskiest of its calls", async () => {
      const { audience } = await someone();
      const harmless = { fn: "read_file", kwargs: { path: "a.txt" } };
      assert.equal(riskOf(await plan([harmless], audience)), "low");
      const deletes = { fn: "run", kwargs: { command: "rm -rf /" } };
      assert.equal(riskOf(await plan([harmless, deletes], audience)), "high");
    });

    it("is kept and deleted with its calls", async () => {
      const { audience } = await someone();
      const image = { kind: "image", media_type: "image/png", data: "iVBORw0KGgo=" } as const;
      const asked = await plan([pay(1)], audience, { evidence: [image], timeoutSeconds: null });
      const call = await callOf(asked, 1);
      await cancelRequest(ctx(), asked.id, { kind: "agent", id: ASKER });
      await world().advance(8 * DAY);
      while (await sweepRequests(ctx()));
      await assert.rejects(readRequest(ctx(), asked.id), refusal("request_not_found"));
      await assert.rejects(readRequest(ctx(), call.id), refusal("request_not_found"));
    });

    it("leaves nothing that the doctor finds", async () => {
      await expireDueRequests(ctx(), new AbortController().signal);
      const findings = await examineStore(ctx(), { quick: false });
      assert.deepEqual(
        findings.filter(({ offenders }) => offenders.length > 0),
        [],
      );
    });

    async function recorded(requestId: string): Promise<{ entries: string[] }> {
      const { items } = await readAudit(ctx(), { subjectId: requestId, afterSeq: 0, limit: 100 });
      return { entries: items.map(({ action }) => action) };
    }
  });
}
