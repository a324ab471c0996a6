import type { Context } from "../context.ts";
import type { AddressedAsk } from "../model/addressed-ask.ts";
import { entryAt, type EntryPoint } from "../model/entry-point.ts";
import { heardDecision } from "../model/heard-decision.ts";
import { Refusal } from "../refusals.ts";
import { listAsksInConversation, listPending } from "../store/addressed-asks.ts";
import {
  findConversation,
  findMessageBySource,
  listConversationsOf,
  listMessagesIn,
  type Conversation,
  type ConversationMessage,
} from "../store/conversations.ts";
import { insertHeardIfNew } from "../store/deliveries.ts";
import { transact } from "../store/transact.ts";
import { decideIn, misfitOf, responderOf } from "./decide-ask.ts";
import { keepSaid, type Said } from "./keep-said.ts";

const WAITING = "Something waits for your decision in this conversation: open it, and decide there.";
const SHOWN_MOST = 200;
const LISTED_MOST = 50;

/** Words as a browser sends them: `id` is the same when it sends them again. */
export interface Words {
  words: string;
  id: string;
}

/** Returns where people may begin a conversation in the inbox. */
export function inboxEntries({ addressed }: Pick<Context, "addressed">): readonly EntryPoint[] {
  return addressed.entryPoints.filter(({ inbox }) => inbox);
}

/**
 * A person has begun a conversation with the agent of an entry point; saying it again changes nothing. Returns the
 * number of the conversation.
 *
 * @throws {Refusal} `request_not_found` for an unknown entry point, `rate_limited`
 */
export async function beginInInbox(ctx: Context, person: string, entryName: string, said: Words): Promise<number> {
  const entry = entryAt(ctx.addressed.entryPoints, { channel: "inbox", entry: entryName });
  if (!entry) throw new Refusal("request_not_found");
  const kept = await transact(ctx, (tx) => keepSaid(ctx, tx, saidBy(person, entry, null, said)));
  const number = kept?.conversation.number ?? (await findMessageBySource(ctx.db, sourceOf(person, said)))?.conversation;
  if (number === undefined) throw new Refusal("request_not_found");
  return number;
}

const sourceOf = (person: string, { id }: Words): string => `inbox ${person} ${id}`;

function saidBy(person: string, entry: EntryPoint, goesOnWith: number | null, said: Words): Said {
  return {
    ...{ entry, goesOnWith, person, channel: "inbox", thread: null, opener: null, via: "web" },
    ...{ target: { via: "person", person }, words: said.words, raw: {}, source: sourceOf(person, said) },
  };
}

/**
 * A person has said more in a conversation. It is the answer to the one question that waits there, or else one more
 * word to the agent; where a call or several requests wait, the person decides each by itself.
 *
 * @throws {Refusal} `request_not_found`, `wrong_decision`, `answer_misfit`, `rate_limited`
 */
export async function goOnInInbox(ctx: Context, person: string, number: number, said: Words): Promise<void> {
  const { entry } = await readOwnConversation(ctx, person, number);
  const pending = await listPending(ctx.db, { conversation: number }, { limit: 2, offset: 0 });
  const [only, ...others] = pending.items.map(({ ask }) => ask);
  if (!only) {
    const point = entryAt(ctx.addressed.entryPoints, { channel: "inbox", entry });
    if (!point) throw new Refusal("request_not_found");
    await transact(ctx, async (tx) => {
      if (!(await insertHeardIfNew(tx, "inbox", sourceOf(person, said)))) return;
      await keepSaid(ctx, tx, saidBy(person, point, number, said));
    });
    return;
  }
  if (others.length > 0 || only.form.kind === "approval") throw new Refusal("wrong_decision", {}, WAITING);
  await answer(ctx, person, only, said);
}

async function answer(ctx: Context, person: string, ask: AddressedAsk, said: Words): Promise<void> {
  const decision = heardDecision(ask, { said: { text: said.words } }, "");
  if (!decision) throw new Refusal("wrong_decision");
  const responder = await responderOf(ctx.db, person, "web");
  const misfit = await misfitOf(ctx, ask, decision);
  const result = await transact(ctx, async (tx) => {
    if (!(await insertHeardIfNew(tx, "inbox", sourceOf(person, said)))) return null;
    return decideIn(ctx, tx, { askId: ask.id, responder, decision }, misfit);
  });
  if (result instanceof Refusal) throw result;
}

/** One conversation as its person sees it. */
export interface OwnConversation extends Conversation {
  /** Nothing where its entry point is written down no longer: then nothing more can be said. */
  point: EntryPoint | undefined;
  messages: readonly ConversationMessage[];
  /** What its agent asked in it, oldest first. */
  asks: readonly AddressedAsk[];
}

/** Returns a conversation that a person began in the inbox. @throws {Refusal} `request_not_found` also for another's */
export async function readOwnConversation(ctx: Context, person: string, number: number): Promise<OwnConversation> {
  const found = await findConversation(ctx.db, number);
  if (found?.person !== person || found.channel !== "inbox") throw new Refusal("request_not_found");
  return {
    ...found,
    point: entryAt(ctx.addressed.entryPoints, { channel: "inbox", entry: found.entry }),
    messages: await listMessagesIn(ctx.db, number, SHOWN_MOST),
    asks: await listAsksInConversation(ctx.db, number, SHOWN_MOST),
  };
}

/** Returns what a person began in the inbox, the latest first, each with the newest words in it. */
export async function listOwnConversations(
  ctx: Context,
  person: string,
): Promise<{ conversation: Conversation; words: string }[]> {
  const found = await listConversationsOf(ctx.db, person, "inbox", LISTED_MOST);
  const listed = [];
  for (const conversation of found) {
    const newest = (await listMessagesIn(ctx.db, conversation.number, 1)).at(-1);
    listed.push({ conversation, words: newest?.words ?? "" });
  }
  return listed;
}
