import { closingSentence, DECIDED_IN_INBOX, DECIDED_ELSEWHERE } from "../requests/closing-sentence.ts";
import type { Context } from "../context.ts";
import { VIAS } from "../requests/model/request.ts";
import type { Decider, Decision, RefusedAnswer, Request, Via } from "../requests/model/request.ts";
import type { Identity } from "../access/model/identity.ts";
import { inQuotes } from "../requests/model/agent-words.ts";
import { viewInMessage } from "../requests/model/view.ts";
import { isAsked, readerOf } from "../requests/model/audience.ts";
import type { InboundMessage, InboundResult } from "../requests/model/inbound-message.ts";
import { decisionOfReply } from "../requests/model/decision-of-reply.ts";
import { isMailboxOf } from "../lib/mail-address.ts";
import { Refusal } from "../refusals.ts";
import { findRequest } from "../requests/store/requests.ts";
import type { Queryable } from "../core/store/db.ts";
import { insertDelivery, insertInboundIfNew, type Delivery } from "../requests/store/deliveries.ts";
import { findHumanByIdentity, findHumanByNumber, listIdentities } from "../access/store/humans.ts";
import { transact } from "../core/store/transact.ts";
import { isAddressLost } from "../requests/address-of-delivery.ts";
import { converse, talkingOf } from "./converse.ts";
import { decideIn, judged, noteRefusedAnswer } from "../requests/decide.ts";
import { isReadByAsker } from "../requests/model/carrier.ts";
import { linkOf, tokensOf } from "../requests/links/delivery-tokens.ts";
import type { NoteWords } from "../requests/model/note-words.ts";
import { isNamed } from "./named-delivery.ts";
import { codeOf, isOffered, isOver, matchInbound, type Matched } from "./match-inbound.ts";
import { decisionOriginOf } from "../requests/decision-origin.ts";
import { tryCode } from "../requests/links/try-code.ts";

const TELLS_PER_HOUR = 3;

/**
 * Handles a message that came through a channel: drops repeats, finds the request it answers, its sender and its
 * meaning, and decides. All changes are one transaction with the mark that it was received, so that a provider that
 * repeats itself changes nothing twice (spec/channels 1.4). Resolves with the reply to the sender.
 */
export async function handleInbound(ctx: Context, publicUrl: string, message: InboundMessage): Promise<InboundResult> {
  const talking = await talkingOf(ctx.db, message);
  if (talking?.isKept) return REPEATED;
  const found = await matchInbound(ctx, message, talking);
  if (message.optionOnly && !isOffered(found, message)) return NOTHING;
  if (talking && !talking.talk.goesOn && found.is !== "nothing") return REPEATED;
  if (talking && (found.is === "nothing" || isOver(ctx, found, message, talking))) {
    const passedOn = await converse(ctx, message, talking);
    if (passedOn) return found.is === "one" ? alsoOver(ctx, found.matched, message, passedOn) : passedOn;
  }
  if (found.is !== "one") {
    if (await isRepeat(ctx, message)) return REPEATED;
    if (found.is === "nothing") return nothingFor(ctx, message);
    const list = listOf(ctx, publicUrl, found.all);
    const listed = found.all.map(({ delivery, request }) => ({
      delivery: delivery.id,
      title: titleOf(request, publicUrl),
    }));
    // Elsewhere the channel itself says which there are.
    if (message.sender.kind === "email")
      await tellLater(ctx, found.all[0].delivery, list, { says: SEVERAL, choices: listed });
    return list;
  }
  const { matched } = found;
  const link = linkOf(ctx, publicUrl, matched.delivery);
  const result = await answer(ctx, matched, message, link);
  const { says, link: wanted } = result;
  await tellLater(ctx, matched.delivery, result, {
    says,
    ...(wanted !== undefined && { linkOf: matched.delivery.id }),
  });
  return result;
}

const REPEATED: InboundResult = { is: "repeated", says: "This was heard before." };
const NOTHING: InboundResult = { is: "no_match", says: "Nothing is waiting for an answer from you here." };

/** Adds a sentence for somebody who names a message that has ended, unless this very answer has ended it. */
async function alsoOver(
  ctx: Context,
  { request, delivery }: Matched,
  message: InboundMessage,
  passedOn: InboundResult,
): Promise<InboundResult> {
  if (passedOn.is !== "passed_on" || !isNamed(message.match) || (await isEndedBy(ctx.db, request, message)))
    return passedOn;
  const over = await existingResult(ctx.db, request);
  const says = `${over.says} ${passedOn.says}`;
  await tellLater(ctx, delivery, over, { says });
  return { ...passedOn, says };
}

