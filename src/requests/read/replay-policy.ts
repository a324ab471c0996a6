import type { Context } from "../../context.ts";
import {
  evaluate,
  nameOf,
  type Policy,
  type PolicyDecision,
  type PolicyEffect,
  type PolicyInput,
} from "../../policy/model/policy.ts";
import { withoutRule } from "../../policy/judge.ts";
import { spent, type UsedAllowance } from "../../policy/model/allowance.ts";
import { policyInputOfCall } from "../model/policy-call.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import {
  newestWithin,
  type RecordedCall,
  recordedCalls,
  type RecordedSpan,
  saidByPeople,
} from "./recorded-decision.ts";

/** A recorded call, and the decision of a policy on it. */
export interface ReplayedCall {
  id: string;
  asker: string;
  fn: string;
  title: string;
  /** Epoch ms. */
  createdAt: number;
  decision: PolicyEffect;
  /** The rule that decides; the name of the policy where none does. */
  rule: string;
}

/** A recorded call that a policy would decide otherwise than people did. */
export interface Contradiction extends ReplayedCall {
  approvedByPeople: boolean;
}

/** The decisions of a policy on recorded calls. */
export interface PolicyReplay {
  calls: number;
  decisions: Readonly<Record<PolicyEffect, number>>;
  /** How many calls each rule matches, the first rule of the file first. */
  matched: readonly MatchedCalls[];
  /** The newest calls that people decided the other way, at most 1,000. */
  contradictions: readonly Contradiction[];
  /** Whether older calls were left out. */
  more: boolean;
  /** The newest calls of all, at most 100. */
  newest: readonly ReplayedCall[];
}

interface MatchedCalls {
  rule: string;
  calls: number;
  /** How many of them a rule in mode `observe` would change if it decided; absent for a rule that decides. */
  changed?: number;
}

const MOST_CONTRADICTIONS = 1000;
const MOST_NEWEST = 100;
/** The stronger decision wins. */
const RANKS: Readonly<Record<PolicyEffect, number>> = { ALLOW: 0, ESCALATE: 1, DENY: 2 };

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
  const used: Used = new Map();
  const contradictions: Contradiction[] = [];
  const newest: ReplayedCall[] = [];
  let calls = 0;
  const { sinceMs, more } = await newestWithin(ctx, span);
  for await (const request of recordedCalls(ctx, { ...span, sinceMs })) {
    const input = policyInputOfCall(request);
    const { decision, trace, observed } = await judgeAt(policy, input, { used, atMs: request.createdAt });
    calls += 1;
    decisions[decision] += 1;
    for (const [index, rule] of matched.entries()) {
      const seen = observed?.rules.find((one) => one.index === index);
      if (seen || trace.matched.includes(index)) rule.calls += 1;
      if (seen && (trace.defaulted ? seen.decision !== decision : RANKS[seen.decision] > RANKS[decision]))
        rule.changed = (rule.changed ?? 0) + 1;
    }
    const line = { ...lineOf(request), decision, rule: matched[trace.rule_index ?? -1]?.rule ?? policy.name };
    newest.push(line);
    if (newest.length > MOST_NEWEST) newest.shift();
    const said = saidByPeople(request);
    if (said === null || decision === "ESCALATE" || said === (decision === "ALLOW")) continue;
    contradictions.push({ ...line, approvedByPeople: said });
    if (contradictions.length > MOST_CONTRADICTIONS) contradictions.shift();
  }
  return {
    calls,
    decisions,
    matched,
    contradictions: contradictions.toReversed(),
    newest: newest.toReversed(),
    more,
  };
}

type Used = Map<string, UsedAllowance>;

/** Judges a call, the oldest first: a rule whose allowance is used up by the calls before does not count. */
async function judgeAt(
  policy: Policy,
  input: PolicyInput,
  { used, atMs }: { used: Used; atMs: number },
): Promise<PolicyDecision> {
  for (let left = policy; ;) {
    const judged = evaluate(left, [], input);
    // All rules take some milliseconds on one call.
    await yieldToEventLoop();
    const by = judged.countedAs;
    if (!by || !("rule" in by) || !by.spending) return judged;
    const name = JSON.stringify([by.rule, by.spending.subject]);
    const after = spent(used.get(name), by.spending, atMs);
    if (after) {
      used.set(name, after);
      return judged;
    }
    left = withoutRule(left, judged.trace.rule_index);
  }
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
