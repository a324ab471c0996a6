import { type ApprovalOptions, channelOf, checkedReceipt, type ReceiptRules } from "./approvals.ts";
import { type EndReports, reportsOn } from "./call-report.ts";
import { checkTexts, consentDigest, copyOf } from "./consent.ts";
import { ParleyError } from "./errors.ts";
import type { CallOptions, Connection } from "./http.ts";
import { newKey } from "./idempotency-key.ts";
import { cancel, outcomeOf, request } from "./outcome.ts";
import type { CallStatus, Evidence, PlanUsed, Responder, WholePlan } from "./wire.ts";

/** One call of a plan: a function and exactly its arguments. */
export interface PlannedCall {
  /** The function that is to run, as people read it. */
  fn: string;
  /** Its arguments, all of them: an object of what JSON can carry. */
  args: object;
}

/** The people to ask about a plan, how, and what they see beside it. */
export interface PlanOptions extends Pick<
  ApprovalOptions,
  "to" | "channel" | "reason" | "timeoutSeconds" | "onInquiry" | "runId" | "idempotencyKey" | "signal"
> {
  /** The purpose of the plan, on one line. */
  title?: string;
  /** The evidence that people see beside the calls, and approve with them. */
  evidence?: readonly Evidence[];
}

/** A call of a plan that was decided. */
export interface DecidedCall {
  /** The id of its request. */
  id: string;
  fn: string;
  /** The arguments that were shown, and that are to run where `approved` says so. Nobody else holds them. */
  args: object;
  approved: boolean;
  comment: string | undefined;
  digest: string;
  /**
   * Takes the call on the server, before it runs: once, and after those before it. The receipt of its approval has been
   * checked then. Each `use()` is one run; with a `run` of its own, the same run may take it again after a crash. It
   * resolves with the reports about the end of the call, which has started.
   *
   * @throws {ParleyError} `not_in_plan` with its `reason`: the call is not approved, not the next one, used, or too late;
   *   `outcome_known` for a call that was withdrawn
   */
  use(options?: CallOptions & { run?: string }): Promise<EndReports>;
}

/** A plan that is over. */
export interface DecidedPlan {
  /** The id of the plan: the idempotency key. */
  id: string;
  /** Whether every call is approved. */
  approved: boolean;
  calls: DecidedCall[];
  /** The person who decided; where several had to, the last of them. */
  by: Responder | undefined;
  comment: string | undefined;
  /** How it stands on the server. */
  status: CallStatus;
}

/** Asks and waits; what `Parley.approveAll` promises. */
export async function approveAll(
  connection: Connection,
  planned: readonly PlannedCall[],
  options: PlanOptions,
  rules: ReceiptRules,
): Promise<DecidedPlan> {
  const { signal, idempotencyKey, title, evidence, reason, onInquiry } = options;
  const id = idempotencyKey ?? newKey();
  const since = idempotencyKey === undefined ? connection.clock.now() : undefined;
  checkTexts({ planned: planned.map(({ fn }) => fn), title, evidence, reason });
  const calls = planned.map(({ fn, args }, i) => ({ fn, args: copyOf(args, `calls[${i}].args`) }));
  const body = {
    plan_id: id,
    run_id: options.runId ?? "sdk",
    title,
    msg: reason,
    calls: calls.map(({ fn, args: kwargs }) => ({ spec: { fn, kwargs } })),
    evidence,
    channel: await channelOf(connection, options),
    timeout_seconds: options.timeoutSeconds,
    answers_inquiries: onInquiry && true,
  };
  const path = pathOf(id);
  const asked = await request<WholePlan>(connection, "/plans", body, { signal });
  const plan = await outcomeOf(connection, { path, id, nameOf: (one) => one.plan_id, onInquiry }, { signal }, asked);
  const decided = await Promise.all(
    calls.map((call, i) => decidedCall(connection, plan, { ...call, i, since }, rules)),
  );
  const { status } = plan;
  return {
    id,
    approved: decided.length === plan.calls.length && decided.every(({ approved }) => approved),
    calls: decided,
    by: status.user_info,
    comment: status.comment,
    status,
  };
}

/** @throws {ParleyError} `BAD_REPLY` where the server has another call at this place */
async function decidedCall(
  connection: Connection,
  plan: WholePlan,
  { fn, args, i, since }: PlannedCall & { i: number; since: number | undefined },
  { receiptKeys, agents }: ReceiptRules,
): Promise<DecidedCall> {
  const call = Array.isArray(plan.calls) ? plan.calls[i] : undefined;
  const digest = await consentDigest(fn, args);
  if (call?.consent_digest !== digest) throw badReply(`The server has another call ${i + 1} in this plan.`);
  const { call_id: id, ask_id: requestId } = call;
  const approved = plan.status.approved === true && call.approved === true;
  return {
    id,
    fn,
    args,
    approved,
    comment: call.comment,
    digest,
    async use({ signal, run = newKey() } = {}) {
      if (approved) {
        const mismatch = (says = "The receipt is not that of") => badReply(`${says} ${fn}.`);
        const wanted = { callId: id, requestId, digest, agents, since };
        await checkedReceipt(connection, wanted, { signal, receiptKeys, mismatch });
      }
      const body = { fn, kwargs: args, call_id: id, run };
      const used = await request<PlanUsed>(connection, `${pathOf(plan.plan_id)}/uses`, body, { signal });
      if (used.call_id !== id) throw badReply("The server has used another call of this plan.");
      const { done, failed } = reportsOn(connection, id);
      return { done, failed };
    },
  };
}

function badReply(message: string): ParleyError {
  return new ParleyError("BAD_REPLY", message, { status: 200 });
}

/** Withdraws the plan; what `Parley.withdrawPlan` promises. */
export async function withdrawPlan(
  connection: Connection,
  id: string,
  { reason, signal }: CallOptions & { reason?: string },
): Promise<void> {
  await cancel(connection, pathOf(id), { reason, signal });
}

function pathOf(id: string): string {
  return `/plans/${encodeURIComponent(id)}`;
}
