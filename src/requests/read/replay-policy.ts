import type { Context } from "../../context.ts";
import { evaluate, nameOf, type Policy, type PolicyEffect } from "../../policy/model/policy.ts";
import { policyInputOfCall } from "../model/policy-call.ts";
import { type RecordedCall, recordedCalls, type RecordedSpan, saidByPeople } from "./recorded-decision.ts";

/** A recorded call that a policy would decide otherwise than people did. */
export interface Contradiction {
  id: string;
  asker: string;
  fn: string;
  title: string;
  /** Epoch ms. */
  createdAt: number;
  approvedByPeople: boolean;
  /** The decision of the policy, and the rule that makes it. */
  decision: Exclude<PolicyEffect, "ESCALATE">;
  rule: string;
}

/** The decisions of a policy on recorded calls. */
export interface PolicyReplay {
  calls: number;
  decisions: Readonly<Record<PolicyEffect, number>>;
  /** How many calls each rule matches, the first rule of the file first. */
  matched: readonly MatchedCalls[];
  /** The newest calls that people decided the other way, at most 1,000. */
  contradictions: readonly Contradiction[];
}

interface MatchedCalls {
  rule: string;
  calls: number;
  /** How many of them a rule in mode `observe` would change if it decided; absent for a rule that decides. */
  changed?: number;
}

const MOST_CONTRADICTIONS = 1000;

/**
 * Returns how a policy would decide the calls that were recorded within `sinceMs`. Permanent permissions and the policies
 * of other servers do not count, and nothing is stored.
 */
export async function replayPolicy(
  ctx: Pick<Context, "db">,
  policy: Policy,
  span: RecordedSpan,
): Promise<PolicyReplay> {
  const decisions = { ALLOW: 0, DENY: 0, ESCALATE: 0 };
  const matched = policy.rules.map((rule): MatchedCalls => {
    return { rule: nameOf(rule), calls: 0, ...(rule.isObserved && { changed: 0 }) };
  });
  const contradictions: Contradiction[] = [];
  let calls = 0;
  for await (const request of recordedCalls(ctx, span)) {
    const input = policyInputOfCall(request);
    const { decision, rules, trace, observed } = evaluate(policy, [], input);
    calls += 1;
    decisions[decision] += 1;
    for (const index of trace.matched) {
      const rule = matched[index];
      if (rule) rule.calls += 1;
    }
    for (const { index } of observed?.rules ?? []) {
      const rule = matched[index];
      if (!rule) continue;
      rule.calls += 1;
      if (evaluate(enforcing(policy, index), [], input).decision !== decision) rule.changed = (rule.changed ?? 0) + 1;
    }
    const said = saidByPeople(request);
    if (said === null || decision === "ESCALATE" || said === (decision === "ALLOW")) continue;
    contradictions.push({ ...lineOf(request), approvedByPeople: said, decision, rule: rules[0] ?? policy.name });
    if (contradictions.length > MOST_CONTRADICTIONS) contradictions.shift();
  }
  return { calls, decisions, matched, contradictions: contradictions.toReversed() };
}

/** Returns the policy in which one rule in mode `observe` decides. */
function enforcing(policy: Policy, index: number): Policy {
  return {
    ...policy,
    rules: policy.rules.map((rule) => (rule.index === index ? { ...rule, isObserved: false } : rule)),
  };
}

function lineOf({
  id,
  asker,
  form,
  title,
  createdAt,
}: RecordedCall): Pick<Contradiction, "id" | "asker" | "fn" | "title" | "createdAt"> {
  return { id, asker, fn: form.fn, title, createdAt };
}
