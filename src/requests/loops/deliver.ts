import { closingSentence } from "../end/closing-sentence.ts";
import { isDeepStrictEqual } from "node:util";
import { DeliveryError, type Channel, type Notice } from "../../channels/channel.ts";
import { OUTSIDE_CHANNELS } from "../../channels/kinds.ts";
import type { Context } from "../../context.ts";
import { LEASE_MS, type Outbox } from "../../core/loops/outbox.ts";
import { openDeadline } from "../../lib/deadline.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import type { Request, Target } from "../model/request.ts";
import { asksBy, leavesOf } from "../model/audience.ts";
import { withoutForgery } from "../model/agent-words.ts";
import { viewInMessage, viewOutside } from "../model/message-view.ts";
import { isGuarded, type RequestView } from "../model/view.ts";
import { findRequest, lockRequest } from "../store/requests.ts";
import { listSnoozes } from "../store/snoozes.ts";
import { appendAudit } from "../../core/store/audit.ts";
import { type Queryable, storeNow, type Tx } from "../../core/store/db.ts";
import { DELIVERIES_TOPIC } from "../../core/store/wake.ts";
import {
  claimDelivery,
  findDeliveriesByThread,
  findDelivery,
  findDeliveryByHash,
  findDueDeliveries,
  hastenDelivery,
  insertDelivery,
  listDeliveries,
  updateDelivery,
  type Delivery,
} from "../store/deliveries.ts";
import { findHuman } from "../../access/store/humans.ts";
import { transact } from "../../core/store/transact.ts";
import { aboutRequest, leafOf, placeOf, planNextChannel } from "../create/create-request.ts";
import { isAddressLost, ownerOf } from "../read/address-of-delivery.ts";
import { digestWords, heldBack } from "../create/hold-back.ts";
import { linkOf, messageNameOf, tokenHashes, tokensOf } from "../links/delivery-tokens.ts";
import { isReadByAsker } from "../model/carrier.ts";
import { noteText, type NoteWords } from "../model/note-words.ts";
import { isRenewal } from "../model/renewal.ts";
import { isPlaceOfTold } from "../model/hand-on.ts";
import { passToStandIn } from "./stand-in.ts";

const LOOK_EVERY_MS = 500;
const SEND_WITHIN_MS = 30_000;
/** The messages of one channel that are sent at one time. */
const AT_ONCE = 8;
/** A provider that asks for a longer pause gets it, up to the last (spec/channels 1.2). */
const RETRIES = { pausesMs: [2000, 10_000, 60_000, 300_000, 900_000], jitter: 0.2, longestMs: 900_000 };
/** Rows that no channel sends: the reminder, and whatever names a channel that is not configured any more. */
const NO_CHANNEL = ["inbox", ...OUTSIDE_CHANNELS];

export interface Deliverer {
  channels: ReadonlyMap<string, Channel>;
  /** Where people reach this server. */
  publicUrl(): string;
}

/** Sends messages. */
export interface Deliver {
  /**
   * Describes the messages to be sent, and those to be closed: an outbox for each channel, so that a provider that hangs
   * delays nobody else's, and one for the rows that no channel sends.
   */
  outboxes(): Outbox<{ id: string; epoch: number }, ClaimedLetter>[];
  /** A message that was sent did not arrive and never will: the person's next channel is tried. */
  bounced(of: { delivery: string } | { thread: string } | { replyToken: string }, code: string): Promise<void>;
}

/**
 * Opens the sender of messages. A crash between a provider's acceptance and our commit sends a message twice, with the
 * same content (spec/channels 1).
 */
export function openDeliver(ctx: Context, deliverer: Deliverer): Deliver {
  const post: Post = { ctx, ...deliverer };
  const { channels } = deliverer;
  return {
    outboxes() {
      const unsendable = NO_CHANNEL.filter((name) => !channels.has(name));
      return [unsendable, ...[...channels.keys()].map((name) => [name])].map((names) => ({
        name: "deliver",
        topic: DELIVERIES_TOPIC,
        idleMs: LOOK_EVERY_MS,
        retries: RETRIES,
        findDue: () => findDueDeliveries(ctx.db, names, AT_ONCE),
        claim: (due, leaseMs) => takeUp(post, due, leaseMs),
        send: (letter, signal) => send(post, letter, signal),
        failed: (letter, error, inMs) => fail(ctx, letter, error, inMs),
      }));
    },
    async bounced(of, code) {
      await transact(ctx, async (tx) => {
        const delivery = await failedOne(tx, of);
        const found = delivery && (await findRequest(tx, delivery.requestId));
        if (!delivery || !found || found.request.state !== "open" || delivery.state !== "sent") return;
        await failIn(ctx, tx, { delivery, request: found.request }, code);
      });
    },
  };
}

