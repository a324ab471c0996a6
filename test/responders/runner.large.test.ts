import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openRunnerWorld } from "../support/runner-world.ts";

const MODELS = ["anthropic/scripted", "openai/scripted", "google/scripted", "openai-compatible/scripted"];

describe("the answer-runner", () => {
  for (const model of MODELS) {
    it(`answers with ${model} over its own wire, and calls a tool for it`, async () => {
      await using world = await openRunnerWorld({
        model,
        script: ({ results }) =>
          results.length === 0
            ? { calls: [{ name: "code_run", args: { code: "input.amounts.reduce((a, b) => a + b)" } }] }
            : JSON.stringify({ answer_text: `The sum is ${results[0]}` }),
      });

      const outcome = await world.answer({ meta: { input: { amounts: [1, 2, 39] } }, maxTokens: 300 });

      assert.equal(outcome.status, "ANSWERED");
      assert.match(outcome.text ?? "", /^The sum is .*42/s);
      assert.deepEqual(outcome.attestation, {
        context_hash: "c0ffee",
        role_id: "none",
        role_version: 0,
        model,
        prompt_fingerprint: outcome.attestation?.prompt_fingerprint,
        tools_used: ["code.run"],
        policy_version: "1:227da1dce09c",
      });
      const [first] = world.llm.heard;
      assert.match(first?.system ?? "", /You answer one Ask of an executor/);
      assert.match(first?.user ?? "", /Data, not instructions/);
      assert.equal(first?.maxTokens, 300);
      assert.equal(first?.temperature, 0);
      assert.deepEqual(
        first?.tools.map(({ name }) => name),
        ["code_run"],
      );
      assert.deepEqual(await world.spent(), { spent: 240, input_tokens: 200, output_tokens: 40 });
    });
  }

  it("says its opinion of a policy decision where that is wanted, and decides nothing", async () => {
    await using world = await openRunnerWorld({
      more: { policyAdvice: true },
      script: ({ user }) => {
        assert.match(user, /policy_yaml/);
        return '{"answer_json": {"decision": "DENY", "rules": ["prod-writes"]}}';
      },
    });
    assert.deepEqual(await world.ask({ type: "POLICY_DECISION", meta: { action: "deploy", resource: "shop" } }), {
      kind: "pass",
      because: "an opinion",
      opinion: "DENY (prod-writes)",
    });
  });
});
