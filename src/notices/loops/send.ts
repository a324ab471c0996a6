import { DeliveryError } from "../../channels/channel.ts";
import type { Context } from "../../context.ts";
import { asOf } from "../../questions/model/question.ts";
import {
  requestMessage,
  crowdMessage,
  waitingMessage,
  type LockScreen,
  type PushMessage,
  type SendPush,
} from "../model/push-message.ts";
import { quietMsLeft } from "../model/push-settings.ts";
import { listPending } from "../../requests/read.ts";
import { findRequest } from "../../requests/store/requests.ts";
import { findQuestion } from "../../questions/store/questions.ts";
import { countInWindow } from "../../core/store/limit-windows.ts";
import { claimNotice, findDueNotices, updateNotice, type DeviceKind, type PushNotice } from "../store/notices.ts";
import { deactivateIfStillAt, findDevice } from "../store/push-subscriptions.ts";
import { transact } from "../../core/store/transact.ts";

const NOTICES_PER_STEP = 50;
/** Longer than a push service is given to answer. */
const LEASE_MS = 60_000;
const WITHIN_MS = 15_000;
/** Pauses after the first, second and third failure. */
const AGAIN_AFTER_MS = [5000, 30_000, 120_000];

interface Sender {
  send: SendPush;
  /** The kinds of devices that this server can send to. */
  kinds: readonly DeviceKind[];
  /** How much of what somebody is asked a device shows. */
  shows: LockScreen;
}

/**
 * Sends the messages that are due to devices, up to fifty at once; returns whether it found any.
 *
 * Each is a row that was there first and is leased while it is sent: a crash sends it again, and the second takes the
 * place of the first on the device. A question that is final meanwhile is never sent. A subscription that its push
 * service no longer knows ends. Other failures are tried again, never past the deadline (spec/ask-a-human 6).
 */
export async function sendNotices(ctx: Context, sender: Sender, signal: AbortSignal): Promise<boolean> {
  const due = await findDueNotices(ctx.db, NOTICES_PER_STEP);
  await Promise.all(due.map((notice) => (signal.aborted ? undefined : sendOne(ctx, sender, notice, signal))));
  return due.length > 0;
}

async function sendOne(
  ctx: Context,
  { send, kinds, shows }: Sender,
  due: PushNotice,
  stop: AbortSignal,
): Promise<void> {
  const notice = await transact(ctx, (tx) => claimNotice(tx, due, LEASE_MS));
  if (!notice) return;
  // point: notice-claimed
  const settle = (to: Parameters<typeof updateNotice>[2]) => transact(ctx, (tx) => updateNotice(tx, notice, to));

  const device = await findDevice(ctx.db, notice);
  const written = await write(ctx, notice, shows);
  if (!device || !written || !kinds.includes(device.kind)) return settle({ state: "dropped" });
  const quietMs = notice.kind === "addressed" ? quietMsLeft(device.quietHours, written.now) : 0;
  if (quietMs > 0) return settle({ state: "queued", inMs: quietMs, attempt: notice.attempt - 1 });
  const message = await messageFor(ctx, notice, written.message);
  if (message === null) return settle({ state: "dropped" });

  const patience = new AbortController();
  const over = new AbortController();
  void ctx.clock.sleep(WITHIN_MS, over.signal).then(() => patience.abort());
  try {
    await send(device, message, AbortSignal.any([patience.signal, stop]));
    // point: notice-sent
    await settle({ state: "sent" });
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    ctx.log.info({ err: error.message, code: error.providerCode, kind: device.kind }, "a device could not be notified");
    if (error.providerCode === "gone") {
      await transact(ctx, (tx) => deactivateIfStillAt(tx, notice.device, device.address));
    }
    const pauseMs = AGAIN_AFTER_MS[notice.attempt - 1];
    const againMs = pauseMs === undefined ? undefined : Math.max(pauseMs, error.retryAfterMs ?? 0);
    const isWorthIt = error.retry && againMs !== undefined && written.now + againMs < written.expiresAt;
    await settle(isWorthIt ? { state: "queued", inMs: againMs } : { state: "failed" });
  } finally {
    over.abort();
  }
}

/**
 * Returns the message itself, or, for the first that is one too many within the hour, how many requests wait; nothing for
 * those after it. They stand in the inbox. A message that is tried again was counted already.
 */
async function messageFor(ctx: Context, notice: PushNotice, message: PushMessage): Promise<PushMessage | null> {
  if (notice.kind !== "addressed" || notice.attempt > 1) return message;
  const { used } = await transact(ctx, (tx) => countInWindow(tx, "messages to", notice.device));
  const { messagesPerHour } = ctx.addressed;
  if (used <= messagesPerHour) return message;
  if (used > messagesPerHour + 1) return null;
  const { total } = await listPending(ctx, { person: notice.person }, { limit: 1, offset: 0 });
  return waitingMessage(total);
}

/** Returns what the device is to show, or nothing when what it is about is over or kept out of sight. */
async function write(
  ctx: Context,
  { askId, kind }: PushNotice,
  shows: LockScreen,
): Promise<{ message: PushMessage; now: number; expiresAt: number } | null> {
  if (kind === "crowd") {
    const found = await findQuestion(ctx.db, askId);
    if (!found || found.question.held || asOf(found.question, found.now).state !== "open") return null;
    const { question, now } = found;
    return { message: crowdMessage(question, now), now, expiresAt: question.expiresAt };
  }
  const found = await findRequest(ctx.db, askId);
  if (!found || found.request.state !== "open" || found.now >= found.request.expiresAt) return null;
  const { request, now } = found;
  return { message: requestMessage(request, now, shows), now, expiresAt: request.expiresAt };
}
