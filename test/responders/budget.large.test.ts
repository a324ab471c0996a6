import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../support/contract.ts";
import { openRunnerWorld } from "../support/runner-world.ts";

describe("the month's budget of the answer-runner", () => {
  for (const on of ["sqlite", "postgres"] as const) {
    it(`spends no more than the month's budget, however many ask at once, on ${on}`, async () => {
      await using world = await openRunnerWorld({
        on,
        spending: { prices: { input: 3, output: 15 }, budgetUsdMonth: 0.03 },
        // Nothing is given back before somebody was refused.
        script: async () => {
          await until(() => world.events.some((event) => event.kind === "run" && event.outcome === "failed"));
          return '{"answer_text": "EUR"}';
        },
      });
      const outcomes = await Promise.all(Array.from({ length: 4 }, () => world.ask({ allowedTools: [] })));
      const answered = outcomes.filter(({ kind }) => kind === "answer").length;
      const passed = outcomes.filter(({ error }) => error?.code === "E_BUDGET");
      assert.ok(answered >= 1 && passed.length >= 1, "what is reserved at one time is more than the budget");
      assert.equal(answered + passed.length, 4);
      assert.equal(world.llm.heard.length, answered, "nobody is asked who was not paid for");
      assert.deepEqual(await world.spent(), {
        spent: answered * (100 * 3000 + 20 * 15_000),
        input_tokens: answered * 100,
        output_tokens: answered * 20,
      });
      assert.match(world.logged.join(""), /budget for models is used up/);
    });
  }

  it("is off once the budget is used up", async () => {
    await using world = await openRunnerWorld({
      spending: { prices: { input: 3, output: 15 }, budgetUsdMonth: 0 },
      script: () => '{"answer_text": "EUR"}',
    });
    assert.equal((await world.pass()).because, "over budget");
    assert.equal(world.runner.state().trouble, "over budget");
    assert.equal(world.llm.heard.length, 0);
  });

  it("keeps what a call may have cost that nobody told the price of", async () => {
    await using world = await openRunnerWorld({ script: () => ({ breaks: true }) });
    await world.pass({ allowedTools: [] });
    const broken = (await world.spent())?.spent ?? 0;
    assert.ok(broken > 2 * 512, "two calls, each with all that it might have taken");
    await using refused = await openRunnerWorld({ script: () => ({ status: 400 }) });
    await refused.pass();
    assert.equal((await refused.spent())?.spent, 0, "what was refused cost nothing");
  });
});
