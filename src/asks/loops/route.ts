import { errorText, type Ask, type ErrorCode, type Stage } from "../model/ask.ts";
import { isDecision, timeoutText } from "../model/people.ts";
import { isForNamed, isForPublic } from "../model/public.ts";
import type { RelayRules } from "../model/rules.ts";
import type { PolicyDecision } from "../../policy/model/policy.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import type { ResponderAnswer, ResponderPass } from "../../responders/responder.ts";
import type { CachedDecision } from "../respond/stages.ts";
import type { NewAskAnswer } from "../end/settle.ts";

/**
 * The route of an executor's ask (spec/relay 7): policy, then the decision cache, then the runner, then the public or
 * people. Each function returns the next step after one of them. All are pure.
 */
export type Step =
  | { to: "cache" | "runner" | "public" }
  /** `remarks` stand beside the ask where people read it. */
  | { to: "people"; remarks: readonly string[] }
  | End;

/** The ask ends at this stage with this answer. */
export interface End {
  to: "end";
  stage: Stage;
  answer: NewAskAnswer;
}

/** The settings of an operator that the route depends on. */
export type RouteRules = Pick<RelayRules, "people" | "policyAdvice" | "askBack" | "maxAskBackRounds">;

/** A runner that was started so often for one ask is not asked again. */
export const MOST_TRIES = 5;

/** Returns the end of an ask that has a fault, though it was accepted, so that the history shows it. */
export function afterFault({ code, text }: { code: ErrorCode; text: string }): End {
  return { to: "end", stage: "intake", answer: failed(code, text) };
}

/** Returns the step after policy. A decision is never cached, and a machine may only give an opinion on it. */
export function afterPolicy(ask: Ask, judged: PolicyDecision, rules: RouteRules): Step {
  const ruled = byPolicy(ask, judged);
  if (ruled) return { to: "end", stage: "policy", answer: { ...ruled, policyTrace: judged.trace } };
  if (ask.type === "POLICY_DECISION" && rules.policyAdvice && rules.people !== null) return { to: "runner" };
  if (isDecision(ask) || judged.decision === "ESCALATE") return { to: "people", remarks: [] };
  return { to: "cache" };
}

/** Returns the answer that policy alone gives to an ask; null where the ask goes on (spec/relay 7). */
function byPolicy(ask: Ask, judged: PolicyDecision): NewAskAnswer | null {
  const base = {
    cacheable: false,
    truncated: false,
    source: "policy",
    principal: judged.trace.policy,
  } as const;
  if (judged.decision === "DENY") {
    const error = { errorCode: "E_POLICY_DENY", error: errorText("E_POLICY_DENY", judged.because) } as const;
    return { ...base, ...error, status: "REJECTED" };
  }
  if (judged.decision === "ESCALATE") return null;
  if (ask.type === "POLICY_DECISION") {
    return { ...base, status: "ANSWERED", json: { decision: "ALLOW", rules: judged.rules } };
  }
  // Policy approves only by a rule that matched.
  if (ask.type !== "APPROVAL" || !judged.matchedRule) return null;
  return { ...base, status: "ANSWERED", json: { approved: true, by: "policy" } };
}

/** Returns the step after the cache was looked into. */
export function afterCache(found: CachedDecision | undefined, policyTrace: PolicyTrace): Step {
  if (!found) return { to: "runner" };
  const { text, json, attestation, answeredBy } = found;
  const answer: NewAskAnswer = {
    status: "ANSWERED",
    cacheable: true,
    truncated: false,
    source: "cache",
    principal: "",
    policyTrace,
    ...(text !== null && { text }),
    ...(json !== undefined && { json }),
    ...(attestation && { attestation }),
    ...(answeredBy !== null && { answeredBy }),
  };
  return { to: "end", stage: "cache", answer };
}

/** Returns why the runner is not asked; null where it is. */
export function skippedBecause(
  ask: Ask,
  { hasModel, tries, leftMs }: { hasModel: boolean; tries: number; leftMs: number },
): string | null {
  if (!hasModel) return "there is no model";
  if (isForPublic(ask)) return "it is for the public";
  if (tries >= MOST_TRIES) return "it failed too often";
  return leftMs <= 0 ? "no time is left" : null;
}

