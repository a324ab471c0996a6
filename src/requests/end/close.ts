import type { Request, DecidedBy, Outcome } from "../model/request.ts";
import type { DecisionOrigin } from "../../core/model/decision-origin.ts";
import { groupOf } from "../model/audience.ts";
import { firstOutcome, reportsOf } from "../model/call-outcome.ts";
import { countOfTold, firstPlaceOfTold } from "../model/hand-on.ts";
import { upsertCallOutcome } from "../store/call-outcomes.ts";
import { endRequest } from "../store/requests.ts";
import { appendAudit, type Actor, type AuditNote } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import { deleteHandOnsWithNotes } from "../store/hand-ons.ts";
import { deleteSnoozes } from "../store/snoozes.ts";
import { closeDeliveries } from "../store/deliveries.ts";
import { requestTopic, INBOX_TOPIC } from "../../core/store/wake.ts";
import { aboutRequest, stepOf } from "../create/create-request.ts";

/** How a request ended and when, who ended it, and what the record calls that. */
export interface RequestEnd {
  outcome: Outcome;
  at: number;
  by: DecidedBy | Actor;
  action: string;
  origin?: DecisionOrigin;
  data?: Record<string, unknown>;
}

/**
 * Ends a held, open request: outcome, record, and the closing of every message about it, in the transaction under way.
 * `act` does, in between, what the outcome means to the requester.
 */
export async function closeRequestIn(
  tx: Tx,
  request: Request,
  { outcome, at, ...how }: RequestEnd,
  act: (over: Request) => Promise<void> = () => Promise.resolve(),
): Promise<Request> {
  const reports = outcome.approved === true ? reportsOf(request) : undefined;
  const { request: over, now } = await endRequest(tx, request, { ...outcome, ...(reports && { reports }) }, at);
  await act(over);
  const awaited = firstOutcome(over, now);
  const group = how.by.kind === "person" ? groupOf(request.audience, how.by.id) : undefined;
  // point: addressed-between-outcome-and-closing
  const voided = { at: now, ...aboutRequest(request, "press_voided"), via: "web", data: { reason: how.action } };
  const others = (request.presses ?? []).filter(({ person }) => person !== how.by.id);
  await Promise.all([
    closeDeliveries(tx, request.id),
    deleteSnoozes(tx, request.id),
    awaited && upsertCallOutcome(tx, request.id, awaited),
    countOfTold(request) > 0 ? deleteHandOnsWithNotes(tx, request.id, stepOf(firstPlaceOfTold(0))) : undefined,
    appendAudit(tx, ...others.map(({ person }): AuditNote => ({ ...voided, actor: { kind: "human", id: person } })), {
      at: now,
      actor: { kind: how.by.kind === "person" ? "human" : how.by.kind, id: how.by.id },
      ...aboutRequest(request, how.action),
      ...("via" in how.by && { via: how.by.via }),
      ...(how.origin && { origin: how.origin }),
      ...(outcome.digest !== undefined && { digest: outcome.digest }),
      ...((how.data ?? group !== undefined) && { data: { ...how.data, ...(group !== undefined && { group }) } }),
    }),
  ]);
  tx.wake(requestTopic(request.id));
  tx.wake(INBOX_TOPIC);
  return over;
}
