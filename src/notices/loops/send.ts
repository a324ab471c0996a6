import type { Context } from "../../context.ts";
import type { Outbox } from "../../core/loops/outbox.ts";
import { openDeadline } from "../../lib/deadline.ts";
import { asOf } from "../../questions/model/question.ts";
import {
  requestMessage,
  crowdMessage,
  waitingMessage,
  type LockScreen,
  type PushDevice,
  type PushMessage,
  type SendPush,
} from "../model/push-message.ts";
import { quietMsLeft } from "../model/push-settings.ts";
import { standInFor } from "../../requests/inbox/away.ts";
import { wordsOfTold } from "../../requests/inbox/hand-on.ts";
import { listPending } from "../../requests/read/read-request.ts";
import { insertRequestNotices } from "../../requests/store/device-notices.ts";
import { findRequest } from "../../requests/store/requests.ts";
import { findQuestion } from "../../questions/store/questions.ts";
import { countInWindow } from "../../core/store/limit-windows.ts";
import { claimNotice, findDueNotices, updateNotice, type DeviceKind, type PushNotice } from "../store/notices.ts";
import { deactivateIfStillAt, findDevice } from "../store/push-subscriptions.ts";
import { transact } from "../../core/store/transact.ts";

const LOOK_EVERY_MS = 1000;
const AT_ONCE = 50;
const WITHIN_MS = 15_000;
const RETRIES = { pausesMs: [5000, 30_000, 120_000], jitter: 0, longestMs: Infinity };

interface Sender {
  send: SendPush;
  /** The kinds of devices that this server can send to. */
  kinds: readonly DeviceKind[];
  /** How much of what somebody is asked a device shows. */
  shows: LockScreen;
}

/** A message that this server has claimed, as its device is to show it. */
interface ClaimedNotice {
  attempt: number;
  log: { device: string };
  notice: PushNotice;
  device: PushDevice;
  message: PushMessage;
  /** How long the message is of use, from when it was written. */
  leftMs: number;
}

/**
 * Describes the messages to devices. A crash sends one again, and the second takes the place of the first on the device. A
 * question that is final meanwhile is never sent. A subscription that its push service no longer knows ends. Other
 * failures are tried again, never past the deadline (spec/ask-a-human 6).
 */
export function noticeOutbox(ctx: Context, sender: Sender): Outbox<PushNotice, ClaimedNotice> {
  async function settle(notice: PushNotice, to: Parameters<typeof updateNotice>[2]): Promise<undefined> {
    await transact(ctx, (tx) => updateNotice(tx, notice, to));
  }
  return {
    name: "send notices",
    idleMs: LOOK_EVERY_MS,
    retries: RETRIES,
    findDue: () => findDueNotices(ctx.db, AT_ONCE),
    async claim(due, leaseMs) {
      const notice = await transact(ctx, (tx) => claimNotice(tx, due, leaseMs));
      if (!notice) return;
      // point: notice-claimed
      const device = await findDevice(ctx.db, notice);
      const written = await write(ctx, notice, sender.shows);
      if (!device || !written || !sender.kinds.includes(device.kind)) return settle(notice, { state: "dropped" });
      const quietMs = notice.kind === "addressed" ? quietMsLeft(device.quietHours, written.now) : 0;
      if (quietMs > 0) return settle(notice, { state: "queued", inMs: quietMs, attempt: notice.attempt - 1 });
      const message = await messageFor(ctx, notice, written.message);
      if (message === null) return settle(notice, { state: "dropped" });
      const leftMs = written.expiresAt - written.now;
      return { attempt: notice.attempt, log: { device: notice.device }, notice, device, message, leftMs };
    },
    async send({ notice, device, message }, signal) {
      using within = openDeadline(ctx.clock, WITHIN_MS, signal);
      await sender.send(device, message, within.signal);
      // point: notice-sent
      await settle(notice, { state: "sent" });
    },
    async failed({ notice, device, leftMs }, { message: err, providerCode: code }, inMs) {
      ctx.log.info({ err, code, kind: device.kind }, "a device could not be notified");
      if (code === "gone") await transact(ctx, (tx) => deactivateIfStillAt(tx, notice.device, device.address));
      await settle(notice, inMs !== null && inMs < leftMs ? { state: "queued", inMs } : { state: "failed" });
    },
  };
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
  { subjectId, kind, person }: PushNotice,
  shows: LockScreen,
): Promise<{ message: PushMessage; now: number; expiresAt: number } | null> {
  if (kind === "crowd") {
    const found = await findQuestion(ctx.db, subjectId);
    if (!found || found.question.held || asOf(found.question, found.now).state !== "open") return null;
    const { question, now } = found;
    return { message: crowdMessage(question, now), now, expiresAt: question.expiresAt };
  }
  const found = await findRequest(ctx.db, subjectId);
  if (!found || found.request.state !== "open" || found.now >= found.request.expiresAt) return null;
  const { request, now } = found;
  const told = await wordsOfTold(ctx, request, person);
  const standIn = told === undefined ? await standInFor(ctx, found, person) : undefined;
  if (standIn) {
    await transact(ctx, (tx) => insertRequestNotices(tx, request.id, [standIn.person], { inMs: 0 }));
    return null;
  }
  return { message: requestMessage(request, now, { shows, told }), now, expiresAt: request.expiresAt };
}