function failedOne(on: Queryable, of: Parameters<Deliver["bounced"]>[0]): Promise<Delivery | undefined> {
  if ("delivery" in of) return findDelivery(on, of.delivery);
  if ("replyToken" in of) return findDeliveryByHash(on, sha256Hex(of.replyToken));
  return findDeliveriesByThread(on, of.thread).then(([first]) => first);
}

/** The context and the channels by which messages are sent. */
interface Post extends Deliverer {
  ctx: Context;
}

/** A message, and the request it is about. */
interface Letter {
  delivery: Delivery;
  request: Request;
}

/** A message that this server has claimed, and its channel. */
interface ClaimedLetter extends Letter {
  attempt: number;
  log: { delivery: string };
  channel: Channel;
}

/** Claims a message that is due, and does with it what its request and its person want by now. */
async function takeUp(
  post: Post,
  due: { id: string; epoch: number },
  leaseMs: number,
): Promise<ClaimedLetter | undefined> {
  const { ctx } = post;
  const delivery = await transact(ctx, (tx) => claimDelivery(tx, due, leaseMs));
  const found = delivery && (await findRequest(ctx.db, delivery.requestId));
  if (!delivery || !found) return;
  const { request } = found;
  const letter = { delivery, request };
  if (await isAddressLost(ctx.db, delivery)) return drop(ctx, letter);
  const channel = post.channels.get(delivery.channel);
  const claimed = channel && { ...letter, channel, attempt: delivery.attempt, log: { delivery: delivery.id } };
  if (delivery.state === "closing") return claimed ?? settle(ctx, delivery, "closed");
  if (delivery.kind !== "tell" && request.state !== "open") return settle(ctx, delivery, "skipped");
  if (delivery.kind === "remind" && delivery.channel === "inbox") return remind(ctx, letter);
  if (!claimed) return fail(ctx, letter, new DeliveryError("not configured", { retry: false }), null);
  if (delivery.kind !== "tell" && (await passToStandIn(ctx, delivery, found))) return;
  if (delivery.kind !== "tell" && (await heldBack(ctx, letter))) return;
  return claimed;
}

/** Stores the last state of a message. */
async function settle(ctx: Context, delivery: Delivery, state: "closed" | "skipped"): Promise<undefined> {
  await transact(ctx, (tx) => updateDelivery(tx, delivery, { state }));
}

/** Nothing more is sent to an address that is no longer its person's; what was not sent goes to what took its place. */
async function drop(ctx: Context, letter: Letter): Promise<undefined> {
  const { delivery, request } = letter;
  const state = delivery.state === "closing" ? "closed" : "skipped";
  await transact(ctx, async (tx) => {
    if (!(await updateDelivery(tx, delivery, { state }))) return;
    if (delivery.kind === "ask" && request.state === "open") await planFallback(ctx, tx, letter, { inMs: 0, skip: 0 });
  });
}

async function send(post: Post, letter: ClaimedLetter, signal: AbortSignal): Promise<void> {
  const { ctx } = post;
  const { delivery, request, channel } = letter;
  using within = openDeadline(ctx.clock, SEND_WITHIN_MS, signal);
  if (delivery.state === "closing") {
    const { externalIds, target } = delivery;
    const closing = {
      says: await closingSentence(ctx.db, request),
      at: request.settledAt ?? 0,
      view: viewFor(post, channel, request),
    };
    await channel.close?.(target, { externalIds: externalIds ?? {} }, closing, within.signal);
    return settle(ctx, delivery, "closed");
  }
  if (delivery.kind === "tell") {
    await sendNote(post, letter, within.signal);
    return settle(ctx, delivery, "closed");
  }
  const notice = noticeOf(post, letter, channel);
  // Stored first, because a quick person answers before the sending is noted.
  const shownDigest = notice.whole && !notice.informsOnly ? request.digest : null;
  await transact(ctx, async (tx) => {
    const person = await ownerOf(tx, delivery);
    await updateDelivery(tx, delivery, { state: "sending", inMs: LEASE_MS, shownDigest, person });
  });
  // point: delivery-before-sending
  const { externalIds } = await channel.send(notice, within.signal);
  // point: delivery-sent
  await transact(ctx, (tx) => noteSent(ctx, tx, letter, externalIds));
}

