import type { RequestId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { INBOX_TOPIC, requestTopic } from "../core/store/wake.ts";
import { Refusal } from "../refusals.ts";
import { endByDoor } from "../requests/store/call-outcomes.ts";
import { HELD_MS, type GateCall } from "./model/gate-call.ts";
import { endIfBegun, findGateCall, giveUpIfStarted, holdIfStarted } from "./store/gate-calls.ts";

/** A run of a call, and whose it is. */
export interface Running {
  requestId: RequestId;
  asker: string;
  run: string;
}

/** How a run ended: with a result or an error, of which the digest is kept; or nobody knows whether it did. */
export type GatedEnd = { outcome: "result" | "error"; digest: string } | { outcome: "lost" };

/**
 * The call has ended, and the record says how. A repeat changes nothing; it counts also for a call that was given up
 * for unknown meanwhile, because what is known is better than what is not.
 *
 * @throws {Refusal} `call_not_found` for another agent's call, or another run
 */
export async function endCall(ctx: Pick<Context, "db" | "wake">, running: Running, end: GatedEnd): Promise<GateCall> {
  return transact(ctx, async (tx) => {
    const call = await ownCall(tx, running);
    const isOver = end.outcome === "lost" ? call.state !== "started" : call.state === "ended";
    if (isOver) return call;
    const ended = end.outcome === "lost" ? await giveUpIfStarted(tx, running) : await endIfBegun(tx, running, end);
    if (!ended) throw new Refusal("call_not_found");
    await endByDoor(tx, call.requestId, outcomeOf(ended));
    const actor: Actor = { kind: "agent", id: call.asker };
    if (end.outcome === "lost") await noteUnknown(tx, ended, actor);
    else await note(tx, ended, { actor, action: "gate_call.ended" });
    return ended;
  });
}

/**
 * The gate of a running call has shown life, for another minute. Returns false where the call is not known to run: its end
 * still counts.
 *
 * @throws {Refusal} `call_not_found` for another agent's call, or another run
 */
export async function holdCall(ctx: Pick<Context, "db" | "wake">, running: Running): Promise<boolean> {
  return transact(ctx, async (tx) => {
    await ownCall(tx, running);
    return (await holdIfStarted(tx, { ...running, heldMs: HELD_MS })) !== undefined;
  });
}

/** A call whose gate has shown no life for a minute is unknown from now on, and the record says so. Returns whether it was such. */
export async function giveUpCall(ctx: Pick<Context, "db" | "wake">, requestId: RequestId): Promise<boolean> {
  return transact(ctx, async (tx) => {
    const lapsed = await giveUpIfStarted(tx, { requestId, run: null });
    if (lapsed) {
      await endByDoor(tx, requestId, outcomeOf(lapsed));
      await noteUnknown(tx, lapsed, { kind: "clock", id: "clock" });
    }
    return lapsed !== undefined;
  });
}

async function ownCall(tx: Tx, { requestId, asker, run }: Running): Promise<GateCall> {
  const call = await findGateCall(tx, requestId);
  if (!call || call.asker !== asker || call.run !== run) throw new Refusal("call_not_found");
  return call;
}

function outcomeOf({ state, outcome, resultDigest }: GateCall): Parameters<typeof endByDoor>[2] {
  if (state === "unknown") return { state, resultDigest: null };
  return { state: outcome === "error" ? "failed" : "done", resultDigest };
}

function noteUnknown(tx: Tx, call: GateCall, actor: Actor): Promise<void> {
  return note(tx, call, { actor, action: "gate_call.unknown" });
}

async function note(tx: Tx, call: GateCall, { actor, action }: { actor: Actor; action: string }): Promise<void> {
  const { outcome, resultDigest } = call;
  // The next call of its plan waits for this.
  tx.wake(requestTopic(call.requestId));
  tx.wake(INBOX_TOPIC);
  await appendAudit(tx, {
    actor,
    action,
    agent: call.asker,
    subjectId: call.requestId,
    ...(call.consentDigest !== null && { digest: call.consentDigest }),
    data: {
      gate: call.gate,
      tool: call.tool,
      run: call.run,
      ...(outcome !== null && { outcome, result_digest: resultDigest }),
    },
  });
}
