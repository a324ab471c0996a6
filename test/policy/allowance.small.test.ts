import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PolicyMistake } from "../../src/policy/model/check.ts";
import { explainDecision } from "../../src/policy/model/explain.ts";
import { lintPolicy } from "../../src/policy/model/lint.ts";
import { evaluate, policyInput } from "../../src/policy/model/policy.ts";
import { parsePolicy } from "../../src/policy/model/text.ts";
import { withoutRule } from "../../src/policy/judge.ts";
import { spent } from "../../src/policy/model/allowance.ts";

const policyOf = (most: string, more = "decision: ALLOW") =>
  parsePolicy(`version: 1\nrules: [{ id: some, when: { fn: refund }, ${more}, most: ${most} }]\n`);
const call = (args: string, run?: string) => policyInput({ fn: "refund", agent: "support", args: () => args, run });
const spendingOf = (most: string, args: string, run?: string) => {
  const by = evaluate(policyOf(most), [], call(args, run)).countedAs;
  return by && "rule" in by ? (by.spending ?? null) : null;
};

describe("the allowance of a rule", () => {
  it("counts amounts by their digits, and allows none that it cannot count", () => {
    const amount = (text: string) => spendingOf("{ per: day, /amount: 500 }", `{"amount":${text}}`)?.amount;
    for (const [text, millionths] of [
      ["40", 40_000_000],
      ["4e1", 40_000_000],
      ["0.000001", 1],
      ["18.50", 18_500_000],
      ["1850E-2", 18_500_000],
      ["0", 0],
      ["0e999", 0],
      ["0.10000000", 100_000],
    ] as const)
      assert.equal(amount(text), millionths, text);
    for (const text of ["0.0000001", "-1", "-0.5", '"40"', "null", "[40]", "9000000001", "1e400", "1e999", "true"])
      assert.equal(amount(text), undefined, text);
    assert.equal(spendingOf("{ per: day, /amount: 500 }", "{}"), null);
    assert.equal(spendingOf("{ per: day, /to/0/sum: 5 }", '{"to":[{"sum":2.5}]}')?.amount, 2_500_000);
    const { decision } = evaluate(policyOf("{ per: day, /amount: 500 }"), [], call('{"amount":"40"}'));
    assert.equal(decision, "ESCALATE");
  });

  it("is one for all agents, but one for each run of an agent where it says so", () => {
    assert.equal(spendingOf("{ per: hour, calls: 3 }", "{}", "s1")?.subject, "");
    assert.equal(spendingOf("{ per: run, calls: 3 }", "{}", "s1")?.subject, '["support","s1"]');
    assert.equal(spendingOf("{ per: run, calls: 3 }", "{}"), null);
  });

  it("has room for calls and amounts up to its own, in a period that its first call opens", () => {
    const spending = spendingOf("{ per: hour, calls: 3, /amount: 0.3 }", '{"amount":0.1}');
    assert.ok(spending);
    const [one] = [spent(undefined, spending, 1000)];
    assert.deepEqual(one, { calls: 1, amount: 100_000, openedAt: 1000 });
    const three = { calls: 2, amount: 200_000, openedAt: 1000 };
    assert.deepEqual(spent(three, spending, 2000), { calls: 3, amount: 300_000, openedAt: 1000 });
    assert.equal(spent({ ...three, amount: 200_001 }, spending, 2000), null);
    assert.equal(spent({ ...three, calls: 3, amount: 0 }, spending, 3_600_999), null);
    assert.deepEqual(spent({ ...three, calls: 3 }, spending, 3_601_000), {
      calls: 1,
      amount: 100_000,
      openedAt: 3_601_000,
    });
  });

  it("is said in words, and used by no call that another rule allows", () => {
    const policy = policyOf("{ per: day, calls: 20, /amount: 500.5 }");
    const input = call('{"amount":1}');
    const words = explainDecision(policy, input, evaluate(policy, [], input), policy);
    assert.ok(words.includes("It allows at most 20 calls and 500.5 of /amount a day; people decide about more."));
    assert.ok(words.includes("  some (ALLOW at most 20 calls and 500.5 of /amount a day) matches"));
    const uncounted = call("{}");
    const why = explainDecision(policy, uncounted, evaluate(policy, [], uncounted), policy);
    assert.ok(why.some((line) => line.includes("does not match: the call cannot be counted as at most 20 calls")));
    const both = parsePolicy(`version: 1
rules:
  - { id: few, when: { fn: refund }, decision: ALLOW, most: { per: day, calls: 1 } }
  - { id: all, when: { fn: refund, agent: support }, decision: ALLOW }
`);
    assert.deepEqual(evaluate(both, [], input).countedAs, { rule: "all" });
    assert.deepEqual(lintPolicy(both), []);
    assert.equal(evaluate(withoutRule(both, 1), [], input).countedAs !== null, true);
  });

  it("is refused with its place where it cannot be counted", () => {
    for (const [most, says, more] of [
      ["20", "rules[0].most must be a block"],
      ["{ calls: 20 }", "rules[0].most.per must be one of hour, day, run"],
      ["{ per: week, calls: 20 }", "rules[0].most.per must be one of hour, day, run"],
      ["{ per: day }", "rules[0].most names neither calls nor an argument"],
      ["{ per: day, calls: 0 }", "rules[0].most.calls must be a whole number"],
      ["{ per: day, /a: 1, /b: 2 }", "rules[0].most adds up more than one argument"],
      ["{ per: day, amount: 5 }", "is nothing that is counted"],
      ["{ per: day, /amount: -5 }", "must be a number above 0"],
      ['{ per: day, /amount: "0.0000001" }', "must be a number above 0"],
      ["{ per: day, calls: 2 }", "rules[0].most is for rules that ALLOW function calls", "decision: DENY"],
    ] as const)
      assert.throws(
        () => policyOf(most, more),
        (error: unknown) =>
          error instanceof PolicyMistake && error.message.includes(says.replace(/^rules\[0\]\.?/, "")),
        most,
      );
    const asked = "version: 1\nrules: [{ when: { action: read }, decision: ALLOW, most: { per: day, calls: 2 } }]\n";
    assert.throws(() => parsePolicy(asked), /is for rules that ALLOW function calls/);
  });
});
