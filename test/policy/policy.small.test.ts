import { policyInputOf } from "../../src/asks/model/policy-input.ts";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evaluate, policyClassOf, policyInput, type Grant, type PolicyWords } from "../../src/policy/model/policy.ts";
import { checkPolicy } from "../../src/policy/model/check.ts";
import { lintPolicy } from "../../src/policy/model/lint.ts";
import { fits, NOT_COMPARABLE, patternOf } from "../../src/policy/model/match.ts";
import { FIRST_POLICY, parsePolicy } from "../../src/policy/model/text.ts";
import type { Ask } from "../../src/asks/model/ask.ts";
import { ASKS_PER_POLICY, differenceOf } from "../proof/policy-cases.ts";

/** The example of the specification, word for word. */
const SEED = `version: 1
rules:
  - when: { env: prod, action: write }
    decision: DENY
    reason: "Write in prod forbidden"
  - when: { env: staging, action: open_pr }
    decision: ALLOW
  - when: { env: prod, action: open_pr }
    decision: ESCALATE
`;

const RULES = `version: 1
defaults: { read: ALLOW, other: ESCALATE }
rules:
  - id: prod-writes
    when: { env: prod, action: [write, apply_diff] }
    unless: { resource: "docs/*" }
    decision: DENY
    reason: "Production data is changed by releases only"
  - id: prod-deploys
    when: { env: prod, action: deploy }
    decision: ESCALATE
    to: release-team
    need: 2
    standing: false
`;

const decide = (text: string, words: PolicyWords, grants: readonly Grant[] = []) =>
  evaluate(parsePolicy(text), grants, policyInput(words));

const ask = (more: Partial<Ask> = {}) => ({
  type: "APPROVAL" as Ask["type"],
  roleId: null,
  meta: {} as Ask["meta"],
  envelope: null as Ask["envelope"],
  principal: "agent:ana-bot",
  ...more,
});
const job = (more: { env?: string; repo?: string } = {}) => ({ id: "J-1", env: null, repo: null, ...more });

