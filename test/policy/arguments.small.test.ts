import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { policyInputOf } from "../../src/asks/model/policy-input.ts";
import { compareNumberTexts } from "../../src/lib/json/number-text.ts";
import { PolicyMistake } from "../../src/policy/model/check.ts";
import { explainDecision } from "../../src/policy/model/explain.ts";
import { lintPolicy } from "../../src/policy/model/lint.ts";
import { evaluate, type PolicyEffect, policyInput } from "../../src/policy/model/policy.ts";
import { loadPolicy } from "../../src/policy/model/text.ts";

const FN = "pay_out";

/** Returns the decision of one rule on a call with these arguments; null where it does not match. */
async function decisionOf(rule: string, args: string, decision: PolicyEffect): Promise<PolicyEffect | null> {
  const policy = await loadPolicy(`version: 1\nrules:\n  - { id: one, decision: ${decision}, ${rule} }\n`);
  const judged = evaluate(policy, [], policyInput({ fn: FN, agent: "shop", args: () => args }));
  return judged.trace.matched.length > 0 ? judged.decision : null;
}

/** Returns the answer of a condition: true, false, or null where it cannot be decided. */
async function answerOf(when: string, args: string): Promise<boolean | null> {
  const rule = `when: { fn: ${FN}, ${when} }`;
  const [allowed, denied] = [await decisionOf(rule, args, "ALLOW"), await decisionOf(rule, args, "DENY")];
  if (allowed === "ALLOW" && denied === "DENY") return true;
  if (allowed === null && denied === "DENY") return null;
  assert.deepEqual([allowed, denied], [null, null]);
  return false;
}

const TABLE: readonly (readonly [when: string, args: string, expected: boolean | null])[] = [
  ["args: { /env: prod }", '{"env":"prod"}', true],
  ["args: { /env: prod }", '{"env":"PROD"}', false],
  ["args: { /env: prod }", '{"env":["prod"]}', null],
  ["args: { /env: prod }", "{}", null],
  ["args: { /env: [prod, stage*] }", '{"env":"staging"}', false],
  ["args: { /env: [prod, stag*] }", '{"env":"staging"}', true],
  ["args: { /env: { equals: 'stag*' } }", '{"env":"staging"}', false],
  ["args: { /env: { equals: 'stag*' } }", '{"env":"stag*"}', true],
  ["args: { /env: { one_of: [prod, test] } }", '{"env":"test"}', true],
  ["args: { /to/0: { glob: '*@shop.example' } }", '{"to":["a@shop.example"]}', true],
  ["args: { /to/0: { glob: '*@shop.example' } }", '{"to":[5]}', false],
  ["args: { /to: '*@shop.example' }", '{"to":"a@shop.example"}', true],
  ["args: { /to: '*@shop.example' }", '{"to":"b@else.example, a@shop.example"}', null],
  ["args: { /to: '*@shop.example' }", '{"to":"b@else.example"}', false],
  ["args: { /url: 'https://*.shop.example/*' }", '{"url":"https://www.shop.example/a/b?c"}', true],
  ["args: { /url: 'https://*.shop.example/*' }", '{"url":"https://else.example/.shop.example/"}', null],
  ["args: { /url: 'https://*.shop.example/*' }", '{"url":"https://a@else.example:1/.shop.example/"}', null],
  ["args: { /url: 'https://*.shop.example/*' }", '{"url":"https://else.example:80.shop.example/"}', null],
  ["args: { /url: 'https://*.shop.example/*' }", '{"url":"https://else.example;.shop.example/"}', null],
  ["args: { /url: 'https://shop.example/a/*' }", '{"url":"https://shop.example/a/../b"}', null],
  ["args: { /url: 'https://shop.example/a/*' }", '{"url":"https://shop.example/a/%2E./b"}', null],
  ["args: { /to: '*@shop.example' }", '{"to":"a%else.example@shop.example"}', null],
  ["args: { /from: 'git@shop.example:*' }", '{"from":"git@shop.example:a"}', true],
  ["args: { /a: 1 }", `{"a":1,"b":${"[".repeat(5000)}${"]".repeat(5000)}}`, null],
  ["args: { /text: 'Order *' }", '{"text":"Order A-1, shipped"}', true],
  ["args: { /to/01: x }", '{"to":["x"]}', null],
  ["args: { /a~1b~0: 1 }", '{"a/b~":1}', true],
  ["args: { /__proto__: { exists: true } }", "{}", false],
  ["args: { /__proto__: { exists: true } }", '{"__proto__":null}', true],
  ["args: { /note: { exists: false } }", '{"note":null}', false],
  ["args: { /note: null }", '{"note":null}', true],
  ["args: { /note: null }", "{}", null],
  ["args: { /force: false }", '{"force":"false"}', false],
  ["args: { /force: { exists: true, equals: true } }", "{}", false],
  ["args: { /amount: 18.5 }", '{"amount":18.50}', true],
  ["args: { /amount: 1000 }", '{"amount":1e3}', true],
  ["args: { /amount: 1000 }", '{"amount":"1000"}', false],
  ["args: { /amount: { max: 100 } }", '{"amount":100.00000000000000001}', false],
  ["args: { /amount: { max: 100 } }", '{"amount":1e400}', false],
  ["args: { /amount: { max: 100 } }", '{"amount":-0.0}', true],
  ["args: { /amount: { max: 100 } }", '{"amount":"99"}', null],
  ["args: { /amount: { min: 1, max: 100 } }", '{"amount":0.99}', false],
  ["args: { /units: { max: '9007199254740992' } }", '{"units":9007199254740993}', false],
  ["args: { /units: { min: '9007199254740993' } }", '{"units":9007199254740993}', true],
  ["args: { /text: { length: { max: 3 } } }", '{"text":"😀😀😀"}', true],
  ["args: { /to: { length: 1 } }", '{"to":[1,2]}', false],
  ["args: { /to: { length: 1 } }", '{"to":7}', null],
  ["args: { '': { schema: { type: object, additionalProperties: false } } }", '{"more":1}', false],
  ["args: { /lines: { schema: { type: array, items: { type: integer, maximum: 5 } } } }", '{"lines":[1,5]}', true],
  ["args: { /lines: { schema: { type: array, items: { maximum: 5 } } } }", '{"lines":[5.00000000000000000001]}', null],
  ["args: { /amount: { max: 100 }, /currency: EUR }", '{"amount":100,"currency":"EUR"}', true],
  ["args: { /amount: { max: 100 }, /currency: EUR }", '{"currency":"USD"}', false],
  ["args: { /amount: { max: 100 } }", "not JSON", null],
  ["expr: 'args.amount <= 100'", '{"amount":99.5}', true],
  ["expr: 'args.amount <= 100', args: { /currency: EUR }", '{"amount":99.5,"currency":"USD"}', false],
  ["expr: 'args.amount <= 100'", '{"amount":"99"}', null],
];

