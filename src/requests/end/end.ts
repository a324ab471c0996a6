import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import type { Request, Audience, Outcome } from "../model/request.ts";
import { escalated, leavesOf, readersOf } from "../model/audience.ts";
import { Refusal } from "../../refusals.ts";
import { findRequest, insertReaders, lockRequest, updateRequest, type RequestAt } from "../store/requests.ts";
import { appendAudit, type Actor } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { wholeOf } from "../store/plans.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { aboutRequest, planDeliveries } from "../create/create-request.ts";
import { makeDuePresses, voidDuePresses } from "../decide/presses.ts";
import { finishRequest, settledRefusal, type Ending } from "./finish.ts";
import { tellDevices } from "../create/tell-devices.ts";

/** The reason of a withdrawal, for people who read of it. */
export const NOBODY_WAITS = "Nobody waits for it any more.";

/**
 * True for an open request whose deadline has passed, or for which nobody waits any more (spec/a2h 21). Neither is so while
 * its asker is frozen.
 */
export function isDue({ openWaits }: Pick<Context, "openWaits">, { request, now, isFrozen }: RequestAt): boolean {
  return request.state === "open" && !isFrozen && (now >= request.expiresAt || isUnwaited(openWaits, request, now));
}

function isUnwaited(openWaits: Context["openWaits"], { id, waitedUntil }: Request, now: number): boolean {
  // A wait that this process holds goes on, also after the process was frozen.
  return waitedUntil !== undefined && now >= waitedUntil && !openWaits.has(id);
}

/**
 * Ends a held request that is due; one that still has time is left open. Returns it as it is then. Decisions that were
 * pressed in time are made first, so that the deadline finds them.
 *
 * @throws {Refusal} why the requester cannot take a pressed decision
 */
export async function endHeldIfDue(ctx: Ending, tx: Tx, held: RequestAt): Promise<Request> {
  const { now } = held;
  const isInTime = now < held.request.expiresAt;
  const isDueNow = isDue(ctx, held);
  // Nobody takes the decision where nobody waits.
  const request = isInTime && isDueNow ? held.request : await makeDuePresses(ctx, tx, held);
  if (!isDueNow || request.state !== "open") return request;
  if (isInTime) {
    const by = { kind: "server", id: request.door } as const;
    const end = { at: now, by, action: "cancelled" };
    return finishRequest(ctx, tx, request, { ...end, outcome: withdrawn(request, NOBODY_WAITS) });
  }
  // Silence is never consent: an approval that nobody gave is a rejection that nobody made.
  const outcome: Outcome = { status: "expired", ...(request.form.kind === "approval" && { approved: false }) };
  return finishRequest(ctx, tx, request, {
    outcome,
    at: request.expiresAt,
    by: { kind: "clock", id: "clock" },
    action: "expired",
  });
}

/** Ends a request whose deadline has passed, once; one that is over or has time is left as it is. Returns it as it stands. */
export async function expireRequest(ctx: Context, requestId: RequestId): Promise<Request | undefined> {
  try {
    return await transact(ctx, (tx) => expireIn(ctx, tx, requestId));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // A pressed decision cannot stand: what is due is ended without it.
    return transact(ctx, async (tx) => {
      const held = await lockRequest(tx, requestId);
      if (held) await voidDuePresses(tx, held, error.code);
      return expireIn(ctx, tx, requestId);
    });
  }
}

async function expireIn(ctx: Ending, tx: Tx, requestId: RequestId): Promise<Request | undefined> {
  const held = await lockRequest(tx, requestId);
  return held && endHeldIfDue(ctx, tx, held);
}

/**
 * Withdraws an open request, and with a call of a plan the whole plan; cancelling again changes nothing.
 *
 * @throws {Refusal} `request_not_found`, `already_decided`, `request_expired`
 */
export async function cancelRequest(ctx: Context, requestId: RequestId, by: Actor, reason?: string): Promise<Request> {
  const result = await transact(ctx, async (tx) => {
    const held = await lockRequest(tx, await wholeOf(tx, requestId));
    if (!held) throw new Refusal("request_not_found");
    const over = await endHeldIfDue(ctx, tx, held);
    if (over.state === "cancelled") return over;
    if (over.state !== "open") return settledRefusal(over);
    const outcome = withdrawn(over, reason);
    return finishRequest(ctx, tx, over, { outcome, at: held.now, by, action: "cancelled" });
  });
  if (result instanceof Refusal) throw result;
  return result.id === requestId ? result : ((await findRequest(ctx.db, requestId))?.request ?? result);
}

function withdrawn({ form }: Request, reason?: string): Outcome {
  return {
    status: "cancelled",
    ...(form.kind === "approval" && { approved: false }),
    ...(reason !== undefined && { comment: reason }),
  };
}

const ESCALATIONS_MOST = 10;

/** Steps between two escalations: none has so many messages. */
const STEPS_OF_AN_ESCALATION = 1000;

/**
 * Notifies more people of an open request, at once and with `words` first. Those of `added` may answer from now on,
 * unless several have to agree; everybody else is only informed (spec/a2h 11).
 *
 * @throws {Refusal} `request_not_found`, `already_decided`, `request_expired`, `request_cancelled`, `escalation_limit`,
 *   `decided_with_plan`
 */
export async function escalateRequest(
  ctx: Context,
  requestId: RequestId,
  { added, informed, words, by }: { added: Audience | null; informed: Audience | null; words: string; by: Actor },
): Promise<Request> {
  const result = await transact(ctx, async (tx) => {
    const held = await lockRequest(tx, requestId);
    if (!held) throw new Refusal("request_not_found");
    if (held.request.plan !== undefined) throw new Refusal("decided_with_plan");
    const request = await endHeldIfDue(ctx, tx, held);
    if (request.state !== "open") return settledRefusal(request);
    const { escalations = 0 } = request.wire as { escalations?: number };
    if (escalations >= ESCALATIONS_MOST) throw new Refusal("escalation_limit");

    const informedOnly = [added, informed].filter((one) => one !== null);
    const all: Audience = { kind: "any", of: informedOnly.map((node) => ({ afterMs: 0, node })) };
    const firstStep = leavesOf(request.audience).length + STEPS_OF_AN_ESCALATION * (escalations + 1);
    await planDeliveries(ctx, tx, { requestId, audience: all, firstStep, words });
    const audience = escalated(request.audience, added === null ? [] : [{ afterMs: 0, audience: added }]);
    if (added !== null && audience !== request.audience) {
      await insertReaders(tx, requestId, readersOf(added));
      await tellDevices(tx, requestId, added);
    }
    await updateRequest(tx, { ...request, audience, wire: { ...request.wire, escalations: escalations + 1 } });
    await appendAudit(tx, { actor: by, ...aboutRequest(request, "escalated") });
    tx.wake(INBOX_TOPIC);
    return { ...request, audience };
  });
  if (result instanceof Refusal) throw result;
  return result;
}