describe("the policy engine", () => {
  it("decides by the specification's example, and gives it the version that the contract names", () => {
    assert.equal(parsePolicy(SEED).policyVersion, "1:227da1dce09c");
    const denied = decide(SEED, { action: "write", env: "prod" });
    assert.deepEqual(denied.trace, {
      policy: "policy.yaml@v1",
      policy_version: "1:227da1dce09c",
      decision: "DENY",
      reason: "Write in prod forbidden",
      rule_index: 0,
      matched: [0],
      defaulted: false,
      input: { action: "write", resource: "", env: "prod" },
      grant: null,
    });
    assert.equal(decide(SEED, { action: "open_pr", env: "staging" }).decision, "ALLOW");
    assert.equal(decide(SEED, { action: "open_pr", env: "prod" }).decision, "ESCALATE");
    assert.equal(decide(SEED, { action: "open_pr" }).trace.defaulted, true);
  });

  it("traces a decision as the contract writes it", () => {
    const {
      trace,
      to,
      need,
      isGrantable: standing,
      because,
    } = decide(RULES, {
      action: "deploy",
      resource: "shop-api",
      env: "prod",
    });
    assert.deepEqual(trace, {
      policy: "prod-deploys@v1",
      policy_version: parsePolicy(RULES).policyVersion,
      decision: "ESCALATE",
      rule_index: 1,
      matched: [1],
      defaulted: false,
      input: { action: "deploy", resource: "shop-api", env: "prod" },
      grant: null,
    });
    assert.deepEqual([to, need, standing, because], ["release-team", 2, false, "prod-deploys says ESCALATE"]);
  });

  it("takes the action from the kind of question where the ask names none", () => {
    const actionOf = (type: Ask["type"], meta = {}) => policyInputOf(ask({ type, meta }), job()).action;
    assert.deepEqual(
      (["CLARIFICATION", "CHOICE", "RESOURCE_FETCH", "POLICY_DECISION", "APPROVAL"] as const).map((type) =>
        actionOf(type),
      ),
      ["clarify", "choose", "read", "unknown", "unknown"],
    );
    assert.equal(actionOf("CLARIFICATION", { action: " Write" }), "write");
    assert.equal(actionOf("CLARIFICATION", { action: "  " }), "clarify");
    assert.equal(actionOf("CLARIFICATION", { action: null }), "clarify");
    assert.equal(actionOf("CLARIFICATION", { action: { not: "a text" } }), NOT_COMPARABLE);
  });

  it("takes env from the job, else the ask, else the envelope, else dev, and notes a claim that is overruled", () => {
    const envelope = { job_snapshot: { env_profile: "staging", repo: "shop" }, role: "default" };
    const read = (one: ReturnType<typeof ask>, of = job()) => {
      const { env, repo, claimed } = policyInputOf(one, of);
      return { env, repo, claimed };
    };
    assert.deepEqual(read(ask()), { env: "dev", repo: null, claimed: {} });
    assert.deepEqual(read(ask({ envelope })), { env: "staging", repo: "shop", claimed: {} });
    assert.deepEqual(read(ask({ envelope, meta: { env: "Prod" } })).env, "prod");
    assert.deepEqual(read(ask({ envelope, meta: { env: "dev" } }), job({ env: "PROD", repo: "billing" })), {
      env: "prod",
      repo: "billing",
      claimed: { env: "dev", repo: "shop" },
    });
    assert.deepEqual(read(ask({ meta: { env: " ｐｒｏｄ" } }), job({ env: "prod" })).claimed, {});
    const { trace } = evaluate(
      parsePolicy(RULES),
      [],
      policyInputOf(ask({ meta: { env: "dev" } }), job({ env: "prod" })),
    );
    assert.deepEqual(trace.claimed, { env: "dev" });
  });

  it("knows asker, job, role, tool and what the asker sent along", () => {
    const one = ask({ roleId: "role.x@v1", meta: { ticket: 7, urgent: true, parts: [1], none: null } });
    const input = policyInputOf(one, job(), { action: "write", tool: "db.write", resource: "invoices" });
    assert.deepEqual(
      [input.action, input.resource, input.tool, input.agent, input.job, input.role, input.ask_type],
      ["write", "invoices", "db.write", "ana-bot", "J-1", "role.x@v1", "APPROVAL"],
    );
    assert.deepEqual(
      [...input.meta],
      [
        ["ticket", "7"],
        ["urgent", "true"],
        ["parts", NOT_COMPARABLE],
      ],
    );
    assert.equal(policyInputOf(ask({ principal: "open:ana-bot" }), job()).agent, "open:ana-bot");
  });

  it("compares action and env without case, width and space, and everything else exactly", () => {
    const rule = (when: string) => `version: 1\nrules: [{ when: ${when}, decision: DENY }]`;
    const holds = (when: string, words: PolicyWords) => decide(rule(when), words).trace.matched.length > 0;
    assert.ok(holds("{ env: Prod, action: WRITE }", { env: " ｐｒｏｄ ", action: "ｗrite" }));
    assert.ok(!holds("{ resource: Docs }", { resource: "docs" }));
    assert.ok(holds('{ resource: "caf\\u00e9" }', { resource: "cafe\u0301" }));
    assert.ok(!holds("{ resource: ab }", { resource: "ａｂ" }));
    assert.ok(holds("{ repo: null }", { action: "x" }));
    assert.ok(!holds("{ repo: '*' }", { action: "x" }));
    assert.ok(!holds("{ repo: null }", { repo: "shop" }));
    assert.ok(holds("{ meta.tier: [2, 3] }", { meta: { tier: "3" } }));
    assert.ok(holds("{ meta.a.b: x }", { meta: { "a.b": "x" } }));
    assert.ok(!holds("{ meta.constructor: '*' }", { meta: {} }));
  });

  it("knows one wildcard, and no other", () => {
    const like = (pattern: string, text: string) => fits(patternOf("resource", pattern), text);
    for (const [pattern, text] of [
      ["*", ""],
      ["docs/*", "docs/"],
      ["docs/*", "docs/a/b"],
      ["*/secret/*", "a/secret/b"],
      ["a*b*c", "a-b-b-c"],
      ["*b*b", "ab-b"],
      ["**", "x"],
      ["a.c", "a.c"],
    ] as const)
      assert.ok(like(pattern, text), `${pattern} ${text}`);
    for (const [pattern, text] of [
      ["docs/*", "Docs/a"],
      ["a*a", "a"],
      ["*b*b", "ab"],
      ["a.c", "abc"],
      ["a?c", "abc"],
      ["[ab]", "a"],
      ["＊", "anything"],
    ] as const)
      assert.ok(!like(pattern, text), `${pattern} ${text}`);
    assert.ok(!fits(patternOf("action", "＊"), "write"), "what normalising makes of another star is no wildcard");
    const long = "a".repeat(60_000);
    assert.ok(!like("*a".repeat(200) + "b", long));
  });

  it("makes an exception only where everything of it holds", () => {
    const text = `version: 1
rules: [{ when: { action: write }, unless: { resource: "docs/*", agent: ana-bot }, decision: DENY }]`;
    const matched = (words: PolicyWords) => decide(text, { action: "write", ...words }).trace.matched.length;
    assert.equal(matched({ resource: "docs/a", agent: "ana-bot" }), 0);
    assert.equal(matched({ resource: "docs/a", agent: "bo-bot" }), 1);
    assert.equal(matched({ resource: "src/a", agent: "ana-bot" }), 1);
  });

  it("ranks DENY, ESCALATE for good, standing ALLOW, ESCALATE, ALLOW and the defaults, in any order of rules", () => {
    const grant: Grant = {
      id: "grant_1",
      action: "write",
      resource: "a",
      env: "dev",
      tool: null,
      repo: null,
      agent: "ana-bot",
    };
    const words = { action: "write", resource: "a", agent: "ana-bot" };
    const ranked = [
      { id: "deny", decision: "DENY" },
      { id: "always-ask", decision: "ESCALATE", standing: false },
      { id: "ask", decision: "ESCALATE" },
      { id: "allow", decision: "ALLOW" },
    ].map((rule) => ({ ...rule, when: { action: "write" } }));
    const winners = [
      { policy: "deny@v1", grant: null, decision: "DENY" },
      { policy: "always-ask@v1", grant: null, decision: "ESCALATE" },
      { policy: "policy.yaml@v1", grant: "grant_1", decision: "ALLOW" },
      { policy: "policy.yaml@v1", grant: "grant_1", decision: "ALLOW" },
    ];
    for (let weakest = 0; weakest <= ranked.length; weakest += 1) {
      for (const rules of permutations(ranked.slice(weakest))) {
        const policy = checkPolicy({ version: 1, rules });
        const { trace, matchedRule } = evaluate(policy, [grant], policyInput(words));
        const { policy: name, grant: by, decision } = trace;
        assert.deepEqual({ policy: name, grant: by, decision }, winners[weakest] ?? winners[3]);
        assert.ok(matchedRule);
        const without = evaluate(policy, [], policyInput(words));
        assert.equal(without.trace.policy, rules.length > 0 ? `${ranked[weakest]?.id}@v1` : "policy.yaml@v1");
        assert.equal(without.matchedRule, rules.length > 0);
      }
    }
  });

  it("asks as many people as any rule of its rank wants, in any order of rules", () => {
    const rule = (id: string, need: number) => ({ id, when: { action: "deploy" }, decision: "ESCALATE", need });
    for (const rules of permutations([rule("one", 1), rule("two", 2), rule("three", 1)])) {
      const { need, trace } = evaluate(checkPolicy({ version: 1, rules }), [], policyInput({ action: "deploy" }));
      assert.deepEqual([need, trace.policy, trace.matched], [2, "two@v1", [0, 1, 2]]);
    }
    const equal = [rule("b", 1), rule("a", 1)];
    const { trace } = evaluate(checkPolicy({ version: 1, rules: equal }), [], policyInput({ action: "deploy" }));
    assert.deepEqual([trace.policy, trace.rule_index], ["b@v1", 0]);
  });

  it("takes a grant for exactly its action, resource, env, tool, repo and agent", () => {
    const grant: Grant = {
      id: "grant_1",
      action: "write",
      resource: "a",
      env: "dev",
      tool: "t",
      repo: "r",
      agent: "ana-bot",
    };
    const words = { action: "write", resource: "a", tool: "t", repo: "r", agent: "ana-bot" };
    const allowed = (more: PolicyWords) => decide(FIRST_POLICY, { ...words, ...more }, [grant]).decision === "ALLOW";
    assert.ok(allowed({}));
    for (const name of ["action", "resource", "env", "tool", "repo", "agent"] as const)
      assert.ok(!allowed({ [name]: "other" }), name);
    assert.ok(!allowed({ tool: null }));
  });

  it("lets nobody allow a call of unknown arguments for good, whatever rule is about it", () => {
    const words = { action: "tool", resource: "s_pay (arguments unknown)", repo: "r", agent: "ana-bot" };
    const own = "version: 1\nrules: [{ id: pays, when: { action: tool }, decision: ESCALATE }]";
    assert.equal(decide(own, words).isGrantable, false);
    assert.equal(decide(own, { ...words, resource: "s_pay" }).isGrantable, true);
    const former: Grant = { id: "grant_1", env: "dev", tool: "t", ...words };
    assert.equal(decide(own, { ...words, tool: "t" }, [former]).decision, "ESCALATE", "one that was given earlier");
  });

  it("has defaults for what no rule speaks of, and a default is no rule", () => {
    for (const action of ["clarify", "choose", "read"]) {
      assert.equal(decide("version: 1", { action }).decision, "ALLOW");
      assert.equal(decide("version: 1\ndefaults: { read: DENY }", { action }).decision, "DENY");
    }
    const other = decide("version: 1\ndefaults: { other: DENY }", { action: "write" });
    assert.deepEqual([other.decision, other.matchedRule, other.countedAs], ["DENY", false, null]);
    assert.equal(decide("version: 1", { action: "write" }).decision, "ESCALATE");
    assert.equal(decide("version: 1", { ask_type: "APPROVAL" }).isGrantable, false, "an ask that names no action");
    assert.equal(decide("version: 1", { ask_type: "APPROVAL", action: "write" }).isGrantable, true);
  });

  it("names rules that can never win, and no others", () => {
    const lint = (rules: readonly unknown[]) =>
      lintPolicy(checkPolicy({ version: 1, rules })).map(({ rule, says }) => [rule, says]);
    const deny = { id: "deny", when: { action: "w*" }, decision: "DENY" };
    assert.deepEqual(lint([{ when: { action: ["write", "wipe"], env: "prod" }, decision: "ALLOW" }, deny]), [
      [0, "rules[0] can never win: wherever it holds, deny says DENY"],
    ]);
    assert.deepEqual(lint([{ when: { action: ["write", "read"] }, decision: "ALLOW" }, deny]), []);
    assert.deepEqual(
      lint([
        { when: { action: "write" }, decision: "ALLOW" },
        { ...deny, unless: { env: "dev" } },
      ]),
      [],
    );
    assert.deepEqual(lint([{ id: "a", when: { env: "prod" }, unless: { env: ["p*"] }, decision: "DENY" }]), [
      [0, "a can never win: its unless takes everything its when is about"],
    ]);
    const calls = { id: "calls", when: { agent: "a", fn: ["ping", "p*"] }, decision: "ALLOW" };
    assert.deepEqual(lint([{ id: "relayed", when: { agent: "a" }, decision: "DENY" }, calls]), []);
    assert.deepEqual(lint([{ id: "none", when: { fn: "*" }, decision: "DENY" }, calls]), [
      [1, "calls can never win: wherever it holds, none says DENY"],
    ]);
    assert.deepEqual(lint([deny, { ...deny, id: "again" }]), [
      [1, "again can never win: wherever it holds, deny says the same of at least as much"],
    ]);
  });

  it("gives a function call the highest risk of the rules that match, whichever decides, and changes no decision", () => {
    const text = `version: 1
rules:
  - { id: pings, when: { fn: "ping*" }, decision: ALLOW, risk: low }
  - { id: loud, when: { fn: ping_all }, decision: ALLOW, risk: high }
  - { id: plain, when: { fn: ping_all, agent: ana-bot }, decision: ESCALATE, risk: normal }
  - { id: silent, when: { fn: "*" }, decision: ESCALATE }`;
    assert.deepEqual(decide(text, { fn: "ping" }).risk, { kind: "low", rule: "pings" });
    assert.deepEqual(decide(text, { fn: "ping_all", agent: "ana-bot" }).risk, { kind: "high", rule: "loud" });
    assert.equal(decide(text, { fn: "pong" }).risk, undefined);
    for (const fn of ["ping", "ping_all", "pong"]) {
      const without = decide(text.replaceAll(/, risk: \w+/g, ""), { fn, agent: "ana-bot" });
      assert.equal(decide(text, { fn, agent: "ana-bot" }).decision, without.decision, fn);
    }
    const idle = lintPolicy(parsePolicy(text.replace('"*" }, decision: ESCALATE', '"*" }, decision: DENY')));
    assert.deepEqual(idle, [], "a rule that never decides still gives a risk");
  });

  it("judges a function call by rules that name the function, and by what was allowed for exactly it", () => {
    const text = `version: 1
defaults: { read: ALLOW, other: DENY }
rules:
  - { id: pings, when: { fn: Ping, agent: ana-bot }, decision: ALLOW }
  - { id: relayed, when: { agent: ana-bot }, decision: DENY }
  - { when: { action: ping }, decision: DENY }`;
    const call = { fn: "Ping", agent: "ana-bot", digest: "sha256:aa" };
    const { trace, countedAs } = decide(text, call);
    assert.deepEqual([trace.policy, trace.matched, trace.input], ["pings@v1", [0], { fn: "Ping", agent: "ana-bot" }]);
    assert.deepEqual(countedAs, { rule: "pings" });
    assert.equal(decide(text, { action: "Ping", agent: "ana-bot" }).trace.policy, "relayed@v1");

    const other = { ...call, fn: "ping" };
    const open = decide(text, other);
    assert.deepEqual([open.decision, open.trace.defaulted, open.isGrantable, open.need], ["ESCALATE", true, true, 1]);
    const what = policyClassOf(policyInput(other));
    assert.ok(what);
    const { action, resource, env, agent, digest } = what;
    const grant: Grant = { ...what, id: "grant_1" };
    assert.deepEqual(decide(text, other, [grant]).countedAs, { grant: "grant_1" });
    for (const more of [{ digest: "sha256:ab" }, { digest: undefined }, { agent: "bo-bot" }, { fn: "pong" }])
      assert.equal(decide(text, { ...other, ...more }, [grant]).decision, "ESCALATE");
    // An action of an executor is not a function call, whatever its name.
    const said = { action, resource, env, agent };
    assert.equal(decide("version: 1", { ...said, meta: { fn: "ping", digest } }, [grant]).decision, "ESCALATE");
    const { digest: _, ...relayed } = grant;
    assert.equal(decide("version: 1", said, [relayed]).decision, "ALLOW");
    assert.equal(decide("version: 1", other, [relayed]).decision, "ESCALATE");
  });

  it("decides 20,000 random cases as a second implementation does, and the same in another order of rules", () => {
    for (let seed = 1; seed <= 20_000 / ASKS_PER_POLICY; seed += 1) {
      assert.equal(differenceOf(seed)?.says, undefined, `npm run prove -- policy --seed ${seed}`);
    }
  });
});

function permutations<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((one, i) => permutations(list.toSpliced(i, 1)).map((rest) => [one, ...rest]));
}
