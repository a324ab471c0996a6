import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { appendAudit } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { Refusal } from "../../refusals.ts";
import { aboutRequest } from "../create/create-request.ts";
import { endHeldIfDue } from "../end/end.ts";
import { lockForAgent } from "../decide/lock-for-agent.ts";
import type { Ending } from "../end/finish.ts";
import { REPORT_WITHIN_MS } from "../model/call-outcome.ts";
import { nextUse, type PlanCall, type WantedUse } from "../model/plan.ts";
import type { Request } from "../model/request.ts";
import { startAwaitedIn } from "../outcome/report-outcome.ts";
import { shownToAgent } from "../model/still.ts";
import { listPlanCalls, useCallIfUnused } from "../store/plans.ts";

/** A call of a plan that was used, now or by the same use before. */
export interface UsedCall {
  call: PlanCall & { usedAt: number };
  repeated: boolean;
}

/**
 * Uses the next approved call of a plan, once: of any number of programs, on any server, one gets it, and the same use
 * gets it again. A use is never given back, because its program may have acted (spec/a2h 22).
 *
 * @throws {Refusal} `request_not_found`, `not_in_plan`, `idempotency_mismatch`; `outcome_known` for a call that was
 *   withdrawn, or reported before its use
 */
export async function useCall(ctx: Context, planId: RequestId, wanted: WantedUse): Promise<UsedCall> {
  const result = await transact(ctx, async (tx) => {
    const next = await lockNextUse(ctx, tx, planId, wanted);
    if (next instanceof Refusal) return next;
    const { plan, call } = next;
    if (call.usedAt !== null) return { call: { ...call, usedAt: call.usedAt }, repeated: true };
    const usedAt = await storeUse(tx, plan, call, wanted.key);
    await startAwaitedIn(tx, call.requestId, wanted.key, REPORT_WITHIN_MS);
    return { call: { ...call, usedBy: wanted.key, usedAt }, repeated: false };
  });
  if (result instanceof Refusal) throw result;
  return result;
}

/** A plan that is held, and the call of it that a use takes. */
export interface NextUse {
  plan: Request;
  call: PlanCall;
}

/**
 * Holds a plan to the end of the transaction, and returns the call that a use takes, or why it takes none: the end of a
 * plan whose time is up must last, so that the refusal is returned and not thrown.
 *
 * @throws {Refusal} `request_not_found`
 */
export async function lockNextUse(
  ctx: Ending,
  tx: Tx,
  planId: RequestId,
  wanted: WantedUse,
): Promise<NextUse | Refusal> {
  const held = await lockForAgent(tx, planId);
  if (!held) throw new Refusal("request_not_found");
  const ended = await endHeldIfDue(ctx, tx, held);
  const plan = shownToAgent({ ...held, request: ended });
  const calls = await listPlanCalls(tx, planId);
  try {
    return { plan, call: nextUse(plan, calls, wanted, held.now) };
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Marks the next call of a held plan as used, and the record says so. Returns when that was. */
export async function storeUse(tx: Tx, plan: Request, call: PlanCall, key: string): Promise<number> {
  const usedAt = await useCallIfUnused(tx, call.requestId, key);
  if (usedAt === undefined) throw new Error(`${call.requestId} was used beside its plan`);
  const { id, asker, form } = plan;
  await appendAudit(tx, {
    actor: { kind: "agent", id: asker },
    ...aboutRequest({ id: call.requestId, ref: call.ref, asker, form }, "used"),
    digest: call.digest,
    data: { plan: id, ord: call.ord },
  });
  return usedAt;
}
