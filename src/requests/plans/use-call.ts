import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { appendAudit } from "../../core/store/audit.ts";
import { transact } from "../../core/store/transact.ts";
import { Refusal } from "../../refusals.ts";
import { aboutRequest } from "../create/create-request.ts";
import { endHeldIfDue } from "../end/end.ts";
import { nextUse, type PlanCall, type WantedUse } from "../model/plan.ts";
import type { Request } from "../model/request.ts";
import { lockRequest } from "../store/requests.ts";
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
 * @throws {Refusal} `request_not_found`, `not_in_plan`, `idempotency_mismatch`
 */
export async function useCall(ctx: Context, planId: RequestId, wanted: WantedUse): Promise<UsedCall> {
  const result = await transact(ctx, async (tx) => {
    const held = await lockRequest(tx, planId);
    if (!held) throw new Refusal("request_not_found");
    const plan = await endHeldIfDue(ctx, tx, held);
    const call = refusalOr(plan, await listPlanCalls(tx, planId), wanted, held.now);
    if (call instanceof Refusal) return call;
    if (call.usedAt !== null) return { call: { ...call, usedAt: call.usedAt }, repeated: true };
    const usedAt = await useCallIfUnused(tx, call.requestId, wanted.key);
    if (usedAt === undefined) throw new Error(`${call.requestId} was used beside its plan`);
    const { asker, form } = plan;
    await appendAudit(tx, {
      actor: { kind: "agent", id: asker },
      ...aboutRequest({ id: call.requestId, ref: call.ref, asker, form }, "used"),
      digest: call.digest,
      data: { plan: planId, ord: call.ord },
    });
    return { call: { ...call, usedBy: wanted.key, usedAt }, repeated: false };
  });
  if (result instanceof Refusal) throw result;
  return result;
}

/** The end of a plan whose time is up must last, so that the refusal is returned and not thrown. */
function refusalOr(plan: Request, calls: readonly PlanCall[], wanted: WantedUse, now: number): PlanCall | Refusal {
  try {
    return nextUse(plan, calls, wanted, now);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
