import type { BoundCall } from "../model/bound-call.ts";
import type { Context } from "../../context.ts";
import type { Request } from "../model/request.ts";
import { isJoint } from "../model/audience.ts";
import { evaluate, type Policy } from "../../policy/model/policy.ts";
import { findFreeze } from "../../policy/store/freezes.ts";
import { Refusal } from "../../refusals.ts";
import type { Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import {
  noteCreated,
  rowsOfNew,
  storeRequestIn,
  notifyRecipientsIn,
  type RequestInput,
  type RequestContext,
} from "./create-request.ts";
import { finishRequest, type Ending } from "../end/finish.ts";
import { argumentsWithSecrets } from "./guard-arguments.ts";
import { noteObserved } from "../../policy/grants.ts";
import { countRuled, judgeCall, type ApprovalForm, type CallToStore, type JudgedCall } from "./judge-call.ts";

/** A function call that wants to run. */
export type CallInput = Omit<RequestInput, "form" | "digest"> &
  Omit<ApprovalForm, "kind" | "fn" | "kwargs"> & {
    bound: BoundCall;
    /** People decide even if policy allows the call. */
    forPeople?: boolean;
  };

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
  const { forPeople = false } = given;
  const call = await guardedCall(ctx, policy, given);
  const requester = ctx.requesters.ofRequest(call);
  const asked = (await requester.present?.(ctx.db, call)) ?? call;
  const store = async (tx: Tx) => {
    const judged = await judgeCall(tx, { policy, call: asked, forPeople });
    const { risk, countedAs, observed } = judged.policyDecision;
    // Calls that a rule decides or watches are counted in rows of the rule.
    if (countedAs ?? observed) tx.runAlone?.();
    const ruled = { ...(mayBeGranted(judged) && { standing: true }), ...(risk && { risk }) };
    const input = { ...asked, wire: { ...asked.wire, ...ruled } };
    const stored = await storeRequestIn(ctx, tx, input);
    if (stored.replayed) return stored;
    const decided = await countRuled(tx, { ...judged, forPeople: forPeople || stored.isFrozen });
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
  };
  const rows = rowsOfNew(requester, asked);
  try {
    return await transact(ctx, store, rows);
  } catch (error) {
    // Its agent was frozen between the two statements: the second time, people decide.
    if (!(error instanceof Refusal) || error.code !== "frozen") throw error;
    return transact(ctx, store, rows);
  }
}

/** Returns whether neither a rule nor a permission decides a call as they are now. Nothing is counted or stored. */
export async function isForPeople(
  ctx: Pick<Context, "db" | "wake" | "secrets">,
  policy: Policy,
  given: CallInput,
): Promise<boolean> {
  const call = await guardedCall(ctx, policy, given);
  const { policyDecision, freeze } = await transact(ctx, async (tx) => {
    const judged = await judgeCall(tx, { policy, call, forPeople: given.forPeople ?? false });
    const isAllowed = judged.policyDecision.decision === "ALLOW";
    return { ...judged, freeze: isAllowed ? await findFreeze(tx, call.asker) : undefined };
  });
  return policyDecision.decision === "ESCALATE" || !policyDecision.countedAs || freeze !== undefined;
}

async function guardedCall(
  ctx: Pick<Context, "secrets">,
  { limits, says: sentences }: Policy,
  { bound, rejectOptions, editable, kwargsSchema, forPeople: _, ...rest }: CallInput,
): Promise<CallToStore> {
  const guarded = await argumentsWithSecrets(ctx, bound);
  const { fn, canonical, digest } = bound;
  const says = sentences?.get(fn);
  return {
    ...rest,
    wire: { ...rest.wire, ...guarded, ...(says !== undefined && { says }), ...(limits && { limits }) },
    form: { kind: "approval", fn, kwargs: canonical, rejectOptions, editable, ...(kwargsSchema && { kwargsSchema }) },
    digest,
  };
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
