import type { BoundCall } from "../model/bound-call.ts";
import { policyInputOfCall } from "../model/policy-call.ts";
import type { Context } from "../../context.ts";
import type { Request, RequestForm, DecidedBy, Outcome } from "../model/request.ts";
import { isJoint } from "../model/audience.ts";
import { riskOf } from "../model/risk.ts";
import { evaluate, type Policy, type PolicyInput, type PolicyDecision } from "../../policy/model/policy.ts";
import type { Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import {
  noteCreated,
  storeRequestIn,
  notifyRecipientsIn,
  type RequestInput,
  type RequestContext,
} from "./create-request.ts";
import { withArguments } from "../decide/count-decision.ts";
import { finishRequest, type Ending } from "../end/finish.ts";
import { argumentsWithSecrets } from "./guard-arguments.ts";
import { noteObserved, noteSpared, readGrants } from "../../policy/grants.ts";
import { judge, withoutRule } from "../../policy/judge.ts";

/** A function call that wants to run. */
export type CallInput = Omit<RequestInput, "form" | "digest"> &
  Omit<ApprovalForm, "kind" | "fn" | "kwargs"> & {
    bound: BoundCall;
    /** People decide even if policy allows the call. */
    forPeople?: boolean;
  };

type ApprovalForm = RequestForm & { kind: "approval" };

/** A call as it is stored if people decide. */
type CallToStore = RequestInput & { form: ApprovalForm; digest: string };

/**
 * Asks whether a function call may run. It is decided by a rule that names the function, or by a permanent permission for
 * this agent and exactly these arguments; else by people. A request decided by a rule or a grant is over when it is
 * stored: no person is notified, and the agent receives the decision like any other (spec/a2h 8).
 *
 * @throws {Refusal} `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function requestCall(
  ctx: RequestContext & Ending & Pick<Context, "secrets">,
  policy: Policy,
  given: CallInput,
): Promise<{ request: Request; replayed: boolean }> {
  const guarded = await argumentsWithSecrets(ctx, given.bound);
  const { bound, rejectOptions, editable, kwargsSchema, forPeople = false, ...rest } = given;
  const { limits } = policy;
  const says = policy.says?.get(bound.fn);
  const call: CallToStore = {
    ...rest,
    wire: { ...rest.wire, ...guarded, ...(says !== undefined && { says }), ...(limits && { limits }) },
    form: {
      kind: "approval",
      fn: bound.fn,
      kwargs: bound.canonical,
      rejectOptions,
      editable,
      ...(kwargsSchema && { kwargsSchema }),
    },
    digest: bound.digest,
  };
  const requester = ctx.requesters.ofRequest(call);
  const asked = (await requester.present?.(ctx.db, call)) ?? call;
  return transact(ctx, async (tx) => {
    const judged = await judgeCall(tx, { policy, call: asked, forPeople });
    const { risk } = judged.policyDecision;
    const ruled = { ...(mayBeGranted(judged) && { standing: true }), ...(risk && { risk }) };
    const input = { ...asked, wire: { ...asked.wire, ...ruled } };
    const stored = await storeRequestIn(ctx, tx, input);
    if (stored.replayed) return stored;
    const decided = await countRuled(tx, judged);
    await noteObserved(tx, judged.policyDecision);
    await requester.stored?.(tx, stored.request);
    if (!decided) {
      await notifyRecipientsIn(ctx, tx, input, stored.request);
      return stored;
    }
    await noteCreated(tx, stored.request);
    const { outcome, by } = decided;
    const { policy_version, grant } = outcome.trace;
    const request = await finishRequest(ctx, tx, stored.request, {
      outcome,
      at: stored.request.createdAt,
      by,
      action: outcome.approved ? "approved" : "rejected",
      data: { policy_version, ...(grant && { grant }) },
    });
    return { request, replayed: false };
  });
}

/** A call, and what policy and the grants say of it. */
interface JudgedCall {
  policy: Policy;
  call: CallToStore;
  input: PolicyInput;
  grants: Awaited<ReturnType<typeof readGrants>>;
  policyDecision: PolicyDecision;
  /** People decide also where policy allows it. */
  forPeople: boolean;
}

async function judgeCall(
  tx: Tx,
  { policy, call, forPeople }: Pick<JudgedCall, "policy" | "call" | "forPeople">,
): Promise<JudgedCall> {
  const input = policyInputOfCall(call);
  const grants = isJoint(call.audience) ? [] : await readGrants(tx, input);
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

/**
 * Returns whether an admin may allow the call, and calls like it, when it is approved. A call that needs several
 * approvers can never be, nor can one whose arguments may still change. The hook of a coding agent takes edits of every
 * prompt: there the approval that edits grants nothing.
 */
function mayBeGranted({ policy, call, input, policyDecision, forPeople }: JudgedCall): boolean {
  if (isJoint(call.audience) || (call.form.editable && call.promptOf === undefined)) return false;
  if (policyDecision.decision === "ALLOW" && forPeople) return evaluate(policy, [], input).isGrantable;
  return policyDecision.isGrantable;
}

interface Ruled {
  outcome: Outcome & Required<Pick<Outcome, "trace">>;
  by: DecidedBy;
}

/** Returns what policy makes of a call, counted; null where it is for people. */
async function countRuled(tx: Tx, judged: JudgedCall): Promise<Ruled | null> {
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
