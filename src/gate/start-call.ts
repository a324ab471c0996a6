import type { Context } from "../context.ts";
import { appendAudit, type AuditNote } from "../core/store/audit.ts";
import { transact } from "../core/store/transact.ts";
import { aboutRequest } from "../requests/create/create-request.ts";
import type { Request } from "../requests/model/request.ts";
import { HELD_MS, type GateCall } from "./model/gate-call.ts";
import { digestFor } from "./requester.ts";
import { findGateCall, settleUnknown, startIfAsked } from "./store/gate-calls.ts";

/**
 * Uses the approval: the call may run, once, as this run. The same run gets the same result again, so that a lost reply
 * loses nothing. Returns nothing where the call may not run: another run has it, it came too late, the policy is
 * another by now, or the stored call is not the approved one (spec/gate 3).
 */
export async function startCall(
  ctx: Pick<Context, "db" | "wake">,
  request: Request,
  { run, policyVersion }: { run: string; policyVersion: string },
): Promise<GateCall | null> {
  const { outcome } = request;
  const consentDigest = outcome?.digest ?? request.digest;
  if (request.state !== "answered" || outcome?.approved !== true || consentDigest === null) return null;
  return transact(ctx, async (tx) => {
    const call = await findGateCall(tx, request.id);
    if (!call || call.asker !== request.asker || call.digest !== digestFor(request, call)) return null;
    if (call.run === run && call.state === "started") return call;
    if (call.state !== "asked") return null;
    const started = await startIfAsked(
      tx,
      { requestId: request.id, policyVersion },
      { run, consentDigest, heldMs: HELD_MS },
    );
    if (!started) return null;
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
  });
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
