import type { Context } from "../../context.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { Refusal } from "../../refusals.ts";
import { settledRefusal } from "../end/finish.ts";
import { LONGEST_SNOOZE_MS, snoozeEnd } from "../model/inbox.ts";
import { lockRequest } from "../store/requests.ts";
import { deleteSnoozes, listSnoozes, upsertSnooze } from "../store/snoozes.ts";

/** A request in somebody's inbox. */
interface InInbox {
  requestId: RequestId;
  person: string;
}

/**
 * Puts a request aside for one person, who reads it, and returns until when (`snoozeEnd`). Their list is without it
 * meanwhile; the deadline goes on, and everybody else's list stays as it is. The record does not have it.
 *
 * @throws {Refusal} `request_not_found`; `already_decided`, `request_expired` or `request_cancelled` once it is over;
 *   `invalid_input` where `until` has passed, or is more than 30 days away
 */
export async function snoozeRequest(
  ctx: Pick<Context, "db" | "wake">,
  { requestId, person }: InInbox,
  until: number,
): Promise<number> {
  return transact(ctx, async (tx) => {
    const held = await lockRequest(tx, requestId);
    if (!held) throw new Refusal("request_not_found");
    const { request, now } = held;
    if (request.state !== "open") throw settledRefusal(request);
    if (until <= now || until > now + LONGEST_SNOOZE_MS) {
      const message = until <= now ? "until must be in the future" : "until must be within 30 days";
      throw refuseFields([{ message, field: "until", constraint: "range" }]);
    }
    const end = snoozeEnd(until, { now, expiresAt: request.expiresAt });
    await upsertSnooze(tx, { requestId, person, until: end });
    tx.wake(INBOX_TOPIC);
    return end;
  });
}

/** Takes a request back into the person's list. Nothing changes where it was not put aside. */
export async function endSnooze(ctx: Pick<Context, "db" | "wake">, { requestId, person }: InInbox): Promise<void> {
  await transact(ctx, async (tx) => {
    await deleteSnoozes(tx, requestId, person);
    tx.wake(INBOX_TOPIC);
  });
}

/** Returns until when the person has put a request aside; null where they have not. */
export async function snoozedUntil(ctx: Pick<Context, "db">, { requestId, person }: InInbox): Promise<number | null> {
  return (await listSnoozes(ctx.db, person, [requestId])).get(requestId) ?? null;
}
