import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { unreadPatterns } from "../../src/policy/model/alike.ts";
import { evaluate, holds, type Policy, policyInput, type PolicyInput } from "../../src/policy/model/policy.ts";
import { readPattern } from "../../src/policy/model/pattern.ts";
import { SeenValues } from "../../src/policy/model/seen-values.ts";
import { suggestRules } from "../../src/policy/model/suggest.ts";
import { freshId, suggestedLines } from "../../src/policy/model/suggested-text.ts";
import { FIRST_POLICY, loadPolicy } from "../../src/policy/model/text.ts";
import { riskOf } from "../../src/requests/model/risk.ts";
import { composedLines, dangerousCalls } from "../support/dangerous-calls.ts";
import { workingWeek, type WeekCall } from "../support/working-week.ts";

/** The first policy, with its rules for coding agents in force. */
const STARTER = (() => {
  const at = FIRST_POLICY.indexOf("  # - id: agents-look");
  return FIRST_POLICY.slice(0, at) + FIRST_POLICY.slice(at).replaceAll(/^ {2}# /gm, "  ");
})();
const WEEK = workingWeek({ seed: 7, perDay: 200 });
const DANGEROUS = dangerousCalls();
const LEAST = 3;

const inputOf = ({ agent, fn, args }: Pick<WeekCall, "agent" | "fn"> & { args: string | object }): PolicyInput =>
  policyInput({ agent, fn, args: () => (typeof args === "string" ? args : JSON.stringify(args)) });
const isAsked = (policy: Policy) => (call: WeekCall) => evaluate(policy, [], inputOf(call)).decision !== "ALLOW";

function isHigh({ fn, args }: WeekCall): boolean {
  const form = { kind: "approval", fn, kwargs: JSON.stringify(args), rejectOptions: [], editable: true } as const;
  return riskOf({ form, audience: { kind: "leaf", target: { via: "inbox" } }, wire: {} }) === "high";
}

/** Returns the starter's rules with those that are proposed after people approved these calls. */
async function learned(calls: readonly WeekCall[]): Promise<Policy> {
  const past = calls.map((call) => ({ input: inputOf(call), kind: isHigh(call) ? "apart" : "approved" }) as const);
  const ids = new Set<string>();
  const rules = (await suggestRules(past, LEAST)).map(({ when, approved }) => {
    const id = freshId(when, ids);
    ids.add(id);
    return { id, when, approved: approved.length, examples: ["a call"], notCovered: [] };
  });
  return loadPolicy(`${STARTER}${suggestedLines(rules).join("\n")}\n`);
}

describe("a week of work by the starter's rules, and by those that are proposed after its first day", () => {
  const prompts = async () => {
    const starter = await loadPolicy(STARTER);
    const first = WEEK.filter(({ day }) => day === 1).filter(isAsked(starter));
    const policy = await learned(first);
    const later = WEEK.filter(({ day }) => day > 1).filter(isAsked(policy));
    return { starter, policy, first, later };
  };

  it("is the same each time, and has every agent", () => {
    assert.deepEqual(workingWeek({ seed: 7, perDay: 200 }), WEEK);
    assert.equal(WEEK.length, 1000);
    assert.equal(new Set(WEEK.map(({ agent }) => agent)).size, 9);
  });

  it("reaches people with a fifth of the later calls, and of all where rules are proposed each evening", async (t) => {
    const { starter, first, later } = await prompts();
    const byStarter = WEEK.filter(isAsked(starter)).length;
    const asked = first.length + later.length;
    const approved: WeekCall[] = [];
    let policy = starter;
    for (const day of [1, 2, 3, 4, 5]) {
      approved.push(...WEEK.filter((call) => call.day === day).filter(isAsked(policy)));
      policy = await learned(approved);
    }
    const byFirst = `${asked} with rules of the first day, ${later.length} of them later`;
    const figures = `${byStarter} by the starter, ${byFirst}, ${approved.length} with rules of each day`;
    t.diagnostic(`prompts of ${WEEK.length} calls: ${figures}`);
    assert.ok(asked <= WEEK.length * 0.23, figures);
    assert.ok(later.length <= WEEK.filter(({ day }) => day > 1).length / 5, figures);
    assert.ok(approved.length <= WEEK.length / 5, figures);
  });

  it("allows no dangerous variant of its calls, by any agent", async () => {
    const { policy } = await prompts();
    assert.ok(new Set(DANGEROUS.map(({ fn, args }) => fn + args)).size >= 300);
    const agents = [...new Set(WEEK.map(({ agent }) => agent))];
    const allowed = DANGEROUS.filter(({ fn, args }) =>
      agents.some((agent) => evaluate(policy, [], inputOf({ agent, fn, args })).decision === "ALLOW"),
    );
    assert.deepEqual(allowed, []);
  });

  it("allows none by the rules that its ordinary neighbour alone would have got", () => {
    for (const { kind, fn, args, neighbours } of DANGEROUS) {
      const calls = neighbours.map((one) => inputOf({ agent: "claude-code", fn, args: one }));
      const input = inputOf({ agent: "claude-code", fn, args });
      const seen = new SeenValues(calls);
      const patterns = calls.flatMap((call) => unreadPatterns(call, seen, "alike"));
      assert.ok(patterns.length > 0, `${neighbours[0]} has no pattern`);
      for (const when of patterns) {
        assert.equal(holds(readPattern({ when }).rule, input), false, `${kind}: ${args} by ${JSON.stringify(when)}`);
      }
    }
  });

  it("gives no command the output of one that people approved elsewhere", async () => {
    for (const { approved, args } of composedLines()) {
      const calls = approved.flatMap((one) => Array<string>(LEAST).fill(one));
      const week = calls.map((one) => ({ day: 1, agent: "claude-code", fn: "Bash", args: JSON.parse(one) as object }));
      const policy = await learned(week as WeekCall[]);
      const own = approved.map((one) => evaluate(policy, [], inputOf({ agent: "claude-code", fn: "Bash", args: one })));
      const input = inputOf({ agent: "claude-code", fn: "Bash", args });
      assert.ok(
        own.some(({ decision }) => decision === "ALLOW"),
        approved.join(),
      );
      assert.equal(evaluate(policy, [], input).decision, "ESCALATE", args);
    }
  });
});
