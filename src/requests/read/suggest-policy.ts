import type { Context } from "../../context.ts";
import { evaluate, type Policy } from "../../policy/model/policy.ts";
import { type PastCall, suggestRules } from "../../policy/model/suggest.ts";
import { freshId, type PrintedRule } from "../../policy/model/suggested-text.ts";
import { policyInputOfCall } from "../model/policy-call.ts";
import { riskOf } from "../model/risk.ts";
import { sentenceOf } from "../model/sentence.ts";
import { type RecordedCall, recordedCalls, type RecordedSpan, saidByPeople } from "./recorded-decision.ts";

/** The rules that the decisions of people speak for. */
export interface SuggestedPolicy {
  /** The calls that were looked at, and of these the ones that people approved and no rule decides. */
  calls: number;
  approved: number;
  /** The rule that covers most approved calls first. */
  rules: readonly PrintedRule[];
}

interface RecordedPast extends PastCall {
  request: RecordedCall;
}

const MOST_EXAMPLES = 3;

/**
 * Returns rules that would allow what people approved at least `least` times of the calls in a span, and nothing that
 * they refused or approved only after an edit, nothing that looks high, and nothing that a rule of the policy decides.
 * Nothing is stored.
 */
export async function suggestPolicy(
  ctx: Pick<Context, "db">,
  policy: Policy,
  { least, ...span }: RecordedSpan & { least: number },
): Promise<SuggestedPolicy> {
  const past: RecordedPast[] = [];
  for await (const request of recordedCalls(ctx, span)) past.push(pastOf(policy, request));
  const rules = suggestRules(past, least).toSorted((one, other) => other.approved.length - one.approved.length);
  const ids = new Set(policy.rules.flatMap(({ id }) => id ?? []));
  const printed = rules.map(({ when, approved, notCovered }): PrintedRule => {
    const id = freshId(when, ids);
    ids.add(id);
    return {
      id,
      when,
      approved: approved.length,
      examples: sentencesOf(approved),
      notCovered: sentencesOf(notCovered),
    };
  });
  const approved = past.filter(({ kind }) => kind === "approved").length;
  return { calls: past.length, approved, rules: printed };
}

function pastOf(policy: Policy, request: RecordedCall): RecordedPast {
  const input = policyInputOfCall(request);
  const said = saidByPeople(request);
  const isRefused = said === false || request.outcome?.edited === true;
  const isDecided = evaluate(policy, [], input).trace.matched.length > 0;
  const kind = isRefused
    ? "apart"
    : isDecided
      ? "open"
      : riskOf(request) === "high"
        ? "apart"
        : said
          ? "approved"
          : "open";
  return { input, kind, request };
}

function sentencesOf(calls: readonly RecordedPast[]): string[] {
  const sentences = new Set<string>();
  for (const { request } of calls) if (sentences.size < MOST_EXAMPLES) sentences.add(sentenceOf(request));
  return [...sentences];
}