/** Returns the step after the runner. `rounds` counts the questions and answers before this follow-up. */
export function afterRunner(
  ask: Ask,
  made: ResponderAnswer | ResponderPass,
  { rules, rounds, policyTrace }: { rules: RouteRules; rounds: number; policyTrace: PolicyTrace },
): Step {
  // People decide, whatever the machine returned.
  if (isDecision(ask)) return { to: "people", remarks: opinionRemarks(made) };
  if (made.kind === "pass") return afterPass(made, { rules, rounds, policyTrace });
  // A tool's failure ends the ask: the executor can ask for less.
  if (made.status !== "ERROR" && made.askBack !== undefined && followsPeople(rules, rounds)) {
    return { to: "people", remarks: [askBackRemark(made.askBack)] };
  }
  return { to: "end", stage: "runner", answer: fromRunner(made, policyTrace) };
}

/** The runner gave no answer: a question back may be for the executor, everything else is for people. */
function afterPass(
  { askBack, error, because }: ResponderPass,
  { rules, rounds, policyTrace }: { rules: RouteRules; rounds: number; policyTrace: PolicyTrace },
): Step {
  if (askBack !== undefined && !followsPeople(rules, rounds)) {
    const answer: NewAskAnswer = {
      status: "ANSWERED",
      cacheable: false,
      truncated: false,
      source: "runner",
      principal: "",
      policyTrace,
      askBack,
      // Clients that know nothing of questions back would else have nothing at all (spec/relay 21).
      text: `Question back: ${askBack}`,
    };
    return { to: "end", stage: "runner", answer };
  }
  if (rules.people === null) {
    const { code, text } = error ?? { code: "E_NO_ANSWERER" as const, text: because };
    return { to: "end", stage: "runner", answer: { ...failed(code, text), policyTrace } };
  }
  const remarks = [
    ...(askBack === undefined ? [] : [askBackRemark(askBack)]),
    ...(error ? [`A model was asked first and failed: ${error.code}.`] : []),
  ];
  return { to: "people", remarks };
}

/**
 * Returns where an ask goes that no machine answered: to people, to the public, or to its end. Decisions never go to
 * the public, nor do asks for which policy or the ask itself names a person.
 */
export function amongPeople(
  ask: Ask,
  judged: PolicyDecision,
  { rules, remarks, isLate }: { rules: RouteRules; remarks: readonly string[]; isLate: boolean },
): Exclude<Step, { to: "cache" | "runner" | "public" }> | { to: "public" } {
  const { trace: policyTrace } = judged;
  if (rules.people === null)
    return { to: "end", stage: "people", answer: { ...withoutPeople(ask, judged), policyTrace } };
  if (isLate) {
    const answer = { ...failed("E_TIMEOUT", timeoutText(ask)), status: "TIMEOUT" as const, policyTrace };
    return { to: "end", stage: "people", answer };
  }
  const isPublic = rules.people.public && isForPublic(ask) && !isDecision(ask) && judged.decision !== "ESCALATE";
  return isPublic && !isForNamed(ask) ? { to: "public" } : { to: "people", remarks };
}

function withoutPeople(ask: Ask, judged: PolicyDecision): NewAskAnswer {
  if (judged.decision !== "ESCALATE" && !isDecision(ask))
    return failed("E_NO_ANSWERER", "no machine could answer, and nobody is asked here");
  return {
    ...failed("E_NO_ANSWERER", judged.because),
    status: "REJECTED",
    askBack: `Policy puts this to people, and none are asked here: ${judged.trace.policy}`,
  };
}

/** Whether a question back goes to people first; with too many rounds behind it, it always does. */
function followsPeople({ people, askBack, maxAskBackRounds }: RouteRules, rounds: number): boolean {
  return people !== null && (askBack === "people_first" || rounds > maxAskBackRounds);
}

const askBackRemark = (askBack: string): string => `A model asks: ${askBack}`;

function opinionRemarks(made: ResponderAnswer | ResponderPass): string[] {
  return made.kind === "pass" && made.opinion !== undefined
    ? [`Machine opinion, which decides nothing: ${made.opinion}`]
    : [];
}

function fromRunner(made: ResponderAnswer, policyTrace: PolicyTrace): NewAskAnswer {
  const { status, text, json, artifacts, cacheable, askBack, error, attestation, truncated = false } = made;
  return {
    status,
    cacheable,
    truncated,
    policyTrace,
    source: "runner",
    principal: attestation?.model ?? "",
    ...(text !== undefined && { text }),
    ...(json !== undefined && { json }),
    ...(artifacts && { artifacts }),
    ...(askBack !== undefined && { askBack }),
    ...(attestation && { attestation }),
    ...(error && { errorCode: error.code, error: errorText(error.code, error.text) }),
  };
}

function failed(code: ErrorCode, text: string): NewAskAnswer {
  const error = { errorCode: code, error: errorText(code, text) };
  return { ...error, status: "ERROR", cacheable: false, truncated: false, source: "server", principal: "" };
}