/** Says something in the thread of a message, or, without words of its own, how many messages are held back. */
async function sendNote(post: Post, { delivery, channel }: ClaimedLetter, signal: AbortSignal): Promise<void> {
  const { ctx, publicUrl } = post;
  const { target, words } = delivery;
  if (words !== null) {
    const note = JSON.parse(words) as NoteWords;
    const sent = { externalIds: await threadOf(ctx, delivery), replyToken: replyTokenOf(ctx, target, note) };
    await channel.tell?.(target, sent, noteOf(post, delivery, note), signal);
    return;
  }
  const digest = await digestWords(ctx, delivery, publicUrl());
  if (digest !== null) await channel.tell?.(target, { externalIds: { subject: DIGEST_SUBJECT } }, digest, signal);
}

/** Returns what lets the reader of a note answer the message that it offers, by answering the note. */
function replyTokenOf(ctx: Context, target: Target, { linkOf: delivery }: NoteWords): string | undefined {
  return delivery === undefined || isReadByAsker(target) ? undefined : tokensOf(ctx, delivery).reply;
}

const DIGEST_SUBJECT = "Requests are waiting";

function noteOf(post: Post, { requestId, target }: Delivery, note: NoteWords): string {
  return noteText(note, {
    link: (id) => linkOf(post.ctx, post.publicUrl(), { id, requestId, target }),
    code: (id) => (isReadByAsker(target) ? "" : tokensOf(post.ctx, id).code),
  });
}

function noticeOf(post: Post, { delivery, request }: Letter, channel: Channel): Notice {
  const tokens = tokensOf(post.ctx, delivery.id);
  const view = viewFor(post, channel, request);
  const { argumentsText } = view;
  const isShort = channel.isForPrograms || (argumentsText !== null && argumentsText.length <= channel.wholeLimit);
  const informsOnly = isReadByAsker(delivery.target);
  const notice: Notice = {
    delivery: delivery.id,
    messageName: messageNameOf(post.ctx, delivery.id),
    target: delivery.target,
    view,
    link: linkOf(post.ctx, post.publicUrl(), delivery),
    code: informsOnly ? "" : tokens.code,
    replyToken: informsOnly ? "" : tokens.reply,
    informsOnly,
    whole: true,
    reminder: delivery.kind === "remind",
    renewal: isRenewal(delivery),
    opening: delivery.words === null ? null : withoutForgery(delivery.words, post.publicUrl()),
  };
  if (handedTo(delivery) === null && !asksBy(request.audience, delivery))
    return informing(notice, `${post.publicUrl()}/inbox`);
  if (view.kind !== "approval") return notice;
  return { ...notice, whole: isShort && !isGuarded(request) && (channel.showsWhole?.(notice) ?? true) };
}

/** Returns the notice for somebody who is informed only: it holds no means to decide. */
function informing(notice: Notice, inbox: string): Notice {
  const target = notice.target as Target;
  const recipient: Target = target.via === "email" ? { ...target, informed: true } : target;
  return { ...notice, target: recipient, link: inbox, code: "", replyToken: "", informsOnly: true, whole: false };
}

/** Returns the view for a channel: exact for programs, and without look-alikes of our own words for people. */
function viewFor({ publicUrl }: Post, channel: Channel, request: Request): RequestView {
  return channel.isForPrograms ? viewOutside(request) : viewInMessage(request, publicUrl());
}

async function noteSent(
  ctx: Context,
  tx: Tx,
  letter: Letter,
  externalIds: Readonly<Record<string, string>>,
): Promise<void> {
  const { delivery, request } = letter;
  // The request is locked first: a decision made meanwhile cannot close a message that is not yet stored as sent.
  const now = await lockRequest(tx, request.id);
  const state = now?.request.state === "open" ? "sent" : "closing";
  const { thread } = externalIds;
  const noted = await updateDelivery(tx, delivery, {
    state,
    attempt: 0,
    externalIds,
    ...(thread !== undefined && { thread }),
  });
  if (!noted) return;
  await note(tx, letter, "delivered");
  if (state !== "sent" || delivery.kind !== "ask") return;
  await planFallback(ctx, tx, letter, { inMs: ctx.addressed.fallbackMs, skip: 1 });
}

