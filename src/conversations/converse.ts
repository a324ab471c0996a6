import type { Context } from "../context.ts";
import type { Identity } from "../access/model/identity.ts";
import { entryAt, type EntryPoint } from "./model/entry-point.ts";
import type { InboundMessage, Talk, InboundResult } from "../requests/model/heard.ts";
import { findAddressed } from "../requests/store/requests.ts";
import {
  findConversation,
  findConversationByThread,
  findMessageBySource,
  type Conversation,
} from "./store/conversations.ts";
import type { Queryable } from "../core/store/db.ts";
import { insertHeardIfNew } from "../requests/store/deliveries.ts";
import { findHumanByIdentity } from "../access/store/humans.ts";
import { transact } from "../core/store/transact.ts";
import { cleanWords } from "../requests/clean-words.ts";
import { keepSaid } from "./keep-said.ts";
import { isNamed, namedDelivery } from "./named-delivery.ts";

/** What somebody says in a thread, with what is known of it. */
export interface Talking {
  talk: Talk;
  /** The conversation that the words belong to, if it was begun. */
  going: Conversation | undefined;
  /** They answer a message that was made for whoever speaks, which proves as much as an answer needs. */
  isReply: boolean;
  /** The same words were passed on before. */
  isKept: boolean;
}

/** Returns what a conversation takes of something heard; nothing where it can only answer. */
export async function talkingOf(on: Queryable, heard: InboundMessage): Promise<Talking | null> {
  const { talk, match, sender, said } = heard;
  if (!talk || !("text" in said)) return null;
  const named = isNamed(match) ? await namedDelivery(on, match) : undefined;
  const isReply = named !== undefined && "to" in named.target && named.target.to === sender.id;
  const number = isReply ? (await findAddressed(on, named.askId))?.ask.conversation : undefined;
  const going =
    number === undefined ? await findConversationByThread(on, talk.threads) : await findConversation(on, number);
  const isKept = (await findMessageBySource(on, talk.source)) !== undefined;
  return { talk, isReply, isKept, going: going && isTheirs(going, sender) ? going : undefined };
}

/** A mail goes on only with what its author began; whoever stands in a Slack thread may speak in it. */
function isTheirs({ opener, channel }: Conversation, sender: InboundMessage["sender"]): boolean {
  return channel === "slack" || opener?.value === sender.id;
}

/**
 * Passes words on to the agent of their entry point: as the beginning of a conversation, or as one more word in it.
 * Returns nothing where they belong to no entry point, and so can only have been an answer.
 */
export async function converse(ctx: Context, heard: InboundMessage, talking: Talking): Promise<InboundResult | null> {
  const { talk, going, isReply } = talking;
  const { sender, said } = heard;
  if (!("text" in said) || sender.kind === "human") return null;
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
    return { is: "not_allowed", says: "Only people who are enrolled here can write to this agent." };
  }
  const channel = channelOf(talk, going);
  const words = goesOn ? said.text : (talk.opening ?? said.text);
  const speaker = { person: human?.person ?? null, identities: [opener], askId: null };
  const clean = await cleanWords(ctx, { words, raw: talk.raw }, speaker);
  const kept = await transact(ctx, async (tx) => {
    if (!(await insertHeardIfNew(tx, heard.provider, heard.id))) return null;
    return keepSaid(ctx, tx, {
      entry,
      channel,
      opener,
      via: channel === "inbox" ? "web" : channel,
      goesOnWith: goesOn ? going.number : null,
      thread: talk.thread,
      target: talk.target,
      source: talk.source,
      person: human?.person ?? null,
      said: clean,
    });
  });
  return kept ? { is: "passed_on", says: `Passed on to the agent ${entry.agent}.` } : REPEATED;
}

const REPEATED: InboundResult = { is: "repeated", says: "This was heard before." };

/** Where a thread was begun decides, as long as that is still open; else where it was said. */
function entryFor(points: readonly EntryPoint[], { talk, going }: Talking): EntryPoint | undefined {
  const here = talk.at === null ? undefined : entryAt(points, talk.at);
  return here ?? (going && points.find(({ name }) => name === going.entry));
}

function channelOf({ at, target }: Talk, going: Conversation | undefined): Conversation["channel"] {
  if (at) return at.channel;
  if (going) return going.channel;
  if (target.via === "person" || target.via === "webhook") throw new Error("nobody talks there");
  return target.via;
}