async function isEndedBy(on: Queryable, { outcome }: Request, message: InboundMessage): Promise<boolean> {
  const from = identityOf(message);
  if (!from || !outcome?.by) return false;
  const human = await findHumanByIdentity(on, from);
  return [human?.person, readerOf(from)].includes(outcome.by.id);
}

/** A press that leads nowhere is on a message that somebody else posted, or on an older copy of one of ours. */
function nothingFor({ log }: Context, { sender, match }: InboundMessage): InboundResult {
  if (sender.kind !== "slack" || !("delivery" in match)) return NOTHING;
  log.warn({ app: sender.app ?? null, delivery: match.delivery }, "a press was not on the message that was sent");
  return { is: "no_match", says: DECIDED_ELSEWHERE };
}

/** Asks the sender which of several requests the message answers. */
function listOf(ctx: Context, publicUrl: string, all: readonly Matched[]): InboundResult {
  const list = all.map(({ request, delivery }) => `${tokensOf(ctx, delivery.id).code}: ${titleOf(request, publicUrl)}`);
  return { is: "not_understood", reason: "unparseable", says: [SEVERAL, ...list].join("\n") };
}

const SEVERAL = "Several requests are waiting. Put the code of the one you mean first:";

function titleOf(request: Request, publicUrl: string): string {
  return inQuotes(viewInMessage(request, publicUrl).title);
}

async function isRepeat(ctx: Context, message: InboundMessage): Promise<boolean> {
  return !(await transact(ctx, (tx) => insertInboundIfNew(tx, message.provider, message.id)));
}

async function answer(
  ctx: Context,
  { delivery, request }: Matched,
  message: InboundMessage,
  link: string,
): Promise<InboundResult> {
  const responder = await responderFor(ctx, delivery, message);
  if (!responder) {
    if (await isRepeat(ctx, message)) return REPEATED;
    const refused = await refuseStranger(ctx, request.id, { via: viaOf(delivery) });
    const isElsewhere = message.sender.kind === "email" && !(await isAddressLost(ctx.db, delivery));
    return isElsewhere ? { ...refused, says: FROM_ELSEWHERE } : refused;
  }
  // Elsewhere a provider's signature proves who speaks, whatever a program has read of the message.
  if (request.state === "open" && delivery.exposedAt !== null && message.sender.kind === "email") {
    return (await isRepeat(ctx, message)) ? REPEATED : { is: "not_understood", says: EXPOSED };
  }
  const decided = await meaningOf(ctx, { request, delivery }, message, link);
  if ("is" in decided) {
    if (await isRepeat(ctx, message)) return REPEATED;
    if (!(await wasAsked(ctx.db, request.id, responder))) return refuseStranger(ctx, request.id, responder);
    if (request.state !== "open") return existingResult(ctx.db, request);
    const { reason } = decided;
    if (reason) await noteRefusedAnswer(ctx, request.id, responder, { reason, ...quotedIn(reason, message) });
    return decided;
  }

  try {
    const decision = await judged(ctx, request, { decision: decided.decision, responder });
    const input = { askId: request.id, responder, origin: decisionOriginOf(ctx, delivery, identityOf(message)) };
    const result = await transact(ctx, async (tx) => {
      if (!(await insertInboundIfNew(tx, message.provider, message.id))) return null;
      return decideIn(ctx, tx, input, decision);
    });
    if (result === null) return REPEATED;
    if (result instanceof Refusal) return refusalResult(ctx, { request, responder, inbound: message, link }, result);
    return { is: "accepted", says: acceptedSentence(result.request, decided.decision) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === "unavailable") throw error;
    // Its transaction was undone, and with it the mark that this message was received.
    if (await isRepeat(ctx, message)) return REPEATED;
    return refusalResult(ctx, { request, responder, inbound: message, link }, error);
  }
}

const EXPOSED =
  "The link and the reply address of this message stood in words that a program can read, so it answers nothing any more. Answer the newest message about this, or use the inbox.";

/** The recipient reads this: many people have several addresses, and their programs answer from any. */
const FROM_ELSEWHERE =
  "A mail from another address than this one answered this message, and does not count. Answer from this address, on the page, or in the inbox.";

/** A Message-ID is known to everybody who gets a reply to all: it proves nothing without a signature. */
const UNPROVED_BY_ID =
  "This mail names a message, but was not sent to its reply address, and nobody has signed that it was for us. Answer on the page.";

/** Returns the person whom a provider proved to be the sender, with all their known identities. */
export async function knownBy(
  on: Queryable,
  via: Via,
  proved: Identity,
  more: Pick<Decider, "slackMember"> = {},
): Promise<Decider> {
  const human = await findHumanByIdentity(on, proved);
  const identities = human ? await listIdentities(on, human.person) : [proved];
  return {
    via,
    person: human?.person ?? null,
    identities,
    seesAll: human?.seesAll ?? false,
    called: proved.value,
    ...more,
  };
}

