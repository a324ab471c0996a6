import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { policyInputOf } from "../../src/asks/model/policy-input.ts";
import type { Ask } from "../../src/asks/model/ask.ts";
import { checkPolicy } from "../../src/policy/model/check.ts";
import { explainDecision } from "../../src/policy/model/explain.ts";
import { lintDoubts } from "../../src/policy/model/lint.ts";
import { FIRST_POLICY, loadPolicy, parsePolicy } from "../../src/policy/model/text.ts";
import { evaluate, policyInput, type Grant, type PolicyWords } from "../../src/policy/model/policy.ts";
import { shippedPolicy } from "../../src/policy/shipped.ts";
import { readExactJson } from "../../src/lib/json/exact-json.ts";

const DEFAULTS = { read: "ALLOW", other: "ESCALATE" };
const decide = (rules: readonly unknown[], words: PolicyWords, grants: readonly Grant[] = []) =>
  evaluate(checkPolicy({ version: 1, defaults: DEFAULTS, rules }), grants, policyInput(words));
/** Whether one rule speaks of an input. */
const speaks = (rule: object, words: PolicyWords) => decide([rule], words).trace.matched.length > 0;

/** There, and nothing that a rule can hold. */
const ODD: Readonly<Record<string, unknown>> = {
  "a list of what the rule says": ["main"],
  "an empty list": [],
  "a list in a list": [["main"]],
  "a block": { main: true },
  "an empty block": {},
  "a fraction": 1.5,
  "a number whose digits were lost": 2 ** 53,
  "an integer that kept its digits": readExactJson("9007199254740993"),
};

/** Ways for a rule to say what a value may be; each with something that it does not take. */
const WANTED: Readonly<Record<string, unknown>> = {
  "a text": "main",
  "a star": "main*",
  "any text": "*",
  "a whole number": 7,
  "a truth value": true,
  nothing: null,
  "one of several": ["main", 7, null],
};

describe("a value that no rule can hold", () => {
  for (const [kind, branch] of Object.entries(ODD)) {
    const words = { action: "deploy", meta: { branch } };
    const when = { action: "deploy" };

    it(`${kind}: DENY and ESCALATE hold whatever they say of it, ALLOW never`, () => {
      for (const [how, wanted] of Object.entries(WANTED)) {
        const about = { when: { ...when, "meta.branch": wanted } };
        assert.ok(speaks({ ...about, decision: "DENY" }, words), how);
        assert.ok(speaks({ ...about, decision: "ESCALATE" }, words), how);
        assert.ok(speaks({ ...about, decision: "ESCALATE", standing: false }, words), how);
        assert.ok(!speaks({ ...about, decision: "ALLOW" }, words), how);
      }
    });

    it(`${kind}: the exception of an ALLOW takes it, and that of DENY and ESCALATE does not`, () => {
      for (const [how, wanted] of Object.entries(WANTED)) {
        const about = { when, unless: { "meta.branch": wanted } };
        assert.ok(!speaks({ ...about, decision: "ALLOW" }, words), how);
        assert.ok(speaks({ ...about, decision: "DENY" }, words), how);
        assert.ok(speaks({ ...about, decision: "ESCALATE" }, words), how);
      }
    });

    it(`${kind}: other conditions still have to hold`, () => {
      const about = { when: { action: "write", "meta.branch": "main" } };
      for (const decision of ["ALLOW", "DENY", "ESCALATE"]) assert.ok(!speaks({ ...about, decision }, words), decision);
      const unless = { action: "write", "meta.branch": "main" };
      assert.ok(speaks({ when, unless, decision: "ALLOW" }, words), "an exception for something else");
    });

    it(`${kind}: is no action, resource, env, role, tool or repo that anything was allowed for`, () => {
      const grant = { id: "g", action: "deploy", resource: "", env: "dev", tool: null, repo: null, agent: "a" };
      const asked = { action: "deploy", agent: "a" };
      assert.equal(decide([], asked, [grant]).decision, "ALLOW");
      for (const name of ["action", "resource", "env", "tool", "repo"] as const) {
        const policyDecision = decide([], { ...asked, [name]: branch }, [grant]);
        assert.deepEqual([policyDecision.decision, policyDecision.isGrantable], ["ESCALATE", false], name);
      }
      for (const name of ["action", "resource", "env", "role", "tool", "repo"] as const) {
        const odd = { action: "x", [name]: branch };
        assert.equal(decide([{ when: { [name]: "y" }, decision: "DENY" }], odd).decision, "DENY", name);
        assert.equal(decide([{ when: { [name]: "*" }, decision: "ALLOW" }], odd).decision, "ESCALATE", name);
      }
    });
  }

  it("is no reading by default, whatever kind of question it comes with", () => {
    const policyDecision = decide([], { ask_type: "RESOURCE_FETCH", action: ["read"] });
    assert.deepEqual([policyDecision.decision, policyDecision.trace.defaulted], ["ESCALATE", true]);
    assert.equal(decide([], { ask_type: "RESOURCE_FETCH", action: null }).decision, "ALLOW");
  });

  it("is not passed over for another claim, and is noted where the job overrules it", () => {
    const envelope = { job_snapshot: { env_profile: "dev", repo: "shop" }, role: "default" };
    const base = { type: "APPROVAL" as const, roleId: null, principal: "agent:a" };
    const asked: Pick<Ask, "type" | "roleId" | "meta" | "envelope" | "principal"> = {
      ...base,
      envelope,
      meta: { action: "write", env: ["prod"] },
    };
    const policy = parsePolicy(FIRST_POLICY);
    const judge = (env: string | null) => evaluate(policy, [], policyInputOf(asked, { id: "J", env, repo: null }));
    assert.equal(judge(null).decision, "DENY");
    assert.equal(judge("staging").decision, "ESCALATE");
    assert.deepEqual(judge("staging").trace.claimed, { env: "nothing that can be compared" });
  });

  it("stands in the trace and in the explanation as what it is", () => {
    const policy = checkPolicy({
      version: 1,
      rules: [{ id: "a", when: { resource: "x", "meta.k": "y" }, decision: "ALLOW" }],
    });
    const input = policyInput({ action: "write", resource: ["x"], meta: { k: {} } });
    const policyDecision = evaluate(policy, [], input);
    assert.deepEqual(JSON.parse(JSON.stringify(policyDecision.trace.input)), {
      action: "write",
      resource: { not_comparable: true },
      env: "dev",
    });
    const words = explainDecision(policy, input, policyDecision, shippedPolicy()).join("\n");
    assert.match(words, /meta\.k nothing that can be compared/);
    assert.match(words, /a \(ALLOW\) does not match: resource is nothing that can be compared, not "x"/);
  });
});

