import { policyInputOf } from "../../src/asks/model/policy-input.ts";
import { withPreset } from "../../src/policy/model/policy.ts";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PermissionAction } from "../../src/tasks/model/action.ts";
import { actionFacts, commandClass } from "../../src/tasks/model/action-facts.ts";
import { evaluate, type PolicyInput, type PolicyDecision } from "../../src/policy/model/policy.ts";
import { explainDecision } from "../../src/policy/model/explain.ts";
import { FIRST_POLICY, parsePolicy } from "../../src/policy/model/text.ts";
import { shippedPolicy } from "../../src/policy/shipped.ts";
import { diceOf, type Dice } from "../proof/sim-dice.ts";

const PRESET = shippedPolicy();
const USUAL = parsePolicy(FIRST_POLICY);
const ALLOWED = [
  ["npm", "test"],
  ["make", "all tests"],
];

interface AgentCall {
  action: PermissionAction;
  resource: string;
  sandbox?: "bubblewrap" | "none";
  leadsOutside?: boolean;
}

/**
 * Returns the policy input for a request of the agent `claude` in the repository `shop`, exactly as an attempt's ask
 * has it.
 */
function inputOf({ sandbox = "none", ...input }: AgentCall): PolicyInput {
  const facts = actionFacts(input, { sandbox, allowCommands: ALLOWED });
  const meta = { agent: "claude", tool: "T", action: input.action, resource: input.resource, ...facts };
  const ask = { type: "APPROVAL", roleId: null, meta, envelope: null, principal: "agent:shop-works" } as const;
  return policyInputOf(ask, { id: "J-1", kind: "aa/shop", env: null, repo: null });
}

function judged(wish: AgentCall, policy = USUAL): PolicyDecision {
  const input = inputOf(wish);
  return withPreset(evaluate(policy, [], input), PRESET, input);
}

const TABLE: readonly [AgentCall, string, string | null][] = [
  [{ action: "read", resource: "src/a.ts" }, "ALLOW", "in-tree"],
  [{ action: "read", resource: "." }, "ALLOW", "in-tree"],
  [{ action: "read", resource: "/etc/passwd" }, "ESCALATE", null],
  [{ action: "read", resource: "~/.ssh/id_rsa" }, "ESCALATE", null],
  [{ action: "read", resource: "docs/link", leadsOutside: true }, "ESCALATE", null],
  [{ action: "write", resource: "src/a.ts" }, "ALLOW", "in-tree"],
  [{ action: "write", resource: "/etc/passwd" }, "DENY", "write-outside"],
  [{ action: "write", resource: "/etc/passwd", sandbox: "bubblewrap" }, "DENY", "write-outside"],
  [{ action: "read", resource: ".git/config" }, "ALLOW", "in-tree"],
  [{ action: "write", resource: ".git/hooks/pre-commit" }, "DENY", "write-outside"],
  [{ action: "write", resource: "sub/.GIT/config" }, "DENY", "write-outside"],
  [{ action: "write", resource: ".github/workflows/ci.yaml" }, "ALLOW", "in-tree"],
  [{ action: "write", resource: "docs/link", leadsOutside: true }, "DENY", "write-outside"],
  [{ action: "reconfigure", resource: ".claude/settings.json" }, "ESCALATE", null],
  [{ action: "reconfigure", resource: ".claude/settings.json", sandbox: "bubblewrap" }, "ESCALATE", null],
  [{ action: "reconfigure", resource: "/home/ana/.claude/settings.json" }, "DENY", "write-outside"],
  [{ action: "tool", resource: "s_pay (arguments unknown)" }, "ESCALATE", "arguments-unknown"],
  [{ action: "network", resource: "example.com" }, "ESCALATE", null],
  [{ action: "network", resource: "example.com", sandbox: "bubblewrap" }, "ESCALATE", null],
  [{ action: "tool", resource: "mcp:linear" }, "ESCALATE", null],
  [{ action: "execute", resource: "rm -rf /", sandbox: "bubblewrap" }, "ALLOW", "in-sandbox"],
  [{ action: "execute", resource: "npm test" }, "ALLOW", "allowed-command"],
  [{ action: "execute", resource: "  npm\ttest " }, "ALLOW", "allowed-command"],
  [{ action: "execute", resource: "make 'all tests'" }, "ALLOW", "allowed-command"],
  [{ action: "execute", resource: "make all tests" }, "ESCALATE", null],
  [{ action: "execute", resource: "npm test -- --watch" }, "ESCALATE", null],
  [{ action: "execute", resource: "npm" }, "ESCALATE", null],
  [{ action: "execute", resource: "FOO=1 npm test" }, "ESCALATE", null],
  [{ action: "execute", resource: "ls -la" }, "ALLOW", "plainly-reads"],
  [{ action: "execute", resource: "pwd" }, "ALLOW", "plainly-reads"],
  [{ action: "execute", resource: "ls /home/ana" }, "ESCALATE", null],
  [{ action: "execute", resource: "git status" }, "ESCALATE", null],
  [{ action: "execute", resource: "cat README.md" }, "ESCALATE", null],
  [{ action: "execute", resource: "" }, "ESCALATE", null],
];

