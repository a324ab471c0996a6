import type { Context } from "../context.ts";
import type { RequestId } from "../core/model/ids.ts";
import { appendAudit, type AuditNote } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { INBOX_TOPIC } from "../core/store/wake.ts";
import { findFreeze } from "../policy/store/freezes.ts";
import { Refusal } from "../refusals.ts";
import { aboutRequest } from "../requests/create/create-request.ts";
import type { Ending } from "../requests/end/finish.ts";
import { callIdOf } from "../requests/model/plan.ts";
import type { Request } from "../requests/model/request.ts";
import { startAwaitedIn } from "../requests/outcome/report-outcome.ts";
import { lockNextUse, storeUse, type NextUse } from "../requests/plans/use-call.ts";
import { hasRun, HELD_MS, type GateCall } from "./model/gate-call.ts";
import { digestFor } from "./requester.ts";
import { endByDoor } from "../requests/store/call-outcomes.ts";
import { dropIfAsked, findCallBefore, findGateCall, settleUnknown, startIfAsked } from "./store/gate-calls.ts";

/**
 * Uses the approval: the call may run, once, as this run. The same run gets the same result again, so that a lost reply
 * loses nothing. Returns nothing where the call may not run: another run has it, it came too late, the policy is
 * another by now, or the stored call is not the approved one (spec/gate 3). A call of a plan is `behind` until the call
 * before it has run, and every call while its agent is frozen.
 */
export async function startCall(
  ctx: StartContext,
  request: Request,
  { run, policyVersion }: { run: string; policyVersion: string },
): Promise<GateCall | "behind" | null> {
  const { outcome } = request;
  const consentDigest = outcome?.digest ?? request.digest;
  if (request.state !== "answered" || outcome?.approved !== true || consentDigest === null) return null;
  const start = async (tx: Tx): Promise<GateCall | "behind" | null> => {
    const call = await findGateCall(tx, request.id);
    if (!call || call.asker !== request.asker || call.digest !== digestFor(request, call)) return null;
    if (call.run === run && call.state === "started") return call;
    if (call.state !== "asked" || call.policyVersion !== policyVersion) return null;
    if (await findFreeze(tx, request.asker)) return "behind";
    const use = useKey(request.id, run);
    const next =
      request.plan === undefined ? undefined : await lockTurn(ctx, tx, { ...request, plan: request.plan }, use);
    if (next === null || next === "behind") return next;
    const started = await startIfAsked(
      tx,
      { requestId: request.id, policyVersion },
      { run, consentDigest, heldMs: HELD_MS },
    );
    // One that was frozen since the look above keeps its approval.
    if (!started) return (await findFreeze(tx, request.asker)) ? "behind" : null;
    if (next) await storeUse(tx, next.plan, next.call, use);
    await startAwaitedIn(tx, request.id, run, null);
    const settled = started.againOf === null ? undefined : await settleUnknown(tx, started.againOf);
    await appendAudit(tx, {
      ...noteOf(started, request, "started"),
      digest: consentDigest,
      data: { ...toolOf(started), run, bound: started.digest, policy_version: policyVersion },
    });
    if (settled) {
      await appendAudit(tx, {
        actor: { kind: "agent", id: request.asker },
        action: "gate_call.run_again",
        agent: request.asker,
        subjectId: settled.requestId,
        data: { ...toolOf(settled), as: request.id },
      });
    }
    return started;
  };
  try {
    return await transact(ctx, start);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "outcome_known") throw error;
    return null;
  }
}

/** An approved call will not run, unless it has started: its approval is another policy's, or came too late. */
export async function dropApproved(tx: Tx, request: Request): Promise<void> {
  if (!(await dropIfAsked(tx, request.id))) return;
  await endByDoor(tx, request.id, { state: "not_run", resultDigest: null });
  tx.wake(INBOX_TOPIC);
  await appendAudit(tx, noteOf(request, request, "dropped"));
}

type StartContext = Ending & Pick<Context, "db" | "wake">;

/** A use is of one call, also where a client names all its runs alike. */
function useKey(requestId: RequestId, run: string): string {
  return `gate:${requestId} ${run}`;
}

/** Holds the plan of a call. Returns null where the call can no longer have its turn: it is asked about anew then. */
async function lockTurn(
  ctx: StartContext,
  tx: Tx,
  { id, ref, plan }: Pick<Request, "id" | "ref"> & { plan: RequestId },
  key: string,
): Promise<NextUse | "behind" | null> {
  const next = await lockNextUse(ctx, tx, plan, { callId: callIdOf({ ref }), key });
  const before = await findCallBefore(tx, id);
  if (!(next instanceof Refusal)) return before && !hasRun(before) ? "behind" : next;
  const isToCome = next.details["reason"] === "order" && before !== undefined && before.state !== "dropped";
  return isToCome ? "behind" : null;
}

/** Returns what an entry of the record says of a call, whatever happened to it. */
export function noteOf(
  { asker }: Pick<GateCall, "asker">,
  request: Pick<Request, "id" | "form" | "asker" | "ref">,
  what: string,
): AuditNote {
  return { actor: { kind: "agent", id: asker }, ...aboutRequest(request, what), action: `gate_call.${what}` };
}

export function toolOf({ gate, tool }: Pick<GateCall, "gate" | "tool">): { gate: string; tool: string } {
  return { gate, tool };
}
