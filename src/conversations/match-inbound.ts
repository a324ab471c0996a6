import type { Context } from "../context.ts";
import type { Request } from "../requests/model/request.ts";
import type { InboundMessage } from "../requests/model/inbound-message.ts";
import { offeredBy } from "../requests/model/view.ts";
import { flat, takeCode } from "../requests/model/reply-grammar.ts";
import { findRequest } from "../requests/store/requests.ts";
import type { Conversation } from "./store/conversations.ts";
import type { Queryable } from "../core/store/db.ts";
import { isPostedAt, isPostedBy } from "../requests/model/carrier.ts";
import { findDeliveriesByThread, findDeliveriesInConversation, type Delivery } from "../requests/store/deliveries.ts";
import { isNamed, namedDelivery } from "./named-delivery.ts";
import type { Talking } from "./converse.ts";
import { tokensOf } from "../requests/links/delivery-tokens.ts";

/** A message that a received one answers, with its request. */
export interface Matched {
  delivery: Delivery;
  request: Request;
}

/** The request, if any, that a received message answers. */
export type Found =
  | { is: "one"; matched: Matched }
  /** The sender has to choose which request the message answers. */
  | { is: "several"; all: readonly [Matched, ...Matched[]] }
  | { is: "nothing" };

/**
 * Finds the request that a received message answers: by the request it names, by its code, or as the only request that
 * waits there. A reply to a message that is over, or in its thread, answers nothing else that waits.
 */
export async function matchInbound(ctx: Context, message: InboundMessage, talking: Talking | null): Promise<Found> {
  const matched = await withAsks(ctx.db, await candidatesOf(ctx.db, message));
  const waiting = talking && !isNamed(message.match) ? await waitingIn(ctx.db, message, talking) : [];
  const code = codeOf(message);
  const byCode = code && [...matched, ...waiting].find(({ delivery }) => tokensOf(ctx, delivery.id).code === code);
  if (byCode) return { is: "one", matched: byCode };
  const here = matched.filter(({ request }) => request.state === "open");
  const open = distinct(matched.length > 0 ? here : waiting);
  const [only, ...others] = open.length > 0 ? open : matched.slice(0, 1);
  if (!only) return { is: "nothing" };
  return others.length > 0 ? { is: "several", all: [only, ...others] } : { is: "one", matched: only };
}

/**
 * True for words at the place of a request that is over, if they do not name it by its code. A reply to a message
 * outside of any conversation means that message, and begins nothing.
 */
export function isOver(ctx: Context, found: Found, message: InboundMessage, { going }: Talking): boolean {
  if (found.is !== "one" || found.matched.request.state === "open") return false;
  if (!going && !("thread" in message.match) && !("pair" in message.match)) return false;
  return codeOf(message) !== tokensOf(ctx, found.matched.delivery.id).code;
}

/** True where an open question of those found offers these very words as an option. */
export function isOffered(found: Found, { content }: InboundMessage): boolean {
  if (found.is === "nothing" || !("text" in content)) return false;
  const words = flat(content.text);
  const isSameText = (text: string | undefined) => text !== undefined && flat(text) === words;
  const all = found.is === "one" ? [found.matched] : found.all;
  return all.some(
    ({ request }) =>
      request.state === "open" && offeredBy(request).some(({ name, title }) => isSameText(name) || isSameText(title)),
  );
}

/** Returns what waits in the conversation that words belong to: an unproved author answers nothing but what was sent to him. */
async function waitingIn(
  on: Queryable,
  { sender }: InboundMessage,
  { talk, isReply, going }: Talking,
): Promise<Matched[]> {
  if (!going || !talk.goesOn || !(talk.proved || isReply)) return [];
  const isFromSameApp = ({ target }: Delivery) => sender.kind !== "slack" || isPostedBy(target, sender.app ?? null);
  const all = await findDeliveriesInConversation(on, going.number);
  return withAsks(
    on,
    all.filter((one) => isSame(one.target, going) && isFromSameApp(one)),
  );
}

/** A call whose opener may not decide it goes to others, and waits elsewhere. */
function isSame(target: Delivery["target"], { target: here }: Conversation): boolean {
  return target.via === here.via && "to" in target && "to" in here && target.to === here.to;
}

async function withAsks(on: Queryable, deliveries: readonly Delivery[]): Promise<Matched[]> {
  const matched: Matched[] = [];
  for (const delivery of deliveries) {
    const found = await findRequest(on, delivery.askId);
    if (found) matched.push({ delivery, request: found.request });
  }
  return matched;
}

/** Several messages may be about one ask: the newest stands for it. */
function distinct(matched: readonly Matched[]): Matched[] {
  const byAsk = new Map<string, Matched>();
  for (const one of matched) if (!byAsk.has(one.request.id)) byAsk.set(one.request.id, one);
  return [...byAsk.values()];
}

/** On Slack only the app that posted a message receives its replies, and a press is on that very message. */
async function candidatesOf(on: Queryable, { match: by, sender }: InboundMessage): Promise<Delivery[]> {
  const found = isNamed(by)
    ? [await namedDelivery(on, by)].filter((one) => one !== undefined)
    : await findDeliveriesByThread(on, "thread" in by ? by.thread : by.pair.join("|"));
  if (sender.kind !== "slack") return found;
  const { app = null, channel } = sender;
  if (!("delivery" in by)) return found.filter(({ target }) => isPostedBy(target, app));
  return found.filter((delivery) => isPostedAt(delivery, { app, channel, ts: by.ts ?? "" }));
}

/** Returns the code in a message. */
export function codeOf({ code, content }: InboundMessage): string | undefined {
  return code?.toUpperCase() ?? ("text" in content ? takeCode(content.text).code?.toUpperCase() : undefined);
}
