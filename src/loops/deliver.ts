import { isDeepStrictEqual } from "node:util";
import { DeliveryError, type Channel, type Notice } from "../channels/channel.ts";
import type { Context } from "../context.ts";
import { openDeadline } from "../lib/deadline.ts";
import type { AddressedAsk } from "../model/addressed-ask.ts";
import { isGuarded, viewOutside } from "../model/ask-view.ts";
import { findAddressed, lockAddressed } from "../store/addressed-asks.ts";
import { appendAudit } from "../store/audit.ts";
import type { Tx } from "../store/db.ts";
import {
  claimDelivery,
  findDelivery,
  findDueDeliveries,
  hastenDelivery,
  insertDelivery,
  listDeliveries,
  updateDelivery,
  type Delivery,
} from "../store/deliveries.ts";
import { findHuman } from "../store/humans.ts";
import { transact } from "../store/transact.ts";
import { aboutAsk, placeOf, planNextChannel } from "../verbs/address-ask.ts";
import { tokenHashes, tokensOf } from "../verbs/delivery-tokens.ts";
import { closingSentence } from "../verbs/hear.ts";

/** A claimed message is a rival's again after this. */
const LEASE_MS = 60_000;
const SEND_WITHIN_MS = 30_000;
/** Of one channel at a time: a provider that hangs delays nobody else's messages. */
const AT_ONCE = 8;
/** The pause before each further attempt; a provider that asks for more gets it, up to the last. */
const PAUSES_MS = [2000, 10_000, 60_000, 300_000, 900_000] as const;
const JITTER = 0.2;
/** Rows that no channel sends: the reminder, and whatever names a channel that is not configured any more. */
const NO_CHANNEL = ["inbox", "slack", "email", "sms", "whatsapp", "webhook"] as const;

export interface Deliverer {
  channels: ReadonlyMap<string, Channel>;
  /** Where people reach this server. */
  publicUrl(): string;
}

/** What sends messages. */
export interface Deliver {
  /** Sends what is due and closes what is over; returns whether there was anything. */
  step(signal: AbortSignal): Promise<boolean>;
  /** A message that was sent did not arrive and never will: the person's next channel is tried. */
  bounced(deliveryId: string, code: string): Promise<void>;
}

/**
 * Opens what sends messages: each is claimed from rivals first. A crash between a provider's acceptance and our commit
 * sends twice; both say the same (channels.md, section 1).
 */
