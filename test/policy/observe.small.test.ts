import assert from "node:assert/strict";
import { it } from "node:test";
import { PolicyMistake } from "../../src/policy/model/check.ts";
import { explainDecision } from "../../src/policy/model/explain.ts";
import { lintObserved, lintPolicy } from "../../src/policy/model/lint.ts";
import { evaluate, policyInput, withPreset, type Grant } from "../../src/policy/model/policy.ts";
import { parsePolicy } from "../../src/policy/model/text.ts";

const DEPLOY = { action: "deploy", resource: "shop", agent: "ana-bot" };
const OBSERVED = `version: 1
rules:
  - { id: no-deploys, when: { action: deploy }, decision: DENY, mode: observe }
  - { id: by-two, when: { action: deploy }, decision: ESCALATE, mode: observe, to: ana, need: 2, standing: false }
  - { id: deploys, when: { action: deploy }, decision: ALLOW, mode: observe }
  - { id: high, when: { fn: "pay*" }, decision: ESCALATE, mode: observe, risk: high }
`;
const NAMES = ["no-deploys", "by-two", "deploys"];

it("an observed rule decides nothing, and is named in the trace", () => {
  const policy = parsePolicy(OBSERVED);
  const { decision, to, need, isGrantable, rules, countedAs, trace, observed } = evaluate(
    policy,
    [],
    policyInput(DEPLOY),
  );
  assert.deepEqual([decision, to, need, isGrantable, rules, countedAs], ["ESCALATE", undefined, 1, true, [], null]);
  assert.deepEqual([trace.defaulted, trace.matched, trace.observed], [true, [], NAMES]);
  assert.deepEqual(
    observed?.rules.map(({ key }) => key),
    NAMES.map((name) => `observe:${name}`),
  );
  const call = evaluate(policy, [], policyInput({ fn: "pay_out", agent: "ana-bot" }));
  assert.deepEqual([call.risk, call.trace.observed], [undefined, ["high"]]);
  const other = evaluate(policy, [], policyInput({ action: "write" }));
  assert.deepEqual(["observed" in other, "observed" in other.trace], [false, false]);
});

it("an observed rule leaves a permanent permission and the preset as they are", () => {
  const policy = parsePolicy(OBSERVED);
  const input = policyInput(DEPLOY);
  const grant: Grant = {
    id: "g",
    action: "deploy",
    resource: "shop",
    env: "dev",
    tool: null,
    repo: null,
    agent: "ana-bot",
  };
  const granted = evaluate(policy, [grant], input);
  assert.deepEqual([granted.decision, granted.trace.grant, granted.trace.observed], ["ALLOW", "g", NAMES]);
  const preset = parsePolicy("version: 1\nrules: [{ id: shipped, when: { action: deploy }, decision: ALLOW }]\n", "p");
  const byPreset = withPreset(evaluate(policy, [], input), preset, input);
  assert.deepEqual([byPreset.decision, byPreset.trace.policy, byPreset.trace.observed], ["ALLOW", "shipped@v1", NAMES]);
  assert.equal(byPreset.observed?.policyVersion, policy.policyVersion);
});

it("a mode is observe, and another one is refused with its line", () => {
  const observed =
    "version: 1\nrules:\n  - id: ok\n    when: { action: deploy }\n    decision: ALLOW\n    mode: observe\n";
  assert.throws(
    () => parsePolicy(observed.replace("mode: observe", "mode: observed")),
    (error: unknown) =>
      error instanceof PolicyMistake &&
      error.message ===
        'policy.yaml:6: rules[0].mode must be observe, or be left out for a rule that decides, not "observed".',
  );
  assert.throws(() => parsePolicy(observed.replace("mode: observe", "mode: null")), PolicyMistake);
  const deciding = observed.replace("    mode: observe\n", "");
  assert.notEqual(parsePolicy(observed).policyVersion, parsePolicy(deciding).policyVersion);
  assert.throws(
    () => parsePolicy(`${deciding}${observed.slice(observed.indexOf("  - id"))}`),
    /is "ok", as is that of/,
  );
});

it("lint names observed rules, which make no other rule idle", () => {
  const policy = parsePolicy(`${OBSERVED}  - { id: asks, when: { action: deploy, env: prod }, decision: ESCALATE }\n`);
  assert.deepEqual(lintPolicy(policy), []);
  assert.deepEqual(
    lintObserved(policy)
      .map(({ says }) => says)
      .slice(0, 2),
    ["no-deploys is only observed: it would DENY", "by-two is only observed: it would ESCALATE"],
  );
  const never = parsePolicy(
    "version: 1\nrules: [{ id: a, when: { env: prod }, unless: { env: prod }, decision: ALLOW, mode: observe }]\n",
  );
  assert.equal(lintPolicy(never).length, 1);
});

it("explain says that a rule is only observed", () => {
  const policy = parsePolicy(OBSERVED);
  const input = policyInput(DEPLOY);
  const words = explainDecision(policy, input, evaluate(policy, [], input), parsePolicy("version: 1\n"));
  assert.ok(words.includes("  no-deploys (only observed: would DENY) matches"), words.join("\n"));
});
