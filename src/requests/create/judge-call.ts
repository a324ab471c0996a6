import type { DecidedBy, Outcome, RequestForm } from "../model/request.ts";
import { isJoint } from "../model/audience.ts";
import { policyInputOfCall } from "../model/policy-call.ts";
import { riskOf } from "../model/risk.ts";
import type { Policy, PolicyDecision, PolicyInput } from "../../policy/model/policy.ts";
import type { Tx } from "../../core/store/db.ts";
import { noteSpared, readGrants } from "../../policy/grants.ts";
import { judge, withoutRule } from "../../policy/judge.ts";
import { withArguments } from "../decide/count-decision.ts";
import type { RequestInput } from "./create-request.ts";

export type ApprovalForm = RequestForm & { kind: "approval" };

/** A call as it is stored if people decide. */
export type CallToStore = RequestInput & { form: ApprovalForm; digest: string };

/** A call, and what policy and the grants say of it. */
export interface JudgedCall {
  policy: Policy;
  call: CallToStore;
  input: PolicyInput;
  grants: Awaited<ReturnType<typeof readGrants>>;
  policyDecision: PolicyDecision;
  /** People decide also where policy allows it. */
  forPeople: boolean;
}

/** Asks the policy and the permissions about a call; `byRules` leaves the permissions out. */
export async function judgeCall(
  tx: Tx,
  {
    policy,
    call,
    forPeople,
    byRules = false,
  }: Pick<JudgedCall, "policy" | "call" | "forPeople"> & { byRules?: boolean },
): Promise<JudgedCall> {
  const input = policyInputOfCall(call);
  const grants = byRules || isJoint(call.audience) ? [] : await readGrants(tx, input);
  const policyDecision = await judge(tx, { policy, grants }, input);
  const hasPatterns = grants.some(({ pattern }) => pattern);
  if (!hasPatterns || !looksHigh(call, policyDecision)) {
    return { policy, call, input, grants, forPeople, policyDecision };
  }
  // The person who allowed calls like this one did not see it.
  const exact = grants.filter(({ pattern }) => !pattern);
  const again = await judge(tx, { policy, grants: exact }, input);
  return { policy, call, input, grants: exact, forPeople, policyDecision: again };
}

function looksHigh({ form, audience, wire }: CallToStore, { risk }: PolicyDecision): boolean {
  return riskOf({ form, audience, wire: { ...wire, ...(risk && { risk }) } }) === "high";
}

/** The outcome that a rule or a permission gives a call. */
export interface Ruled {
  outcome: Outcome & Required<Pick<Outcome, "trace">>;
  by: DecidedBy;
}

/** Returns what policy makes of a call, counted; null where it is for people. */
export async function countRuled(tx: Tx, judged: JudgedCall): Promise<Ruled | null> {
  const { call, input, forPeople } = judged;
  let { policy, grants, policyDecision } = judged;
  for (;;) {
    const { decision, trace, countedAs } = policyDecision;
    if (decision === "ESCALATE" || !countedAs || (decision === "ALLOW" && forPeople)) return null;
    const grant = grants.find(({ id }) => id === trace.grant);
    if (await noteSpared(tx, policyDecision)) return ruledBy(call, policyDecision, grant?.madeBy);
    // The grant was revoked, or ended, since it was read; or the allowance of the rule is used up.
    if (grant) grants = grants.filter((one) => one !== grant);
    else policy = withoutRule(policy, trace.rule_index);
    policyDecision = await judge(tx, { policy, grants }, input);
  }
}

/** Returns the outcome of a call that a rule or a grant decided. */
function ruledBy({ form, digest }: CallToStore, policyDecision: PolicyDecision, madeBy = ""): Ruled {
  const { decision, trace, because, countedAs } = policyDecision;
  const by: DecidedBy =
    countedAs && "rule" in countedAs
      ? { kind: "policy", id: countedAs.rule, via: "policy" }
      : { kind: "person", id: madeBy, via: "policy" };
  const approved = decision === "ALLOW";
  const comment = approved ? trace.reason : because;
  const outcome = {
    status: "answered" as const,
    approved,
    by,
    trace,
    digest,
    ...(comment !== undefined && { comment }),
  };
  return { outcome: { ...withArguments({ form }, outcome, { kind: "approve" }), trace }, by };
}
