import type { Context } from "../../context.ts";
import { evaluate, type Policy } from "../../policy/model/policy.ts";
import { type PastCall, type SuggestedRule, suggestRules } from "../../policy/model/suggest.ts";
import { freshId, type PrintedRule } from "../../policy/model/suggested-text.ts";
import { yieldEvery, yieldToEventLoop } from "../../lib/event-loop.ts";
import { policyInputOfCall } from "../model/policy-call.ts";
import { riskOf } from "../model/risk.ts";
import { sentenceOf } from "../model/sentence.ts";
import {
  newestWithin,
  type RecordedCall,
  recordedCalls,
  type RecordedSpan,
  saidByPeople,
} from "./recorded-decision.ts";

/** The rules that the decisions of people speak for. */
export interface SuggestedPolicy {
  /** The calls that were looked at, and of these the ones that people approved and no rule decides. */
  calls: number;
  approved: number;
  /** Whether older calls were left out. */
  more: boolean;
  /** The rule that covers most approved calls first. */
  rules: readonly PrintedRule[];
}

interface RecordedPast extends PastCall {
  request: RecordedCall;
}

const MOST_EXAMPLES = 3;
/** Calls are in memory together: of more arguments the newest are looked at. */
const MOST_CHARACTERS = 64_000_000;
const CALLS_AT_ONCE = 50;

/**
 * Returns rules that would allow what people approved at least `least` times of the calls in a span, and nothing that
 * they refused or approved only after an edit, nothing that looks high, and nothing that a rule of the policy decides.
 * Nothing is stored, and others are served meanwhile.
 */
export async function suggestPolicy(
  ctx: Pick<Context, "db">,
  policy: Policy,
  { least, ...span }: RecordedSpan & { least: number },
): Promise<SuggestedPolicy> {
  const within = await newestWithin(ctx, span);
  let { more } = within;
  let characters = 0;
  const past: RecordedPast[] = [];
  for await (const request of recordedCalls(ctx, { ...span, sinceMs: within.sinceMs })) {
    past.push(pastOf(policy, request));
    // All rules take some milliseconds on one call.
    await yieldToEventLoop();
    characters += request.form.kwargs.length;
    while (characters > MOST_CHARACTERS) {
      characters -= past.shift()?.request.form.kwargs.length ?? 0;
      more = true;
    }
  }
  const rules = await suggestRules(past, least);
  const ids = new Set(policy.rules.flatMap(({ id }) => id ?? []));
  const printed: PrintedRule[] = [];
  for (const { when, approved, notCovered } of rules.toSorted(byApproved)) {
    const id = freshId(when, ids);
    ids.add(id);
    const [examples, others] = [await sentencesOf(approved), await sentencesOf(notCovered)];
    printed.push({ id, when, approved: approved.length, examples, notCovered: others });
  }
  const approved = past.filter(({ kind }) => kind === "approved").length;
  return { calls: past.length, approved, more, rules: printed };
}

function byApproved(one: SuggestedRule<RecordedPast>, other: SuggestedRule<RecordedPast>): number {
  return other.approved.length - one.approved.length;
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

async function sentencesOf(calls: readonly RecordedPast[]): Promise<string[]> {
  const sentences = new Set<string>();
  const read = yieldEvery(CALLS_AT_ONCE);
  for (const { request } of calls) {
    sentences.add(sentenceOf(request));
    if (sentences.size === MOST_EXAMPLES) break;
    await read();
  }
  return [...sentences];
}