/** Returns who is speaking, if it is somebody the message was sent to, or who is known by what the provider proved. */
async function responderFor(ctx: Context, delivery: Delivery, message: InboundMessage): Promise<Decider | null> {
  const on = ctx.db;
  const { sender } = message;
  const { target } = delivery;
  const via = viaOf(delivery);
  if (await isAddressLost(on, delivery)) return null;
  if (sender.kind === "human") {
    const number = /^\d{1,15}$/.test(sender.id) ? Number(sender.id) : undefined;
    const human = number === undefined ? undefined : await findHumanByNumber(on, number);
    // A target speaks only of what was sent to it, and for its own people.
    if (!human || target.via !== "webhook" || target.to !== sender.webhook) return null;
    if (!target.people.includes(human.person)) return null;
    return { via, person: human.person, identities: [], seesAll: human.seesAll, webhook: target.to };
  }
  if (sender.kind === "slack" && !sender.member) return null;
  // A token or a number speaks only for the address that its message was sent to.
  if (sender.kind === "email") {
    if (target.via !== "email" || !isMailboxOf(sender.id, target.to)) return null;
    return knownBy(ctx.db, via, { kind: "email", value: target.to });
  }
  if (sender.kind === "phone" && (!("to" in target) || target.to !== sender.id)) return null;

  const slackMember = sender.kind === "slack" && {
    channel: sender.channel,
    mayApprove: ctx.addressed.slackMembersApprove,
  };
  return knownBy(ctx.db, via, { kind: sender.kind, value: sender.id }, { ...(slackMember && { slackMember }) });
}

/** Returns the address that something came from; none where a program speaks for somebody. */
function identityOf({ sender: { kind, id } }: InboundMessage): Identity | null {
  return kind === "human" ? null : { kind, value: id };
}

function viaOf({ channel }: Delivery): Via {
  return VIAS.find((via) => via === channel) ?? "web";
}

/** Returns the decision that a message states, or why it cannot be one. Never guesses. */
async function meaningOf(
  ctx: Context,
  { request, delivery }: Matched,
  inbound: InboundMessage,
  link: string,
): Promise<{ decision: Decision } | InboundResult> {
  const decision = decisionOfReply(request, inbound, tokensOf(ctx, delivery.id).code);
  if (!decision) {
    const says =
      request.form.kind === "approval"
        ? "This was not understood. Answer with exactly “approve”, or “reject” and a reason."
        : "This was not understood.";
    return { is: "not_understood", says, reason: "unparseable", link };
  }
  if (inbound.trust === "none" && !inbound.talk?.proved) {
    return { is: "needs_page", says: UNPROVED_BY_ID, reason: "sender_unverified", link };
  }
  const isPress = "choice" in inbound.content;
  if (isReadByAsker(delivery.target) && (decision.kind === "approve" || !("text" in inbound.content)))
    return { is: "needs_page", says: DECIDED_IN_INBOX, link };
  if (decision.kind === "approve") {
    const onPage = (says: string, reason?: RefusedAnswer["reason"]): InboundResult => ({
      is: "needs_page",
      says,
      link,
      ...(reason && { reason }),
    });
    if (delivery.shownDigest === null) return onPage("The arguments are longer than fits here. Confirm on the page.");
    if (inbound.trust === "weak" || inbound.trust === "none")
      return onPage("Your address could not be verified. Confirm on the page.", "sender_unverified");
    if (inbound.sender.kind === "slack" && !isPress) return onPage("To approve, please press the button.");
    if (inbound.sender.kind === "human" && inbound.digest === undefined) {
      return onPage("An approval has to name the digest that was shown.", "digest_mismatch");
    }
    if (inbound.sender.kind === "phone" && !isPress) {
      const tried = await tryCode(ctx, delivery, codeOf(inbound));
      if (tried === "locked") return { is: "locked", says: "Too many wrong codes: confirm in the inbox." };
      if (tried === "wrong") {
        return onPage(
          "The code of the message is missing or wrong. Send YES and the code, or confirm on the page.",
          "code_missing",
        );
      }
    }
    return { decision: { ...decision, digest: inbound.digest ?? delivery.shownDigest } };
  }
  return { decision };
}

/** Keeps the words of people who were not asked from the agent (spec/a2h 5.5). */
async function refuseStranger(ctx: Context, askId: string, { via }: Pick<Decider, "via">): Promise<InboundResult> {
  const reason = "responder_not_allowed";
  await noteRefusedAnswer(ctx, askId, { via, person: null, identities: [] }, { reason });
  return { is: "not_allowed", says: "You were not asked.", reason };
}

