import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sha256Digest } from "../../../src/lib/json/exact-json.ts";
import { accepted, assertA2hError, freshId, sharedScene } from "../../support/a2h.ts";
import { broken } from "../../support/policy-calls.ts";
import { decider } from "../../support/deciders.ts";
import { DATABASES, onOneDatabase } from "../../support/world.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const pay = (amount: unknown) => ({ fn: "pay_out", kwargs: { amount } });

for (const on of DATABASES) {
  describe(`the routes of plans on ${on}`, () => {
    const scene = sharedScene(on);
    const itOnOne = onOneDatabase(on);
    const body = (more: object = {}) => ({
      plan_id: freshId(),
      run_id: "run_9",
      calls: [{ spec: pay(1) }, { spec: pay(2) }],
      ...more,
    });
    const made = async (more: object = {}) => {
      const ana = await scene().human("Ana Ruiz");
      const given = body({ channel: { human: { id: ana.id } }, ...more });
      const reply = await scene().agent.post("/plans", given);
      assert.equal(reply.status, 201, reply.text);
      return {
        ana: await decider(scene().world, ana.person),
        plan: reply.body,
        path: `/plans/${reply.body.plan_id}`,
        given,
      };
    };

    it("ask once, wait, and use each approved call once and in order", async () => {
      const { ana, plan, path, given } = await made({ title: "Pay the suppliers", msg: "It is Friday." });
      const { agent } = scene();
      assert.deepEqual(plan.call_ids, [`${plan.plan_id}.1`, `${plan.plan_id}.2`]);
      const again = await agent.post("/plans", given);
      assert.deepEqual([again.status, again.headers.get("idempotency-replayed"), again.body], [201, "true", plan]);
      const [line] = await ana.inbox();
      assert.deepEqual([line?.id, line?.title], [plan.status.ask_id, "Pay the suppliers"]);

      const waiting = agent.get(`${path}?wait=50`);
      const call = agent.get(`/function_calls/${plan.call_ids[1]}?wait=50`);
      await ana.decides({ approved: true, comment: "Go on" });
      const over = accepted(await waiting);
      assert.deepEqual([over.status.approved, over.status.approved_calls], [true, 2]);
      assert.deepEqual(
        over.calls.map(({ approved, comment }: { approved: boolean; comment: string }) => [approved, comment]),
        [
          [true, "Go on"],
          [true, "Go on"],
        ],
      );
      const { spec, status } = accepted(await call);
      assert.deepEqual([spec.fn, spec.kwargs, status.approved], ["pay_out", { amount: 2 }, true]);

      const wrong = await agent.post(`${path}/uses`, pay(2));
      assertA2hError(wrong, 409, {
        code: "not_in_plan",
        message: "Another call of the plan comes first.",
        reason: "order",
        expected_call_id: plan.call_ids[0],
      });
      const key = { "idempotency-key": freshId() };
      const first = await agent.call("POST", `${path}/uses`, pay(1), key);
      const repeated = await agent.call("POST", `${path}/uses`, pay(1), key);
      assert.deepEqual([first.status, first.body.ord, repeated.body], [200, 1, first.body], first.text);
      assert.equal(repeated.headers.get("idempotency-replayed"), "true");
      const other = await agent.call("POST", `${path}/uses`, { call_id: plan.call_ids[1] }, key);
      assert.deepEqual([other.status, other.body.error.code], [409, "call_id_conflict"], "a key is of one use");
      const run = { call_id: plan.call_ids[1], run: "run_9" };
      assert.equal(accepted(await agent.post(`${path}/uses`, run)).ord, 2);
      assert.equal(accepted(await agent.post(`${path}/uses`, run)).ord, 2);
      const spent = await agent.post(`${path}/uses`, { call_id: plan.call_ids[1] });
      assert.equal(spent.body.error.reason, "spent");
      assert.ok(accepted(await agent.get(path)).calls.every((one: { used_at?: string }) => one.used_at));
    });

    it("give a plan to nobody but its agent and admins, and withdraw it as a whole", async () => {
      const { ana, plan, path } = await made();
      const other = await scene().holder({ name: freshId(), scope: "agent" });
      for (const reply of [await other.get(path), await other.post(`${path}/uses`, pay(1))]) {
        assertA2hError(reply, 404, { code: "not_found", message: "There is no such plan." });
      }
      accepted(await scene().admin.get(path));
      const withdrawn = accepted(await scene().agent.post(`${path}/cancel`, { reason: "Changed" }));
      assert.deepEqual([withdrawn.status.cancelled, withdrawn.calls[1].approved], [true, false]);
      assert.deepEqual(await ana.inbox(), []);
      const { cancelled } = accepted(await scene().agent.get(`/function_calls/${plan.call_ids[0]}`)).status;
      assert.equal(cancelled, true);
    });

    it("are approved in part by the number of calls in a decision", async () => {
      const { ana, plan, path } = await made();
      const id = plan.status.ask_id;
      const refused = [
        await ana.decide(id, { approved: true, approved_calls: 3 }),
        await ana.decide(id, { approved: false, approved_calls: 1 }),
      ];
      assert.deepEqual(
        refused.map(({ status }) => status),
        [400, 400],
      );
      accepted(await ana.decide(id, { approved: true, approved_calls: 1 }));
      const { calls, status } = accepted(await scene().agent.get(path));
      assert.deepEqual([status.approved_calls, calls[0].approved, calls[1].approved], [1, true, false]);
      const none = await made();
      accepted(await none.ana.decide(none.plan.status.ask_id, { approved: true, approved_calls: 0 }));
      assert.equal(accepted(await scene().agent.get(none.path)).status.approved, false);
    });

    it("take a call's own decision, claim and withdrawal with its plan", async () => {
      const { ana, plan } = await made();
      const call = `/agent/function_calls/${plan.call_ids[0]}`;
      const open = { status: { ask_id: plan.calls[0].ask_id } };
      assert.equal((await ana.whole(open.status.ask_id)).status, 404);
      const trusted = await scene().holder({ name: "support", scope: "agent", selfRespond: true });
      const answered = await trusted.post(`${call}/respond`, { approved: true });
      assert.equal(answered.body.error.code, "decided_with_plan", answered.text);
      assert.equal(accepted(await scene().agent.post(`${call}/cancel`)).status.cancelled, true);
      assert.equal(accepted(await scene().agent.get(`/plans/${plan.plan_id}`)).status.cancelled, true);
    });

    it("name a plan by the Idempotency-Key where it has no id", async () => {
      const { plan_id: _, ...given } = body({ channel: { inbox: {} } });
      const key = { "idempotency-key": freshId() };
      const first = await scene().agent.call("POST", "/plans", given, key);
      const again = await scene().agent.call("POST", "/plans", given, key);
      assert.deepEqual([first.status, again.body.plan_id], [201, first.body.plan_id], first.text);
      const other = await scene().agent.call("POST", "/plans", { ...given, title: "Another" }, key);
      assert.deepEqual([other.status, other.body.error.code], [409, "call_id_conflict"]);
    });

    it("keep images beside the plan, and show them to its readers alone", async () => {
      const image = { kind: "image", title: "Before", media_type: "image/png", data: PNG };
      const evidence = [
        { kind: "markdown", text: "# Why" },
        image,
        { kind: "table", columns: ["a", "b"], rows: [["1", "2"]] },
        { kind: "link", url: "https://example.com/build/412", digest: sha256Digest("x") },
        { kind: "diff", text: "-a\n+b" },
      ];
      const { ana, plan } = await made({ evidence });
      const shown = (await ana.whole(plan.status.ask_id)).text;
      assert.ok(!shown.includes(PNG) && shown.includes(sha256Digest(Buffer.from(PNG, "base64"))), shown);
      const path = `/people/me/asks/${plan.status.ask_id}/evidence`;
      const bytes = await ana.get(`${path}/2`);
      assert.equal(bytes.status, 200);
      const header = (name: string) => bytes.headers.get(name);
      assert.deepEqual(
        [header("content-type"), header("x-content-type-options"), header("content-security-policy")],
        ["image/png", "nosniff", "default-src 'none'"],
      );
      assert.deepEqual(Buffer.from(await bytes.arrayBuffer()), Buffer.from(PNG, "base64"));
      const bo = await decider(scene().world, (await scene().human("Bo Lind")).person);
      const statuses = [await ana.get(`${path}/1`), await ana.get(`${path}/x`), await bo.get(`${path}/2`)];
      assert.deepEqual(
        statuses.map(({ status }) => status),
        [404, 404, 404],
      );
    });

    itOnOne("name each mistake by its field", async () => {
      const faults: [object, string[]][] = [
        [{ calls: [] }, ["calls must hold at least 1 items"]],
        [{ calls: [{ spec: { fn: "x" } }] }, ["calls.0.spec.kwargs is required"]],
        [
          {
            calls: [
              { call_id: "c", spec: pay(1) },
              { call_id: "c", spec: pay(2) },
            ],
          },
          ["calls.1.call_id is used twice"],
        ],
        [{ evidence: [{ kind: "video" }] }, ["evidence.0.kind must be markdown or diff or table or link or image"]],
        [
          { evidence: [{ kind: "link", url: "javascript:alert(1)" }, { kind: "diff" }] },
          ["evidence.0.url must be a URL of http or https", "evidence.1.text is required"],
        ],
        [
          { evidence: [{ kind: "table", columns: ["a", "b"], rows: [["1"]] }] },
          ["evidence.0.rows.0 must have 2 cells"],
        ],
        [
          { evidence: [{ kind: "image", media_type: "image/gif", data: PNG }] },
          ["evidence.0.data must be an image of type image/gif"],
        ],
      ];
      for (const [more, messages] of faults) {
        const reply = await scene().agent.post("/plans", body(more));
        assert.equal(reply.status, 422, reply.text);
        assert.deepEqual(
          reply.body.detail.map(({ msg }: { msg: string }) => msg),
          messages,
        );
      }
      const { path } = await made();
      for (const [use, message] of [
        [{}, "fn is required"],
        [{ fn: "x" }, "kwargs is required"],
        [{ fn: "x", kwargs: {}, run: "r" }, "call_id is required beside run"],
      ] as const) {
        assert.equal((await scene().agent.post(`${path}/uses`, use)).body.error.message, message);
      }
      const large = body({ evidence: [{ kind: "markdown", text: "x".repeat(4_200_000) }] });
      const refused = await scene().agent.post("/plans", large);
      assert.deepEqual([refused.status, refused.body.error.limit], [413, 4_194_304]);
    });

    it("leave nothing that the doctor finds", async () => {
      assert.deepEqual(await broken(scene()), []);
    });
  });
}
