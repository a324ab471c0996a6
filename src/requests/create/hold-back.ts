import type { Context } from "../../context.ts";
import { mailboxOf } from "../../lib/mail-address.ts";
import type { Request, Target } from "../model/request.ts";
import { countHeld, insertDelivery, updateDelivery, type Delivery } from "../store/deliveries.ts";
import { countInWindow, readWindow, type LimitState } from "../../core/store/limit-windows.ts";
import { storeNow, type Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { isEnrolled } from "../../access/enroll-human.ts";
import { identityAt } from "../../access/model/identity.ts";

/** How a message is marked that waits because there were too many. */
const HELD = "too_many";
/** How long further messages are gathered before the recipient is informed how many are held. */
const DIGEST_AFTER_MS = 60_000;
const HOUR_MS = 3_600_000;

interface Letter {
  delivery: Delivery;
  request: Request;
}

/**
 * Holds a message back until the hour is over, if its recipient got too many messages, or its agent wrote to too many
 * recipients; returns whether it is held. One message an hour informs a recipient how many wait. The request is in the
 * inbox all the while (spec/channels 1.5).
 *
 * A message is counted when it is first taken up: one that is tried again is the same message. Programs that the operator
 * wrote down take as many as there are.
 */
export async function heldBack(ctx: Context, { delivery, request }: Letter): Promise<boolean> {
  const recipient = recipientOf(delivery);
  if (recipient === null || delivery.attempt > 1) return false;
  // No address stands where limits are counted.
  const to = ctx.keyring.mac("address", recipient);
  return transact(ctx, async (tx) => {
    const crowded = await recipientsOver(tx, { asker: request.asker, to }, ctx.addressed.recipientsPerHour);
    if (crowded) {
      await hold(tx, delivery, crowded);
      ctx.log.warn({ agent: request.asker, delivery: delivery.id }, "an agent writes to too many recipients an hour");
      return true;
    }
    const { messagesPerHour } = ctx.addressed;
    const sent = await countInWindow(tx, "messages to", to);
    if (sent.used <= messagesPerHour) return false;
    await hold(tx, delivery, sent);
    if (sent.used === messagesPerHour + 1) await planDigest(ctx, tx, delivery, sent);
    return true;
  });
}

/** Returns the window of an agent that has written to as many recipients as it may, where this would be one more. */
async function recipientsOver(
  tx: Tx,
  { asker, to }: { asker: string; to: string },
  most: number,
): Promise<LimitState | null> {
  const pair = `${asker} ${to}`;
  if ((await readWindow(tx, "agent to", pair)).used > 0) return null;
  const recipients = await countInWindow(tx, "recipients of", asker);
  if (recipients.used > most) return recipients;
  await countInWindow(tx, "agent to", pair);
  return null;
}

async function hold(tx: Tx, delivery: Delivery, { resetsAt, now }: LimitState): Promise<void> {
  await updateDelivery(tx, delivery, { state: "queued", inMs: resetsAt - now, attempt: 0, lastError: HELD });
}

/** Plans a message without words, which informs how many wait; its text is made when it is sent. */
async function planDigest(ctx: Context, tx: Tx, delivery: Delivery, { now }: LimitState): Promise<void> {
  const { requestId, channel, target, person } = delivery;
  // Steps of its own: other words about a request have steps above zero.
  const step = -Math.floor(now / HOUR_MS);
  const id = ctx.newId("dlv");
  await insertDelivery(tx, { id, requestId, kind: "tell", channel, target, person, step, inMs: DIGEST_AFTER_MS });
}

/** Returns the text for a recipient about held-back messages; null if none is held back any more. */
export async function digestWords(
  ctx: Pick<Context, "db" | "addressed">,
  delivery: Delivery,
  publicUrl: string,
): Promise<string | null> {
  const to = recipientOf(delivery);
  const count = to === null ? 0 : await countHeld(ctx.db, delivery.channel, HELD, (one) => recipientOf(one) === to);
  if (count === 0) return null;
  const at = new Date(await storeNow(ctx.db)).toISOString().slice(0, 16).replace("T", " ");
  const wait = count === 1 ? "1 more request waits" : `${count} more requests wait`;
  const why = `${at} UTC: ${wait} of which no message was sent, because there were ${ctx.addressed.messagesPerHour} within an hour.`;
  const identity = identityAt(delivery.target);
  const hasInbox = delivery.person !== null || identity === null || (await isEnrolled(ctx, identity));
  if (!hasInbox) return `${why} The next messages follow when the hour is over.`;
  return `${why} They stand in the inbox:\n${publicUrl}/inbox`;
}

/**
 * Returns who a message goes to, in the same words for each message to them; null for a program of the operator's.
 * Addresses of one mailbox are one recipient.
 */
function recipientOf({ channel, target }: { channel: string; target: Target }): string | null {
  if (!("to" in target) || target.via === "webhook") return null;
  return `${channel} ${target.via === "email" ? mailboxOf(target.to) : target.to}`;
}
