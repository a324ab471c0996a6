import { DECIDED_ELSEWHERE } from "../requests/end/closing-sentence.ts";
import type { Context } from "../context.ts";
import { SENDER_RULES, type InboundMessage, type InboundResult } from "../requests/model/inbound-message.ts";
import type { Queryable } from "../core/store/db.ts";
import { isPostedBy } from "../requests/model/carrier.ts";
import { findDeliveriesInConversation, type Delivery } from "../requests/store/deliveries.ts";
import { answerMessage, isRepeat, REPEATED } from "../requests/inbound/answer-message.ts";
import { codeOf, isOffered, matchMessage, type Found, type Matched } from "../requests/inbound/match-message.ts";
import { isNamed } from "../requests/inbound/named-delivery.ts";
import { existingResult } from "../requests/inbound/refused.ts";
import { isDecidedBy } from "../requests/inbound/sender.ts";
import { tellSender } from "../requests/inbound/tell-sender.ts";
import { tokensOf } from "../requests/links/delivery-tokens.ts";
import { freezeByWord, tellFrozen } from "./freeze-by-word.ts";
import { converse, talkingOf, type Talking } from "./converse.ts";
import type { Conversation } from "./store/conversations.ts";

/**
 * Handles a message that came through a channel: drops repeats, and lets it answer the request it is for. A message
 * that answers nothing goes to the conversation it belongs to, and one that freezes agents is for nobody else. Resolves with the reply to the sender.
 */
export async function handleInbound(ctx: Context, publicUrl: string, message: InboundMessage): Promise<InboundResult> {
  const talking = await talkingOf(ctx.db, message);
  if (talking?.isKept) return REPEATED;
  const waiting = talking && !isNamed(message.match) ? await waitingIn(ctx.db, message, talking) : [];
  const found = await matchMessage(ctx, message, waiting);
  const frozen = await freezeByWord(ctx, publicUrl, message);
  if (frozen) {
    if (!SENDER_RULES[message.sender.kind].isAnsweredAtOnce) await tellFrozen(ctx, found, frozen);
    return frozen;
  }
  if (message.optionOnly && !isOffered(found, message)) return NOTHING;
  if (talking && !talking.talk.goesOn && found.kind !== "nothing") return REPEATED;
  if (talking && (found.kind === "nothing" || isOver(ctx, found, message, talking))) {
    const passedOn = await converse(ctx, message, talking);
    if (passedOn) return found.kind === "one" ? alsoOver(ctx, found.matched, message, passedOn) : passedOn;
  }
  if (found.kind !== "nothing") return answerMessage(ctx, publicUrl, message, found);
  return (await isRepeat(ctx, message)) ? REPEATED : nothingFor(ctx, message);
}

const NOTHING: InboundResult = { kind: "no_match", says: "Nothing is waiting for an answer from you here." };

/** Adds a sentence for somebody who names a message that has ended, unless this very answer has ended it. */
async function alsoOver(
  ctx: Context,
  { request, delivery }: Matched,
  message: InboundMessage,
  passedOn: InboundResult,
): Promise<InboundResult> {
  if (passedOn.kind !== "passed_on" || !isNamed(message.match) || (await isDecidedBy(ctx.db, request, message)))
    return passedOn;
  const over = await existingResult(ctx.db, request);
  const says = `${over.says} ${passedOn.says}`;
  await tellSender(ctx, delivery, over, { says });
  return { ...passedOn, says };
}

/** A press that leads nowhere is on a message that somebody else posted, or on an older copy of one of ours. */
function nothingFor({ log }: Context, { sender, match }: InboundMessage): InboundResult {
  if (sender.kind !== "slack" || !("delivery" in match)) return NOTHING;
  log.warn({ app: sender.app ?? null, delivery: match.delivery }, "a press was not on the message that was sent");
  return { kind: "no_match", says: DECIDED_ELSEWHERE };
}

/**
 * True for words at the place of a request that is over, if they do not name it by its code. A reply to a message
 * outside of any conversation means that message, and begins nothing.
 */
export function isOver(ctx: Context, found: Found, message: InboundMessage, { going }: Talking): boolean {
  if (found.kind !== "one" || found.matched.request.state === "open") return false;
  if (!going && !("thread" in message.match) && !("pair" in message.match)) return false;
  return codeOf(message) !== tokensOf(ctx, found.matched.delivery.id).code;
}

/** Returns what waits in the conversation that words belong to: an unproved author answers nothing but what was sent to him. */
async function waitingIn(
  on: Queryable,
  { sender }: InboundMessage,
  { talk, isReply, going }: Talking,
): Promise<Delivery[]> {
  if (!going || !talk.goesOn || !(talk.proved || isReply)) return [];
  const isFromSameApp = ({ target }: Delivery) => sender.kind !== "slack" || isPostedBy(target, sender.app ?? null);
  const all = await findDeliveriesInConversation(on, going.number);
  return all.filter((one) => isSame(one.target, going) && isFromSameApp(one));
}

/** A call whose opener may not decide it goes to others, and waits elsewhere. */
function isSame(target: Delivery["target"], { target: here }: Conversation): boolean {
  return target.via === here.via && "to" in target && "to" in here && target.to === here.to;
}
