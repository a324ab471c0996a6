import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley, ParleyError, type DecidedPlan } from "@parley/sdk";
import { openScene, type Scene } from "../support/a2h.ts";
import { fresh, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";

const CALLS = [
  { fn: "pay_out", args: { amount: 1 } },
  { fn: "pay_out", args: { amount: 2 } },
];

describe("a plan that the SDK asks about", () => {
  let scene: Scene;
  let parley: Parley;
  before(async () => {
    scene = await openScene("sqlite", { at: Date.now() });
    parley = new Parley({ url: scene.world.url, key: scene.agent.key });
  });
  after(() => scene[Symbol.asyncDispose]());

  async function decided(decision: object, more: object = {}): Promise<DecidedPlan> {
    const name = fresh("Ana Ruiz");
    const { person } = await scene.human(name);
    const ana = await decider(scene.world, person, person);
    const asked = parley.approveAll(CALLS, { to: name, title: "Pay the suppliers", ...more });
    await ana.decides(decision);
    return asked;
  }
  const refused = (code: string) => (error: unknown) => error instanceof ParleyError && error.code === code;

  it("is used call by call, each once and in order", async () => {
    const evidence = [{ kind: "markdown", text: "The bills are in." }] as const;
    const plan = await decided({ approved: true, comment: "Go on" }, { evidence });
    const [first, second] = plan.calls;
    assert.ok(first && second);
    assert.deepEqual([plan.approved, first.approved, first.comment, second.args], [true, true, "Go on", { amount: 2 }]);
    await assert.rejects(second.use(), refused("not_in_plan"));
    await first.use();
    await assert.rejects(first.use(), refused("not_in_plan"));
    await second.use({ run: "run-1" });
    await second.use({ run: "run-1" });
    await assert.rejects(second.use({ run: "run-2" }), refused("not_in_plan"));
  });

  it("says which of its calls were taken out", async () => {
    const plan = await decided({ approved: true, approved_calls: 1 });
    assert.deepEqual([plan.approved, ...plan.calls.map(({ approved }) => approved)], [false, true, false]);
    assert.match(plan.calls[1]?.comment ?? "", /taken out/);
    await plan.calls[0]?.use();
    await assert.rejects(plan.calls[1]?.use() ?? Promise.resolve(), refused("not_in_plan"));
  });

  it("that was rejected approves nothing", async () => {
    const plan = await decided({ approved: false, comment: "Not this week" });
    assert.deepEqual([plan.approved, plan.comment], [false, "Not this week"]);
    assert.ok(plan.calls.every(({ approved, comment }) => !approved && comment === "Not this week"));
  });

  it("is joined under its key, and withdrawn by it", async () => {
    const { person } = await scene.human(fresh("Bo Lind"));
    const idempotencyKey = fresh("plan");
    const asked = [1, 2].map(() => parley.approveAll(CALLS, { to: person, idempotencyKey }));
    const ana = await decider(scene.world, person, person);
    await until(async () => (await ana.inbox()).length > 0);
    await parley.withdrawPlan(idempotencyKey, { reason: "Changed" });
    for (const plan of await Promise.all(asked))
      assert.deepEqual([plan.approved, plan.status.cancelled], [false, true]);
  });
});
