import type { Context } from "../../context.ts";
import type { Request } from "../model/request.ts";
import type { InboundMessage } from "../model/inbound-message.ts";
import { offeredBy } from "../model/view.ts";
import { flat, takeCode } from "../model/reply-grammar.ts";
import { findRequest } from "../store/requests.ts";
import type { Queryable } from "../../core/store/db.ts";
import { isPostedAt, isPostedBy } from "../model/carrier.ts";
import { findDeliveriesByThread, type Delivery } from "../store/deliveries.ts";
import { isNamed, namedDelivery } from "./named-delivery.ts";
import { tokensOf } from "../links/delivery-tokens.ts";

/** A message that a received one answers, with its request. */
export interface Matched {
  delivery: Delivery;
  request: Request;
}

/** The request, if any, that a received message answers. */
export type Found =
  | { kind: "one"; matched: Matched }
  /** The sender has to choose which request the message answers. */
  | { kind: "several"; all: readonly [Matched, ...Matched[]] }
  | { kind: "nothing" };

/**
 * Finds the request that a received message answers: by the request it names, by its code, or as the only request that
 * waits there. `elsewhere` are the messages that wait in the sender's conversation. A reply to a message that is over,
 * or in its thread, answers nothing else that waits.
 */
export async function matchMessage(
  ctx: Context,
  message: InboundMessage,
  elsewhere: readonly Delivery[],
): Promise<Found> {
  const matched = await withRequests(ctx.db, await candidatesOf(ctx.db, message));
  const waiting = await withRequests(ctx.db, elsewhere);
  const code = codeOf(message);
  const byCode = code && [...matched, ...waiting].find(({ delivery }) => tokensOf(ctx, delivery.id).code === code);
  if (byCode) return { kind: "one", matched: byCode };
  const here = matched.filter(({ request }) => request.state === "open");
  const open = distinct(matched.length > 0 ? here : waiting);
  const [only, ...others] = open.length > 0 ? open : matched.slice(0, 1);
  if (!only) return { kind: "nothing" };
  return others.length > 0 ? { kind: "several", all: [only, ...others] } : { kind: "one", matched: only };
}

/** True where an open question of those found offers these very words as an option. */
export function isOffered(found: Found, { content }: InboundMessage): boolean {
  if (found.kind === "nothing" || !("text" in content)) return false;
  const words = flat(content.text);
  const isSameText = (text: string | undefined) => text !== undefined && flat(text) === words;
  const all = found.kind === "one" ? [found.matched] : found.all;
  return all.some(
    ({ request }) =>
      request.state === "open" && offeredBy(request).some(({ name, title }) => isSameText(name) || isSameText(title)),
  );
}

async function withRequests(on: Queryable, deliveries: readonly Delivery[]): Promise<Matched[]> {
  const matched: Matched[] = [];
  for (const delivery of deliveries) {
    const found = await findRequest(on, delivery.requestId);
    if (found) matched.push({ delivery, request: found.request });
  }
  return matched;
}

/** Several messages may be about one request: the newest stands for it. */
function distinct(matched: readonly Matched[]): Matched[] {
  const byAsk = new Map<string, Matched>();
  for (const one of matched) if (!byAsk.has(one.request.id)) byAsk.set(one.request.id, one);
  return [...byAsk.values()];
}

/** On Slack only the app that posted a message receives its replies, and a press is on that very message. */
async function candidatesOf(on: Queryable, { match: by, sender }: InboundMessage): Promise<Delivery[]> {
  const found = isNamed(by)
    ? [await namedDelivery(on, by)].filter((one) => one !== undefined)
    : await findDeliveriesByThread(on, ...("thread" in by ? [by.thread] : by.threads));
  if (sender.kind !== "slack") return found;
  const { app = null, channel } = sender;
  if (!("delivery" in by)) return found.filter(({ target }) => isPostedBy(target, app));
  return found.filter((delivery) => isPostedAt(delivery, { app, channel, ts: by.ts ?? "" }));
}

/** Returns the code in a message. */
export function codeOf({ code, content }: InboundMessage): string | undefined {
  return code?.toUpperCase() ?? ("text" in content ? takeCode(content.text).code?.toUpperCase() : undefined);
}