describe("what agents may do where the operator's policy says nothing", () => {
  for (const [wish, decision, rule] of TABLE) {
    it(`is ${decision}: ${JSON.stringify(wish)}`, () => {
      const policyDecision = judged(wish);
      assert.equal(policyDecision.decision, decision);
      assert.equal(
        policyDecision.trace.policy,
        `${rule === null ? "policy.assignment.yaml" : `assignment.${rule}`}@v1`,
      );
      // Only what a rule allows approves anything.
      assert.equal(policyDecision.matchedRule, rule !== null);
    });
  }

  it("knows a command by its whole list of arguments, and no line that does anything else", () => {
    for (const line of ["npm test", "npm test;", "npm 'test'", "  npm   te\\st", "(npm test)"])
      assert.equal(commandClass(line, ALLOWED), "allowed", line);
    for (const line of [
      "npm test; rm x",
      "npm test && rm x",
      "npm test & rm x",
      "rm x || npm test",
      "npm test > x",
      "npm test < x",
      "npm test $X",
      "npm test `x`",
      "npm test | sh",
      "npm test $(x)",
      "npm test\nrm x",
      "npm test\r",
      "npm test x",
      "npm test 2>&1",
      "FOO=1 npm test",
      "eval npm test",
      "npm 'test",
      'npm "test',
      "npm\u00a0test",
      "NPM test",
      "./npm test",
      "npm te*t",
    ])
      assert.equal(commandClass(line, ALLOWED), "other", line);
    assert.equal(commandClass("npm test '>'", [["npm", "test", ">"]]), "allowed");
  });

  it("sees the repository, the agent, its tool and the env `agent`, whatever else the ask says", () => {
    const { env, repo, agent, tool, action, resource } = inputOf({ action: "execute", resource: "npm test" });
    assert.deepEqual(
      { env, repo, agent, tool, action, resource },
      { env: "agent", repo: "shop", agent: "claude", tool: "T", action: "execute", resource: "npm test" },
    );
  });

  it("is allowed for good by nobody where the arguments of a tool are unknown", () => {
    const resources = ["s_pay", "s_pay (arguments unknown)", "ns/s.pay (arguments unknown)"];
    const grantable = resources.map((resource) => judged({ action: "tool", resource }).isGrantable);
    assert.deepEqual(grantable, [true, false, false]);
  });

  it("is explained with what the operator's own policy says", () => {
    const input = inputOf({ action: "write", resource: "src/a.ts" });
    const words = explainDecision(USUAL, input, evaluate(USUAL, [], input), PRESET);
    assert.equal(
      words.at(-1),
      "For a permission that a coding agent wants, policy.assignment.yaml counts. ALLOW: It stays in the folder of the task.",
    );
    const denying = parsePolicy("version: 1\ndefaults: { other: DENY }\n");
    const said = explainDecision(denying, input, evaluate(denying, [], input), PRESET).join("\n");
    assert.doesNotMatch(said, /policy\.assignment/);
  });

  it("never approves what the operator denies or puts to people, whatever they write and agents want", () => {
    let presets = 0;
    for (let seed = 1; seed <= 400; seed += 1) {
      const dice = diceOf(seed);
      const raw = rawPolicyOf(dice);
      const policy = parsePolicy(JSON.stringify(raw));
      for (let i = 0; i < 25; i += 1) {
        const wish = randomCall(dice);
        const input = inputOf(wish);
        const own = evaluate(policy, [], input);
        const said = withPreset(own, PRESET, input);
        const put = `${JSON.stringify(raw)} ${JSON.stringify(wish)}`;
        if (own.matchedRule || own.decision === "DENY") assert.equal(said, own, put);
        else {
          presets += 1;
          assert.equal(said.decision, secondOpinion(wish), put);
        }
      }
    }
    assert.ok(presets > 1000, `the preset spoke ${presets} times`);
  });
});

const ACTIONS: readonly PermissionAction[] = ["read", "write", "execute", "network", "tool", "reconfigure"];
const RESOURCES = [
  "src/a.ts",
  ".",
  "/etc/passwd",
  "~/x",
  "npm test",
  "npm test; ls",
  "ls",
  "ls -la",
  "ls -R",
  "make 'all tests'",
];

function randomCall(dice: Dice): Required<AgentCall> {
  return {
    action: dice.pick(ACTIONS),
    resource: dice.pick(RESOURCES),
    sandbox: dice.pick(["bubblewrap", "none"]),
    leadsOutside: dice.chance(0.2),
  };
}

function rawPolicyOf(dice: Dice): object {
  const rule = () => ({
    when: dice.chance(0.5)
      ? { action: dice.pick(ACTIONS) }
      : { env: "agent", resource: dice.pick([...RESOURCES, "*", "npm *"]) },
    ...(dice.chance(0.3) && { unless: { "meta.sandbox": dice.pick(["bubblewrap", "none"]) } }),
    decision: dice.pick(["ALLOW", "DENY", "ESCALATE"]),
  });
  return {
    version: 1,
    defaults: { read: dice.pick(["ALLOW", "ESCALATE", "DENY"]), other: dice.pick(["ESCALATE", "ESCALATE", "DENY"]) },
    rules: dice.chance(0.5) ? [rule()] : [rule(), rule(), rule()],
  };
}

/** Returns the decision by spec/assignment 5 and 8, in the plainest way. */
function secondOpinion({ action, resource, sandbox, leadsOutside }: Required<AgentCall>): string {
  const isInside = !resource.startsWith("/") && !resource.startsWith("~") && !leadsOutside;
  if (action === "read") return isInside ? "ALLOW" : "ESCALATE";
  if (action === "write") return isInside ? "ALLOW" : "DENY";
  if (action === "reconfigure") return isInside ? "ESCALATE" : "DENY";
  if (action !== "execute") return "ESCALATE";
  const isKnown = ["npm test", "make 'all tests'", "ls", "ls -la"].includes(resource);
  return sandbox === "bubblewrap" || isKnown ? "ALLOW" : "ESCALATE";
}