/**
 * Plans the next channel of a person, `skip` places further, or hastens it if it is planned already. Returns whether a
 * channel was planned. A request to a single address has no further channel.
 */
async function planFallback(
  ctx: Context,
  tx: Tx,
  { delivery, request }: Letter,
  { inMs, skip }: { inMs: number; skip: number },
): Promise<boolean> {
  const leaf = leavesOf(request.audience)[leafOf(delivery.step)];
  const person = leaf?.target.via === "person" ? leaf.target.person : handedTo(delivery);
  const human = person === null ? undefined : await findHuman(tx, person);
  if (!human) return false;
  const place = placeOf(delivery.step);
  const { requestId, words } = delivery;
  const step = delivery.step - place;
  const planned = await planNextChannel(ctx, tx, {
    requestId,
    human,
    step,
    from: place + skip,
    inMs,
    ...(words !== null && { words }),
  });
  if (!planned && inMs === 0)
    for (let i = place + skip; i < human.channels.length; i += 1) await hastenDelivery(tx, requestId, step + i);
  return planned;
}

/** Returns who is handed the request by this message; null for a message that does not hand it on. */
function handedTo({ step, person }: Delivery): string | null {
  return isPlaceOfTold(leafOf(step)) ? person : null;
}

async function fail(ctx: Context, letter: Letter, error: DeliveryError, inMs: number | null): Promise<undefined> {
  const { delivery } = letter;
  const isClosing = delivery.state === "closing";
  const lastError = isClosing ? "not closed" : (error.providerCode ?? (error.retry ? "unreachable" : "refused"));
  if (isClosing || inMs !== null) {
    const state = inMs === null ? "closed" : isClosing ? "closing" : "queued";
    await transact(ctx, (tx) => updateDelivery(tx, delivery, { state, inMs: inMs ?? 0, lastError }));
    return;
  }
  ctx.log.warn({ channel: delivery.channel, delivery: delivery.id, code: lastError }, "a message could not be sent");
  await transact(ctx, (tx) => failIn(ctx, tx, letter, lastError));
}

async function failIn(ctx: Context, tx: Tx, letter: Letter, lastError: string): Promise<void> {
  const { delivery } = letter;
  if (!(await updateDelivery(tx, delivery, { state: "failed", lastError }))) return;
  await note(tx, letter, "delivery_failed");
  if (delivery.kind === "ask" && (await planFallback(ctx, tx, letter, { inMs: 0, skip: 1 })))
    await note(tx, letter, "fell_back");
}

/** Sends a reminder on the newest channel that carried the request, to a person who has put it aside after that. */
async function remind(ctx: Context, { delivery, request }: Letter): Promise<undefined> {
  await transact(ctx, async (tx) => {
    const sent = (await listDeliveries(tx, request.id)).filter(({ kind, state }) => kind === "ask" && state === "sent");
    const newest = sent.at(-1);
    if (newest) {
      const { requestId, channel, target, person } = newest;
      const id = ctx.newId("dlv");
      const aside = person === null ? undefined : (await listSnoozes(tx, person, [requestId])).get(requestId);
      await insertDelivery(tx, {
        id,
        ...tokenHashes(tokensOf(ctx, id)),
        requestId,
        kind: "remind",
        channel,
        target,
        person,
        step: 1,
        inMs: aside === undefined ? 0 : aside - (await storeNow(tx)),
      });
    }
    await updateDelivery(tx, delivery, { state: "closed" });
  });
}

async function threadOf(
  ctx: Context,
  { requestId, channel, target }: Delivery,
): Promise<Readonly<Record<string, string>>> {
  const others = await listDeliveries(ctx.db, requestId);
  const isSame = (other: Delivery) => other.channel === channel && isDeepStrictEqual(other.target, target);
  const one = others.findLast((other) => isSame(other) && other.externalIds);
  return one?.externalIds ?? {};
}

async function note(tx: Tx, { delivery, request }: Letter, action: string): Promise<void> {
  await appendAudit(tx, {
    actor: { kind: "server", id: "parley" },
    ...aboutRequest(request, action),
    via: delivery.channel,
    data: { delivery: delivery.id },
  });
}