describe("a condition on the arguments of a call", () => {
  for (const [when, args, expected] of TABLE) {
    it(`${when} of ${args} is ${expected === null ? "not to be decided" : String(expected)}`, async () => {
      assert.equal(await answerOf(when, args), expected);
    });
  }

  it("cannot be decided where a schema would take long of a large value", async () => {
    const schema = { items: { anyOf: Array.from({ length: 300 }, (_, at) => ({ const: at })) } };
    const when = `args: { /lines: { schema: ${JSON.stringify(schema)} } }`;
    assert.equal(await answerOf(when, JSON.stringify({ lines: Array(100).fill(1) })), true);
    assert.equal(await answerOf(when, JSON.stringify({ lines: Array(1000).fill(1) })), null);
    const short = `args: { /text: { schema: { anyOf: ${JSON.stringify(Array(300).fill({ maxLength: 9 }))} } } }`;
    assert.equal(await answerOf(short, JSON.stringify({ text: "x".repeat(1000) })), false);
    assert.equal(await answerOf(short, JSON.stringify({ text: "x".repeat(100_000) })), null);
  });

  it("never lets an exception count that cannot be decided for a DENY, and always for an ALLOW", async () => {
    const rule = `when: { fn: ${FN} }, unless: { args: { /amount: { max: 100 } } }`;
    for (const [args, denied, allowed] of [
      ['{"amount":50}', null, null],
      ['{"amount":500}', "DENY", "ALLOW"],
      ["{}", "DENY", null],
    ] as const) {
      assert.deepEqual(
        [await decisionOf(rule, args, "DENY"), await decisionOf(rule, args, "ALLOW")],
        [denied, allowed],
      );
    }
  });

  it("holds of what an executor's ask says of its arguments, unless a secret in them was masked", async () => {
    const policy = await loadPolicy(
      "version: 1\nrules:\n  - { id: small, when: { action: refund, args: { /amount: { max: 10 } } }, decision: ALLOW }\n",
    );
    const ask = { type: "APPROVAL" as const, roleId: null, envelope: null, principal: "agent:shop" };
    const decide = (args: unknown) =>
      evaluate(
        policy,
        [],
        policyInputOf({ ...ask, meta: { action: "refund", args } }, { id: "J-1", env: null, repo: null }),
      );
    assert.equal(decide({ amount: 9 }).decision, "ALLOW");
    assert.equal(decide({ amount: 11 }).decision, "ESCALATE");
    assert.equal(decide(undefined).decision, "ESCALATE");
    assert.equal(decide({ amount: 9, token: "[secret:github]" }).decision, "ESCALATE");
  });

  for (const [when, expected] of [
    ["args: {}", "rules[0].when.args names no argument"],
    ["args: 5", 'rules[0].when.args must be a block of names and values, not "5"'],
    [
      "args: { amount: 5 }",
      'rules[0].when.args.amount must be the place of an argument, as "/amount" or "/to/0" (RFC 6901)',
    ],
    ["args: { /a: {} }", "names no test; it knows equals, one_of"],
    ["args: { /a: { like: x } }", "rules[0].when.args./a.like is no test; it knows equals, one_of"],
    ["args: { /a: { equals: [x] } }", "must be one value; one_of takes a list"],
    ["args: { /a: { one_of: x } }", "must be a list of values"],
    ["args: { /a: { glob: 5 } }", "must be a text"],
    ["args: { /a: [] }", "must have 1 to 100 values, not 0"],
    ["args: { /a: { min: big } }", "must be a number; one of more than 15 digits is written in quotes"],
    ["args: { /a: { length: { most: 3 } } }", "must be a whole number, or a block of min and max"],
    ["args: { /a: { length: { min: 3, max: 1 } } }", "must be a whole number, or a block of min and max"],
    ["args: { /a: { exists: 'yes' } }", "must be true or false"],
    ["args: { /a: { schema: { type: strings } } }", "cannot be used: /type must be a type of JSON, or several"],
    ["args: { /a: { schema: { pattern: x } } }", "must have no pattern, format, uniqueItems or $ref: use glob or expr"],
    ["args: { /a: { schema: { items: { $ref: '#' } } } }", "must have no pattern, format, uniqueItems or $ref"],
    ["expr: 'args.x <= 9007199254740992.0'", "rules[0].when.expr must write a number above 2^53 without a point"],
    ["expr: 5", 'rules[0].when.expr must be a text, not "5"'],
    ["expr: 'amount > 1'", "rules[0].when.expr has no variable amount; it knows args"],
    ["args: { /a: 1 }, tool: x", "is nothing that a function call has: it has fn, agent, args, command, path and expr"],
  ] as const) {
    it(`is refused where it is ${when}`, async () => {
      const text = `version: 1\nrules:\n  - { id: one, decision: ALLOW, when: { fn: ${FN}, ${when} } }\n`;
      await assert.rejects(loadPolicy(text), (error) => {
        assert.ok(error instanceof PolicyMistake, String(error));
        assert.ok(error.message.includes(expected), error.message);
        return true;
      });
    });
  }

  it("is explained in words, and is the same for lint only where it is written alike", async () => {
    const policy = await loadPolicy(`version: 1
rules:
  - { id: small, when: { fn: ${FN}, args: { /amount: { min: 1, max: 100 }, /to: { length: 1 } } }, decision: ALLOW }
  - { id: large, when: { fn: ${FN}, expr: "args.amount > 1000" }, decision: DENY }
  - { id: same, when: { fn: ${FN}, expr: "args.amount > 1000", agent: shop }, decision: DENY }
`);
    const explain = (args: string) => {
      const input = policyInput({ fn: FN, agent: "shop", args: () => args });
      return explainDecision(policy, input, evaluate(policy, [], input), policy).map((line) => line.trim());
    };
    const lines = explain('{"amount":500,"to":[1]}');
    assert.ok(
      lines.includes("small (ALLOW) does not match: it is not so that args/amount is at least 1 and is at most 100"),
      lines.join("\n"),
    );
    assert.ok(
      explain('{"to":[1]}').includes(
        "small (ALLOW) does not match: whether args/amount is at least 1 and is at most 100 cannot be decided",
      ),
    );
    assert.ok(explain('{"to":[1]}').includes("large (DENY) matches"));
    assert.deepEqual(
      lintPolicy(policy).map(({ says }) => says),
      ["same can never win: wherever it holds, large says the same of at least as much"],
    );
  });

  it("orders numbers by their digits", () => {
    const inOrder = [
      "-1e2",
      "-99.9",
      "-1e-400",
      "0",
      "0.1",
      "0.10000000000000000000001",
      "1",
      "9.99e1",
      "1e2",
      "12e1",
      "1e400",
    ];
    for (const [i, one] of inOrder.entries()) {
      for (const [j, other] of inOrder.entries()) {
        assert.equal(Math.sign(compareNumberTexts(one, other)), Math.sign(i - j), `${one} and ${other}`);
      }
    }
    assert.equal(compareNumberTexts("100e-2", "1.0"), 0);
    assert.equal(compareNumberTexts("-0", "0.00"), 0);
  });
});
