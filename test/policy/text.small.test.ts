import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evaluate, policyInput, type PolicyWords } from "../../src/policy/model/policy.ts";
import { PolicyMistake } from "../../src/policy/model/check.ts";
import { classKeyOf, learnedRule } from "../../src/policy/model/class.ts";
import { lintPolicy } from "../../src/policy/model/lint.ts";
import { FIRST_POLICY, parsePolicy, removeRule, ruleText } from "../../src/policy/model/text.ts";

const SEED = `version: 1
rules:
  - when: { env: prod, action: write }
    decision: DENY
  - when: { env: staging, action: open_pr }
    decision: ALLOW
`;

const decide = (text: string, words: PolicyWords) => evaluate(parsePolicy(text), [], policyInput(words));

describe("a policy file", () => {
  it("is refused where YAML reads something else than is written", () => {
    const policy = (written: string) =>
      `version: 1\nrules:\n  - when: { meta.build: ${written} }\n    decision: DENY\n`;
    for (const [written, read] of [
      ["0192117", "192117"],
      ["01234", "1234"],
      ["007", "7"],
      ["0x1F", "31"],
      ["0o17", "15"],
      ["1e3", "1000"],
      ["+5", "5"],
      ["-0", "0"],
      ["1.0", "1"],
      ["1.10", "1.1"],
      [".inf", "Infinity"],
      [".nan", "NaN"],
      ["9007199254740993", "9007199254740992"],
      ["123456789012345678901234567890", "1.2345678901234568e+29"],
      ["TRUE", "true"],
      ["False", "false"],
      ["~", "null"],
      ["NULL", "null"],
      ["!!int 017", "17"],
    ] as const) {
      const source = written.replace("!!int ", "");
      for (const text of [policy(written), policy(`[a, ${written}]`)]) {
        const message = `policy.yaml:3: the policy ${source} is read as ${read}; put it in quotes.`;
        assert.throws(() => parsePolicy(text), { name: "PolicyMistake", message: message.replace("the policy ", "") });
      }
      const quoted = policy(JSON.stringify(source));
      assert.equal(decide(quoted, { action: "read", meta: { build: source } }).decision, "DENY", source);
    }
    for (const [written, value] of [
      ["417", 417],
      ["-5", -5],
      ["0", 0],
      ["true", true],
      ["yes", "yes"],
      ["off", "off"],
      ["2026-11-26", "2026-11-26"],
      ["1_000", "1_000"],
      ["1.2.3", "1.2.3"],
    ] as const) {
      assert.equal(decide(policy(written), { action: "read", meta: { build: value } }).decision, "DENY", written);
    }
  });

  it("is refused with a sentence for each mistake, and the place of it", () => {
    const REFUSED: readonly [text: string, ...sentences: string[]][] = [
      ["", "policy.yaml:1: the policy must be a block of names and values."],
      ["- a", "policy.yaml:1: the policy must be a block of names and values, not a list."],
      ["rules: []", "policy.yaml:1: version must be a whole number from 1."],
      ['version: "1"', 'policy.yaml:1: version must be a whole number from 1, not "1".'],
      [
        "version: 1\nrule: []",
        'policy.yaml:1: the policy has no "rule"; it knows version, defaults, rules, says, limits.',
      ],
      [
        "version: 1\ndefaults:\n  other: ALLOW",
        "policy.yaml:3: defaults.other must be ESCALATE or DENY: ALLOW would allow whatever no rule speaks of.",
      ],
      ["version: 1\ndefaults: { read: }", "policy.yaml:2: defaults.read must be ALLOW, DENY or ESCALATE."],
      [
        "version: 1\nsays: { pay: Pay }",
        'policy.yaml:2: says.pay must be a sentence of at most 200 characters that names an argument, as {amount}, not "Pay".',
      ],
      [
        "version: 1\nlimits:\n  EUR: 10\n  eur: 10\n  XYZ: 1\n  JPY: -1\n  USD: much\n  CHF: [1]",
        "policy.yaml:4: limits.eur names no currency; write the three capitals of its code, as EUR.",
        "policy.yaml:5: limits.XYZ names no currency; write the three capitals of its code, as EUR.",
        'policy.yaml:6: limits.JPY must be a number from 0, in the main unit of the currency, not "-1".',
        'policy.yaml:7: limits.USD must be a number from 0, in the main unit of the currency, not "much".',
        "policy.yaml:8: limits.CHF must be a number from 0, in the main unit of the currency, not a list.",
      ],
      ["version: 1\nlimits: 7", 'policy.yaml:2: limits must be a block of names and values, not "7".'],
      [
        "version: 1\nrules:\n  - id: a\n    when: { fn: a }\n    decision: DENY\n    risk: unjudged",
        'policy.yaml:6: rules[0].risk must be low, normal or high, not "unjudged".',
      ],
      [
        "version: 1\nrules: [{ when: { action: a }, decision: DENY, risk: high }]",
        "policy.yaml:2: rules[0].risk is for function calls: its rule names fn in when.",
      ],
      ["version: 1\nrules: [x]", 'policy.yaml:2: rules[0] must be a block of names and values, not "x".'],
      [
        "version: 1\nrules:\n  - when: { action: x }\n    decision: allow",
        'policy.yaml:4: rules[0].decision must be ALLOW, DENY or ESCALATE, not "allow".',
      ],
      ["version: 1\nrules: [{ decision: DENY }]", "policy.yaml:2: rules[0] has no when, which says what it is about."],
      [
        "version: 1\nrules: [{ when: { enviroment: prod }, decision: DENY }]",
        'policy.yaml:2: rules[0].when has no "enviroment"; it knows action, resource, env, ask_type, role, tool, agent, repo, job, fn, args, command, path, expr and meta.<key>.',
      ],
      [
        "version: 1\nrules: [{ when: {}, decision: ALLOW }]",
        'policy.yaml:2: rules[0].when names nothing; write action: "*" for whatever there is.',
      ],
      [
        "version: 1\nrules: [{ when: { env: 7, action: null, repo: [] }, decision: DENY }]",
        'policy.yaml:2: rules[0].when.env must be a text, not "7"; put it in quotes.',
        "policy.yaml:2: rules[0].when.action must be a text: action is never missing.",
        "policy.yaml:2: rules[0].when.repo must have 1 to 100 values, not 0.",
      ],
      [
        "version: 1\nrules: [{ when: { ask_type: approval }, decision: DENY }]",
        'policy.yaml:2: rules[0].when.ask_type must be one of CLARIFICATION, RESOURCE_FETCH, POLICY_DECISION, APPROVAL, CHOICE, not "approval".',
      ],
      [
        "version: 1\nrules: [{ when: { action: x }, decision: ALLOW, need: 2, to: dana, standing: true }]",
        "policy.yaml:2: rules[0].to is for rules that ESCALATE: others ask nobody.",
        "policy.yaml:2: rules[0].need is for rules that ESCALATE: others ask nobody.",
        "policy.yaml:2: rules[0].standing is for rules that ESCALATE: others ask nobody.",
      ],
      [
        "version: 1\nrules: [{ when: { action: x }, decision: ESCALATE, need: 11, standing: 1, id: a b }]",
        'policy.yaml:2: rules[0].id must be 1 to 64 letters, digits, dots, dashes and underscores, not "a b".',
        'policy.yaml:2: rules[0].need must be a whole number from 1 to 10, not "11".',
        'policy.yaml:2: rules[0].standing must be true or false, not "1".',
      ],
      [
        "version: 1\nrules:\n- { id: a, when: { action: x }, decision: DENY }\n- { id: a, when: { action: y }, decision: DENY }",
        'policy.yaml:4: rules[1].id is "a", as is that of rules[0].',
      ],
      [
        "version: 1\nrules: [{ when: { fn: deploy, env: prod }, unless: { meta.a: b }, decision: ALLOW }]",
        "policy.yaml:2: rules[0].when.env is nothing that a function call has: it has fn, agent, args, command, path and expr.",
        "policy.yaml:2: rules[0].unless.meta.a is nothing that a function call has: it has fn, agent, args, command, path and expr.",
        "policy.yaml:2: rules[0].id is missing: what a rule decides of function calls is named after it.",
      ],
      [
        "version: 1\nrules: [{ id: a, when: { fn: [deploy, '**'] }, decision: ALLOW }]",
        'policy.yaml:2: rules[0].when.fn must say which functions: "*" would approve whatever is asked.',
      ],
      [
        "version: 1\nrules: [{ id: a, when: { fn: null, agent: x }, decision: ESCALATE, need: 2 }]",
        "policy.yaml:2: rules[0].when.fn must be a text: fn is never missing.",
        "policy.yaml:2: rules[0].need is for what executors ask: a function call says itself who is asked.",
      ],
      [
        "version: 1\nrules: [{ when: { agent: x }, unless: { fn: ping }, decision: ALLOW }]",
        "policy.yaml:2: rules[0].unless names fn, which when does not.",
      ],
      ["version: 1\nversion: 2", "policy.yaml:2: this is not valid YAML: map keys must be unique."],
      ["%YAML 1.1\n---\nversion: 1", "policy.yaml:1: it must have no directives."],
      ["version: !v 1", "policy.yaml:1: this is not valid YAML: unresolved tag: !v."],
      ["version: !!binary aaaa", "policy.yaml:1: the tag tag:yaml.org,2002:binary is not known."],
    ];
    for (const [text, ...sentences] of REFUSED) {
      assert.throws(
        () => parsePolicy(text),
        (error: unknown) => {
          assert.ok(error instanceof PolicyMistake, String(error));
          assert.deepEqual(error.message.split("\n"), sentences, text);
          return true;
        },
      );
    }
  });

  it("has limits: 256 KiB, 2,000 rules, 10 aliases", () => {
    const rule = "- { when: { action: x }, decision: DENY }\n";
    assert.equal(parsePolicy(`version: 1\nrules:\n${rule.repeat(2000)}`).rules.length, 2000);
    assert.throws(() => parsePolicy(`version: 1\nrules:\n${rule.repeat(2001)}`), /has 2001 rules; 2000 is the most/);
    assert.throws(() => parsePolicy(`version: 1\n#${"x".repeat(256 * 1024)}`), /more than 256 KiB/);
    const aliases = (count: number) =>
      `version: 1\nrules:\n- &a { when: { action: x }, decision: DENY }\n${"- *a\n".repeat(count)}`;
    assert.equal(parsePolicy(aliases(10)).rules.length, 11);
    assert.throws(() => parsePolicy(aliases(11)), /policy\.yaml:14: it has more than 10 aliases/);
    assert.throws(() => parsePolicy("version: 1\nrules: &a [*a]"), PolicyMistake);
    assert.throws(() => parsePolicy("version: 1\nrules: [{ when: &w { action: *w }, decision: DENY }]"), PolicyMistake);
  });

  it("is another version with every change of what it says, and the same with other comments and order of keys", () => {
    const { policyVersion } = parsePolicy(SEED);
    assert.equal(
      parsePolicy(SEED.replace("env: prod, action: write", "action: write, env: prod")).policyVersion,
      policyVersion,
    );
    assert.equal(parsePolicy(`# nothing\n${SEED}`).policyVersion, policyVersion);
    assert.notEqual(parsePolicy(SEED.replace("ALLOW", "DENY")).policyVersion, policyVersion);
    assert.match(parsePolicy(SEED.replace("version: 1", "version: 2")).policyVersion, /^2:/);
  });

  it("begins with one that allows reading, denies writing in prod, and puts the rest to people", () => {
    const { decision } = decide(FIRST_POLICY, { ask_type: "RESOURCE_FETCH", env: "prod" });
    assert.equal(decision, "ALLOW");
    assert.equal(decide(FIRST_POLICY, { action: "write", env: "prod" }).decision, "DENY");
    assert.equal(decide(FIRST_POLICY, { action: "write", env: "dev" }).decision, "ESCALATE");
    assert.deepEqual(lintPolicy(parsePolicy(FIRST_POLICY)), []);
  });

  it("loses a learned rule that was written into it, with its comments kept", async () => {
    const what = { action: "deploy", resource: "shop, api", env: "dev", tool: null, repo: "true", agent: "ana-bot" };
    const rule = learnedRule(what, 3) ?? assert.fail();
    const changed = `${FIRST_POLICY}${ruleText(rule).join("\n")}\n`;
    for (const line of FIRST_POLICY.split("\n")) assert.ok(changed.includes(line), line);
    const { decision, trace } = decide(changed, what);
    assert.deepEqual([decision, trace.policy], ["ALLOW", `${rule.id}@v1`]);
    for (const name of Object.keys(what)) {
      const { matched } = decide(changed, { ...what, [name]: "other" }).trace;
      assert.deepEqual(matched, [], `${name} is part of the rule`);
    }
    assert.equal(
      parsePolicy(await removeRule(changed, rule.id)).policyVersion,
      parsePolicy(FIRST_POLICY).policyVersion,
    );
    assert.equal(await removeRule(FIRST_POLICY, "nobody"), FIRST_POLICY);
  });

  it("never takes a learned rule that is about more than what people approved", () => {
    const what = { action: "deploy", resource: "shop-api", env: "dev", tool: null, repo: null, agent: "ana-bot" };
    assert.equal(learnedRule({ ...what, resource: "*" }, 3), null);
    assert.equal(learnedRule({ ...what, action: "a*" }, 3), null);
    assert.equal(learnedRule({ ...what, action: "unknown" }, 3), null);
    assert.equal(classKeyOf(what), classKeyOf({ ...what }));
    assert.notEqual(classKeyOf({ ...what, tool: "null" }), classKeyOf(what));
  });
});
