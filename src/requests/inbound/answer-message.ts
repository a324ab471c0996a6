import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import type { Decider, Decision, RefusedAnswer, Request } from "../model/request.ts";
import { inQuotes } from "../model/agent-words.ts";
import { viewInMessage } from "../model/message-view.ts";
import { inForce, isAsked } from "../model/audience.ts";
import { SENDER_RULES, type InboundMessage, type InboundResult } from "../model/inbound-message.ts";
import { Refusal } from "../../refusals.ts";
import { findRequest } from "../store/requests.ts";
import { insertInboundIfNew } from "../store/deliveries.ts";
import { transact } from "../../core/store/transact.ts";
import { isAddressLost } from "../read/address-of-delivery.ts";
import { decideIn, judged, noteRefusedAnswer } from "../decide/decide.ts";
import { linkOf, tokensOf } from "../links/delivery-tokens.ts";
import { decisionOriginOf } from "../decide/decision-origin.ts";
import type { Found, Matched } from "./match-message.ts";
import { meaningOf } from "./meaning.ts";
import { existingResult, refusalResult, refuseStranger } from "./refused.ts";
import { identityOf, responderFor, viaOf } from "./sender.ts";
import { FROM_ELSEWHERE, tellSender } from "./tell-sender.ts";

/**
 * Decides the request that a received message answers, and returns the reply to the sender. The mark that the message
 * was received is part of the same transaction, so that a provider that repeats itself changes nothing twice
 * (spec/channels 1.4). Where several requests wait, the sender is asked for one of them.
 */
export async function answerMessage(
  ctx: Context,
  publicUrl: string,
  message: InboundMessage,
  found: Exclude<Found, { kind: "nothing" }>,
): Promise<InboundResult> {
  if (found.kind === "several") return askWhich(ctx, publicUrl, message, found.all);
  const { matched } = found;
  const link = linkOf(ctx, publicUrl, matched.delivery);
  const result = await answer(ctx, matched, message, link);
  const { says, link: wanted } = result;
  await tellSender(ctx, matched.delivery, result, {
    says,
    ...(wanted !== undefined && { linkOf: matched.delivery.id }),
  });
  return result;
}

/** The result of a message that was received before. */
export const REPEATED: InboundResult = { kind: "repeated", says: "This was heard before." };

/** Marks a message as received; returns whether it was received before. */
export async function isRepeat(ctx: Context, message: InboundMessage): Promise<boolean> {
  return !(await transact(ctx, (tx) => insertInboundIfNew(tx, message.provider, message.id)));
}

/** Asks the sender which of several requests the message answers. */
async function askWhich(
  ctx: Context,
  publicUrl: string,
  message: InboundMessage,
  all: readonly [Matched, ...Matched[]],
): Promise<InboundResult> {
  if (await isRepeat(ctx, message)) return REPEATED;
  const titleOf = (request: Request) => inQuotes(viewInMessage(request, publicUrl).title);
  const lines = all.map(({ request, delivery }) => `${tokensOf(ctx, delivery.id).code}: ${titleOf(request)}`);
  const result = { kind: "not_understood", reason: "unparseable", says: [SEVERAL, ...lines].join("\n") } as const;
  if (!SENDER_RULES[message.sender.kind].isAnsweredAtOnce) {
    const choices = all.map(({ delivery, request }) => ({ delivery: delivery.id, title: titleOf(request) }));
    await tellSender(ctx, all[0].delivery, result, { says: SEVERAL, choices });
  }
  return result;
}

const SEVERAL = "Several requests are waiting. Put the code of the one you mean first:";

async function answer(
  ctx: Context,
  { delivery, request }: Matched,
  message: InboundMessage,
  link: string,
): Promise<InboundResult> {
  const { isProvedByProvider } = SENDER_RULES[message.sender.kind];
  const responder = await responderFor(ctx, delivery, message);
  if (!responder) {
    if (await isRepeat(ctx, message)) return REPEATED;
    const refused = await refuseStranger(ctx, request.id, { via: viaOf(delivery) });
    const isElsewhere = !isProvedByProvider && !(await isAddressLost(ctx.db, delivery));
    return isElsewhere ? { ...refused, says: FROM_ELSEWHERE } : refused;
  }
  // A provider that proves who speaks does so whatever a program has read of the message.
  if (request.state === "open" && delivery.exposedAt !== null && !isProvedByProvider) {
    return (await isRepeat(ctx, message)) ? REPEATED : { kind: "not_understood", says: EXPOSED };
  }
  const decided = await meaningOf(ctx, { request, delivery }, message, link);
  if ("kind" in decided) {
    if (await isRepeat(ctx, message)) return REPEATED;
    if (!(await wasAsked(ctx, request.id, responder))) return refuseStranger(ctx, request.id, responder);
    if (request.state !== "open") return existingResult(ctx.db, request);
    const { reason } = decided;
    if (reason) await noteRefusedAnswer(ctx, request.id, responder, { reason, ...quotedIn(reason, message) });
    return decided;
  }

  try {
    const decision = await judged(ctx, request, { decision: decided.decision, responder });
    const input = { requestId: request.id, responder, origin: decisionOriginOf(ctx, delivery, identityOf(message)) };
    const result = await transact(ctx, async (tx) => {
      if (!(await insertInboundIfNew(tx, message.provider, message.id))) return null;
      return decideIn(ctx, tx, input, decision);
    });
    if (result === null) return REPEATED;
    if (result instanceof Refusal) return refusalResult(ctx, { request, responder, inbound: message, link }, result);
    return { kind: "accepted", says: acceptedSentence(result.request, decided.decision) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === "unavailable") throw error;
    // Its transaction was undone, and with it the mark that this message was received.
    if (await isRepeat(ctx, message)) return REPEATED;
    return refusalResult(ctx, { request, responder, inbound: message, link }, error);
  }
}

const EXPOSED =
  "The link and the reply address of this message stood in words that a program can read, so it answers nothing any more. Answer the newest message about this, or use the inbox.";

async function wasAsked({ db, addressed }: Context, requestId: RequestId, responder: Decider): Promise<boolean> {
  const found = await findRequest(db, requestId);
  if (!found) return false;
  const { request, now } = found;
  return isAsked(inForce(request.audience, addressed.groups), responder, request.form.kind, now - request.createdAt);
}

/** The words are kept where they were not understood. */
function quotedIn(reason: RefusedAnswer["reason"], { content }: InboundMessage): { input?: string } {
  return reason === "unparseable" && "text" in content ? { input: content.text } : {};
}

function acceptedSentence(request: Request, decision: Decision): string {
  if (request.state === "open") return "Recorded: approved. More people have to agree.";
  return `Recorded: ${{ approve: "approved", reject: "rejected", reply: "answered", value: "answered" }[decision.kind]}.`;
}