export function openDeliver(ctx: Context, deliverer: Deliverer): Deliver {
  const { channels } = deliverer;

  return { step, bounced };

  async function step(signal: AbortSignal): Promise<boolean> {
    const due = await Promise.all([
      findDueDeliveries(
        ctx.db,
        NO_CHANNEL.filter((name) => !channels.has(name)),
        AT_ONCE,
      ),
      ...[...channels.keys()].map((name) => findDueDeliveries(ctx.db, [name], AT_ONCE)),
    ]);
    const found = due.flat();
    await Promise.all(found.map((one) => (signal.aborted ? undefined : handleOne(one, signal))));
    return found.length > 0;
  }

  async function bounced(deliveryId: string, code: string): Promise<void> {
    await transact(ctx, async (tx) => {
      const delivery = await findDelivery(tx, deliveryId);
      const found = delivery && (await findAddressed(tx, delivery.askId));
      if (!delivery || !found || found.ask.state !== "open" || delivery.state !== "sent") return;
      await failIn(tx, delivery, found.ask, code);
    });
  }

  async function handleOne(due: { id: string; epoch: number }, signal: AbortSignal): Promise<void> {
    const delivery = await transact(ctx, (tx) => claimDelivery(tx, due, LEASE_MS));
    const ask = delivery && (await findAddressed(ctx.db, delivery.askId))?.ask;
    if (!delivery || !ask) return;
    const channel = channels.get(delivery.channel);
    if (delivery.state === "closing") return close(delivery, ask, channel, signal);
    if (delivery.kind !== "tell" && ask.state !== "open") {
      await transact(ctx, (tx) => updateDelivery(tx, delivery, { state: "skipped" }));
      return;
    }
    if (delivery.kind === "remind" && delivery.channel === "inbox") return remind(delivery, ask);
    if (!channel) return fail(delivery, ask, new DeliveryError("not configured", { retry: false }));
    await send(delivery, ask, channel, signal);
  }

  async function send(delivery: Delivery, ask: AddressedAsk, channel: Channel, signal: AbortSignal): Promise<void> {
    using within = openDeadline(ctx.clock, SEND_WITHIN_MS, signal);
    try {
      if (delivery.kind === "tell") {
        const sent = { externalIds: await threadOf(delivery) };
        await channel.tell?.(delivery.target, sent, delivery.words ?? "", within.signal);
        await transact(ctx, (tx) => updateDelivery(tx, delivery, { state: "closed" }));
        return;
      }
      const notice = noticeOf(delivery, ask, channel);
      // Whoever is quick answers before the sending is noted.
      const shownDigest = notice.whole ? ask.digest : null;
      await transact(ctx, (tx) => updateDelivery(tx, delivery, { state: "sending", inMs: LEASE_MS, shownDigest }));
      // point: delivery-before-sending
      const { externalIds } = await channel.send(notice, within.signal);
      // point: delivery-sent
      await transact(ctx, (tx) => noteSent(tx, delivery, ask, externalIds));
    } catch (error) {
      if (signal.aborted) return;
      const failure =
        error instanceof DeliveryError ? error : new DeliveryError("failed", { retry: true, cause: error });
      if (!(error instanceof DeliveryError)) ctx.log.error({ err: error, delivery: delivery.id }, "a channel failed");
      await fail(delivery, ask, failure);
    }
  }

  function noticeOf(delivery: Delivery, ask: AddressedAsk, channel: Channel): Notice {
    const tokens = tokensOf(ctx, delivery.id);
    const view = viewOutside(ask);
    const isShort = (view.argumentsText?.length ?? 0) <= channel.wholeLimit;
    return {
      delivery: delivery.id,
      target: delivery.target,
      view,
      link: `${deliverer.publicUrl()}/r/${tokens.link}`,
      code: tokens.code,
      replyToken: tokens.reply,
      whole: view.kind !== "approval" || (isShort && !isGuarded(ask)),
      reminder: delivery.kind === "remind",
      opening: delivery.words,
    };
  }

  async function noteSent(
    tx: Tx,
    delivery: Delivery,
    ask: AddressedAsk,
    externalIds: Readonly<Record<string, string>>,
  ): Promise<void> {
    // Whoever decides meanwhile cannot close what is not known to be sent, so the ask is held first.
    const now = await lockAddressed(tx, ask.id);
    const state = now?.ask.state === "open" ? "sent" : "closing";
    const { thread } = externalIds;
    const noted = await updateDelivery(tx, delivery, {
      ...{ state, attempt: 0, externalIds },
      ...(thread !== undefined && { thread }),
    });
    if (!noted) return;
    await note(tx, ask, "delivered", delivery);
    if (state !== "sent" || delivery.kind !== "ask") return;
    await planFallback(tx, delivery, ctx.addressed.fallbackMs);
  }

  /** Plans the person's next channel, or hastens it where it is planned. Returns whether there is one. */
  async function planFallback(tx: Tx, delivery: Delivery, inMs: number): Promise<boolean> {
    const human = delivery.person === null ? undefined : await findHuman(tx, delivery.person);
    if (!human) return false;
    const place = placeOf(delivery.step);
    const { askId, words } = delivery;
    const step = delivery.step - place;
    const planned = await planNextChannel(ctx, tx, {
      ...{ askId, human, step, from: place + 1, inMs },
      ...(words !== null && { words }),
    });
    if (!planned && inMs === 0)
      for (let i = place + 1; i < human.channels.length; i += 1) await hastenDelivery(tx, askId, step + i);
    return planned;
  }

  async function fail(delivery: Delivery, ask: AddressedAsk, error: DeliveryError): Promise<void> {
    const pause = PAUSES_MS[delivery.attempt - 1];
    const lastError = error.providerCode ?? (error.retry ? "unreachable" : "refused");
    if (error.retry && pause !== undefined) {
      const wanted = Math.min(error.retryAfterMs ?? 0, PAUSES_MS[PAUSES_MS.length - 1] ?? 0);
      const inMs = Math.max(wanted, pause * (1 + JITTER * ((ctx.random(1)[0] ?? 0) / 255)));
      const state = delivery.state === "closing" ? "closing" : "queued";
      await transact(ctx, (tx) => updateDelivery(tx, delivery, { state, inMs: Math.round(inMs), lastError }));
      return;
    }
    ctx.log.warn({ channel: delivery.channel, delivery: delivery.id, code: lastError }, "a message could not be sent");
    await transact(ctx, (tx) => failIn(tx, delivery, ask, lastError));
  }

  async function failIn(tx: Tx, delivery: Delivery, ask: AddressedAsk, lastError: string): Promise<void> {
    if (!(await updateDelivery(tx, delivery, { state: "failed", lastError }))) return;
    await note(tx, ask, "delivery_failed", delivery);
    if (delivery.kind === "ask" && (await planFallback(tx, delivery, 0))) await note(tx, ask, "fell_back", delivery);
  }

  async function close(
    delivery: Delivery,
    ask: AddressedAsk,
    channel: Channel | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    using within = openDeadline(ctx.clock, SEND_WITHIN_MS, signal);
    try {
      const closing = { says: await closingSentence(ctx.db, ask), at: ask.settledAt ?? 0, view: viewOutside(ask) };
      await channel?.close?.(delivery.target, { externalIds: delivery.externalIds ?? {} }, closing, within.signal);
      await transact(ctx, (tx) => updateDelivery(tx, delivery, { state: "closed" }));
    } catch (error) {
      if (signal.aborted) return;
      const failure =
        error instanceof DeliveryError ? error : new DeliveryError("failed", { retry: true, cause: error });
      const pause = PAUSES_MS[delivery.attempt - 1];
      const isOver = !failure.retry || pause === undefined;
      await transact(ctx, (tx) =>
        updateDelivery(tx, delivery, {
          state: isOver ? "closed" : "closing",
          inMs: pause ?? 0,
          lastError: "not closed",
        }),
      );
    }
  }

  /** Tells everybody once more on the newest channel that carried the ask. */
  async function remind(delivery: Delivery, ask: AddressedAsk): Promise<void> {
    await transact(ctx, async (tx) => {
      const sent = (await listDeliveries(tx, ask.id)).filter(({ kind, state }) => kind === "ask" && state === "sent");
      const newest = sent.at(-1);
      if (newest) {
        const { askId, channel, target, person } = newest;
        const id = ctx.newId("dlv");
        await insertDelivery(tx, {
          id,
          ...tokenHashes(tokensOf(ctx, id)),
          askId,
          kind: "remind",
          channel,
          target,
          person,
          step: 1,
          inMs: 0,
        });
      }
      await updateDelivery(tx, delivery, { state: "closed" });
    });
  }

  async function threadOf({ askId, channel, target }: Delivery): Promise<Readonly<Record<string, string>>> {
    const others = await listDeliveries(ctx.db, askId);
    const isSame = (other: Delivery) => other.channel === channel && isDeepStrictEqual(other.target, target);
    const one = others.findLast((other) => isSame(other) && other.externalIds);
    return one?.externalIds ?? {};
  }

  async function note(tx: Tx, ask: AddressedAsk, action: string, delivery: Delivery): Promise<void> {
    await appendAudit(tx, {
      actor: { kind: "server", id: "parley" },
      ...aboutAsk(ask, action),
      via: delivery.channel,
      data: { delivery: delivery.id },
    });
  }
}
