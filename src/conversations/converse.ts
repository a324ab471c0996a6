import { numberForms } from "../lib/phone-number.ts";
import type { Context } from "../context.ts";
import type { Identity } from "../access/model/identity.ts";
import { entryAt, type EntryPoint } from "./model/entry-point.ts";
import type { InboundMessage, ThreadContext, InboundResult } from "../requests/model/inbound-message.ts";
import { findRequest } from "../requests/store/requests.ts";
import {
  findConversation,
  findConversationByThread,
  findMessageBySource,
  type Conversation,
} from "./store/conversations.ts";
import type { Queryable } from "../core/store/db.ts";
import { insertInboundIfNew } from "../requests/store/deliveries.ts";
import { findHumanByIdentity } from "../access/store/humans.ts";
import { transact } from "../core/store/transact.ts";
import { cleanWords } from "../requests/create/clean-words.ts";
import { isRepeat, REPEATED } from "../requests/inbound/answer-message.ts";
import { keepMessage } from "./keep-message.ts";
import { isNamed, namedDelivery } from "../requests/inbound/named-delivery.ts";

/** A message that somebody writes in a thread, with the known facts about it. */
export interface Talking {
  talk: ThreadContext;
  /** The conversation that the words belong to, if it was begun. */
  going: Conversation | undefined;
  /** The words answer a message that was made for their author, which proves as much as an answer needs. */
  isReply: boolean;
  /** The same words were passed on before. */
  isKept: boolean;
}

/**
 * Returns the part of a received message that a conversation takes; nothing where the message can only be an answer.
 */
export async function talkingOf(on: Queryable, message: InboundMessage): Promise<Talking | null> {
  const { talk, match, sender, content } = message;
  if (!talk || !("text" in content)) return null;
  const named = isNamed(match) ? await namedDelivery(on, match) : undefined;
  const isReply = named !== undefined && "to" in named.target && named.target.to === sender.id;
  const number = isReply ? (await findRequest(on, named.requestId))?.request.conversation : undefined;
  const going =
    number === undefined ? await findConversationByThread(on, talk.threads) : await findConversation(on, number);
  const isKept = (await findMessageBySource(on, talk.source)) !== undefined;
  return { talk, isReply, isKept, going: going && isTheirs(going, sender) ? going : undefined };
}

/**
 * Returns whether the sender may continue a conversation: by mail its author only, in a Slack thread everybody in it.
 */
function isTheirs({ opener, channel }: Conversation, sender: InboundMessage["sender"]): boolean {
  const ids = sender.kind === "phone" ? numberForms(sender.id) : [sender.id];
  return channel === "slack" || (opener !== null && ids.includes(opener.value));
}

/**
 * Passes words on to the agent of their entry point: as the beginning of a conversation, or as one more word in it.
 * Returns nothing where they belong to no entry point, and so can only have been an answer.
 */
export async function converse(ctx: Context, message: InboundMessage, talking: Talking): Promise<InboundResult | null> {
  const { talk, going, isReply } = talking;
  const { sender, content } = message;
  if (!("text" in content) || sender.kind === "human") return null;
  const entry = entryFor(ctx.conversations.entryPoints, talking);
  if (!entry) return null;
  if (going && !talk.goesOn) return REPEATED;
  const goesOn = going?.entry === entry.name;
  if (!goesOn && !talk.begins) return null;

  const proved = talk.proved || (isReply && goesOn);
  const opener: Identity = { kind: sender.kind, value: sender.id };
  const human = proved ? await findHumanByIdentity(ctx.db, opener) : undefined;
  const isWelcome = entry.from === "anyone" || human !== undefined;
  if (!isWelcome || (sender.kind === "slack" && !sender.member)) {
    ctx.log.info({ entry: entry.name, proved }, "somebody may not begin a conversation");
    return { kind: "not_allowed", says: "Only people who are enrolled here can write to this agent." };
  }
  const channel = channelOf(talk, going);
  const words = goesOn ? content.text : (talk.opening ?? content.text);
  // A mail reaches its agent whole, with its attachments; of other channels an agent gets the words alone.
  if (words.trim() === "" && channel !== "email") return (await isRepeat(ctx, message)) ? REPEATED : WITHOUT_WORDS;
  const speaker = { person: human?.person ?? null, identities: [opener], requestId: null };
  const clean = await cleanWords(ctx, { words, raw: talk.raw }, speaker);
  const kept = await transact(ctx, async (tx) => {
    if (!(await insertInboundIfNew(tx, message.provider, message.id))) return null;
    return keepMessage(ctx, tx, {
      entry,
      channel,
      opener,
      via: channel === "inbox" ? "web" : channel,
      goesOnWith: goesOn ? going.number : null,
      thread: talk.thread,
      target: talk.target,
      source: talk.source,
      person: human?.person ?? null,
      cleanWords: clean,
    });
  });
  return kept ? { kind: "passed_on", says: `Passed on to the agent ${entry.agent}.` } : REPEATED;
}

const WITHOUT_WORDS: InboundResult = {
  kind: "not_understood",
  says: "This was not passed on: the agent gets no files, and there were no words. Write to it in words.",
};

/**
 * Returns the entry point where the thread was begun, as long as that is still open; else the one where the message was
 * written.
 */
function entryFor(points: readonly EntryPoint[], { talk, going }: Talking): EntryPoint | undefined {
  const here = talk.at === null ? undefined : entryAt(points, talk.at);
  return here ?? (going && points.find(({ name }) => name === going.entry));
}

function channelOf({ at }: ThreadContext, going: Conversation | undefined): Conversation["channel"] {
  // A message without a place is a mail that was sent to a reply address alone.
  return at?.channel ?? going?.channel ?? "email";
}