describe("a value that a rule can hold", () => {
  it("is compared as text: true is true, 7 is 7, and JSON's null is missing", () => {
    const denied = (wanted: unknown, meta: Record<string, unknown>) =>
      speaks({ when: { "meta.k": wanted }, decision: "DENY" }, { action: "x", meta });
    for (const [wanted, value] of [
      [true, true],
      [true, "true"],
      ["true", true],
      [false, false],
      [7, 7],
      ["7", 7],
      [7, "7"],
      [-7, -7],
      [0, -0],
      ["*", ""],
      [null, null],
    ] as const)
      assert.ok(denied(wanted, { k: value }), `${String(wanted)} of ${String(value)}`);
    for (const [wanted, value] of [
      [true, false],
      [true, 1],
      [7, 70],
      ["*", null],
      ["null", null],
      [null, "null"],
      [null, ""],
      [null, false],
      [null, 0],
    ] as const)
      assert.ok(!denied(wanted, { k: value }), `${String(wanted)} of ${String(value)}`);
    assert.ok(denied(null, {}));
    assert.ok(!denied("*", {}));
    assert.ok(!denied("*", { other: [1] }), "another key is another matter");
  });
});

describe("lint", () => {
  const warned = (...rules: object[]) => lintDoubts(checkPolicy({ version: 1, rules })).map(({ says }) => says);

  it("warns of a DENY by something that an asker may leave out", () => {
    const says = "a denies by meta.branch, which an asker may leave out: add null to its values to deny that too";
    const when = { action: "deploy", "meta.branch": "main*" };
    assert.deepEqual(warned({ id: "a", when, decision: "DENY" }), [says]);
    for (const key of ["role", "repo", "meta.x"])
      assert.match(warned({ when: { [key]: ["x", "*"] }, decision: "DENY" }).join(), new RegExp(`by ${key},`), key);
    assert.deepEqual(lintDoubts(checkPolicy({ version: 1, rules: [{ when, decision: "DENY" }] }))[0]?.rule, 0);
  });

  it("says nothing of what is always there, what names null, exceptions, other decisions and assigned work", () => {
    for (const rule of [
      { when: { action: "x", resource: "y", env: "prod", agent: "a", job: "j", tool: "t" }, decision: "DENY" },
      { when: { "meta.branch": ["main*", null] }, decision: "DENY" },
      { when: { action: "x" }, unless: { "meta.ok": true }, decision: "DENY" },
      { when: { "meta.branch": "main*" }, decision: "ESCALATE" },
      { when: { "meta.branch": "main*" }, decision: "ALLOW" },
      { when: { env: "agent", "meta.place": "outside" }, decision: "DENY" },
    ])
      assert.deepEqual(warned(rule), [], JSON.stringify(rule));
    assert.deepEqual(lintDoubts(shippedPolicy()), []);
    assert.deepEqual(lintDoubts(parsePolicy(FIRST_POLICY)), []);
  });

  it("warns of a rule that looks at the exact call and names no function", async () => {
    const says = "only to executors' asks: its command stands beside no fn";
    const when = { command: ["git status *"] };
    assert.deepEqual(warned({ id: "a", when, decision: "ALLOW" }), [`a never applies to function calls, ${says}`]);
    for (const [key, given] of Object.entries({ path: "src/*", args: { "/a": 1 } })) {
      const beside = { tool: "Bash", [key]: given };
      assert.match(warned({ when: beside, decision: "DENY" }).join(), new RegExp(`its ${key} stands`), key);
      assert.match(
        warned({ when: { action: "x" }, unless: { [key]: given }, decision: "DENY" }).join(),
        /function calls/,
      );
      assert.deepEqual(warned({ id: "b", when: { fn: "Bash", [key]: given }, decision: "DENY" }), [], key);
    }
    const inWords = await loadPolicy("version: 1\nrules: [{ when: { expr: args.a == 1 }, decision: DENY }]");
    assert.match(lintDoubts(inWords)[0]?.says ?? "", /^rules\[0\] never applies .* its expr stands/);
    assert.deepEqual(warned({ when: { env: "agent", ...when }, decision: "ALLOW" }), []);
  });
});