async function wasAsked(on: Queryable, askId: string, responder: Decider): Promise<boolean> {
  const found = await findRequest(on, askId);
  if (!found) return false;
  const { request, now } = found;
  return isAsked(request.audience, responder, request.form.kind, now - request.createdAt);
}

/** The words are kept where they were not understood. */
function quotedIn(reason: RefusedAnswer["reason"], { content }: InboundMessage): { input?: string } {
  return reason === "unparseable" && "text" in content ? { input: content.text } : {};
}

async function refusalResult(
  ctx: Context,
  of: { request: Request; responder: Decider; inbound: InboundMessage; link: string },
  refusal: Refusal,
): Promise<InboundResult> {
  const { request, responder, inbound, link } = of;
  const { code } = refusal;
  if (code === "already_decided" || code === "request_expired" || code === "request_cancelled") {
    const now = await findRequest(ctx.db, request.id);
    return existingResult(ctx.db, now?.request ?? request);
  }
  if (code === "not_asked" || code === "self_response") return refuseStranger(ctx, request.id, responder);
  if (code === "not_counted") {
    await noteRefusedAnswer(ctx, request.id, responder, { reason: "responder_not_allowed" });
    return { is: "not_allowed", says: refusal.message, reason: "responder_not_allowed" };
  }
  if (code === "unknown_option") {
    const options = refusal.details["options"] as readonly string[];
    const { content } = inbound;
    const input =
      "text" in content
        ? content.text
        : "choice" in content && "name" in content.choice
          ? content.choice.name
          : undefined;
    await noteRefusedAnswer(ctx, request.id, responder, { reason: code, ...(input !== undefined && { input }) });
    return { is: "not_understood", says: refusal.message, reason: code, options, link };
  }
  if (code === "answer_misfit") {
    const errors = refusal.details["errors"] as NonNullable<RefusedAnswer["errors"]>;
    const input = "text" in inbound.content ? inbound.content.text : undefined;
    await noteRefusedAnswer(ctx, request.id, responder, {
      reason: "schema",
      ...(input !== undefined && { input }),
      errors,
    });
    const wrong = errors.map(({ path, message }) => `${path || "the answer"} ${message}`).join("; ");
    return { is: "not_understood", says: `This does not fit: ${wrong}.`, reason: "schema", link };
  }
  if (code === "digest_mismatch") {
    await noteRefusedAnswer(ctx, request.id, responder, { reason: "digest_mismatch" });
    return { is: "needs_page", says: refusal.message, reason: "digest_mismatch", link };
  }
  return { is: "not_understood", says: refusal.message, reason: "unparseable", link };
}

/** Returns how an ask that is over ended, in words for somebody who comes late. */
async function existingResult(on: Queryable, request: Request): Promise<InboundResult> {
  return { is: "already_decided", says: `This is over: ${await closingSentence(on, request)}` };
}

function acceptedSentence(request: Request, decision: Decision): string {
  if (request.state === "open") return "Recorded: approved. More people have to agree.";
  return `Recorded: ${{ approve: "approved", reject: "rejected", reply: "answered", value: "answered" }[decision.kind]}.`;
}

/**
 * The channels on which an answer arrives long after it was sent: there the result goes out as a message of its own.
 */
const RESULT_BY_MESSAGE = new Set(["email", "sms", "whatsapp"]);

/** The recipient reads nothing about an answer that was taken, or about a stranger but for `FROM_ELSEWHERE`. */
const CONCERNS_RECIPIENT: ReadonlySet<InboundResult["is"]> = new Set([
  "not_understood",
  "needs_page",
  "already_decided",
  "locked",
]);

async function tellLater(
  ctx: Context,
  delivery: Delivery,
  result: Pick<InboundResult, "is" | "says">,
  note: NoteWords,
): Promise<void> {
  if (!RESULT_BY_MESSAGE.has(delivery.channel)) return;
  if (!CONCERNS_RECIPIENT.has(result.is) && result.says !== FROM_ELSEWHERE) return;
  await transact(ctx, async (tx) => {
    // Steps of a delivery's own: three words an hour and no more.
    const { now } = (await findRequest(tx, delivery.askId)) ?? { now: 0 };
    const hour = Math.floor(now / 3_600_000);
    for (let i = 0; i < TELLS_PER_HOUR; i += 1) {
      const planned = await insertDelivery(tx, {
        id: ctx.newId("dlv"),
        askId: delivery.askId,
        kind: "tell",
        channel: delivery.channel,
        target: delivery.target,
        person: delivery.person,
        step: hour * TELLS_PER_HOUR + i,
        inMs: 0,
        words: JSON.stringify(note),
      });
      if (planned) break;
    }
  });
}
