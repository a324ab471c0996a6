import type { Context } from "../context.ts";
import type { Request } from "../requests/model/request.ts";
import { entryAt, type EntryPoint } from "./model/entry-point.ts";
import { decisionOfReply } from "../requests/model/decision-of-reply.ts";
import { Refusal } from "../refusals.ts";
import { findRequests, listPending } from "../requests/store/requests.ts";
import {
  countConversationsOf,
  findConversation,
  findMessageBySource,
  findMessages,
  findNewestMessageIn,
  listConversationsOf,
  listPlacesIn,
  type Conversation,
  type ConversationMessage,
  type ConversationPosition,
  type MessagePosition,
} from "./store/conversations.ts";
import { insertInboundIfNew } from "../requests/store/deliveries.ts";
import { transact } from "../core/store/transact.ts";
import { decideIn, judged } from "../requests/decide/decide.ts";
import { responderOf } from "../requests/decide/decider.ts";
import { cleanWords } from "../requests/create/clean-words.ts";
import { keepMessage, type ConversationInput } from "./keep-message.ts";

const WAITING = "Something waits for your decision in this conversation: open it, and decide there.";
/** Of what waits in a conversation: one can be answered by words, several cannot. */
const WAITING_MOST = 2;

export type { ConversationPosition, MessagePosition } from "./store/conversations.ts";

/** Words as a browser sends them: `id` is the same when it sends them again. */
export interface TypedMessage {
  words: string;
  id: string;
}

/** Returns where people may begin a conversation in the inbox. */
export function inboxEntries({ conversations }: Pick<Context, "conversations">): readonly EntryPoint[] {
  return conversations.entryPoints.filter(({ inbox }) => inbox);
}

/**
 * A person has begun a conversation with the agent of an entry point; saying it again changes nothing. Returns the
 * number of the conversation.
 *
 * @throws {Refusal} `entry_point_not_found`, `conversation_not_found`, `rate_limited`
 */
export async function beginInInbox(
  ctx: Context,
  person: string,
  entryName: string,
  typed: TypedMessage,
): Promise<number> {
  const entry = entryAt(ctx.conversations.entryPoints, { channel: "inbox", entry: entryName });
  if (!entry) throw new Refusal("entry_point_not_found");
  const words = await personSpeaking(ctx, person, { entry, goesOnWith: null }, typed);
  const kept = await transact(ctx, (tx) => keepMessage(ctx, tx, words));
  // point: conversation-begun-before-reply
  const number =
    kept?.conversation.number ?? (await findMessageBySource(ctx.db, sourceOf(person, typed)))?.conversation;
  if (number === undefined) throw new Refusal("conversation_not_found");
  return number;
}

const sourceOf = (person: string, { id }: TypedMessage): string => `inbox ${person} ${id}`;

async function personSpeaking(
  ctx: Context,
  person: string,
  where: Pick<ConversationInput, "entry" | "goesOnWith">,
  typed: TypedMessage,
): Promise<ConversationInput> {
  const speaker = { person, identities: [], requestId: null };
  return {
    ...where,
    person,
    channel: "inbox",
    thread: null,
    opener: null,
    via: "web",
    target: { via: "person", person },
    cleanWords: await cleanWords(ctx, { words: typed.words, raw: {} }, speaker),
    source: sourceOf(person, typed),
  };
}

/**
 * Takes in a person's next words in a conversation. They are the answer to the one question that waits there, or else a
 * message to the agent; where a call or several requests wait, the person decides each by itself.
 *
 * @throws {Refusal} `conversation_not_found`, `entry_point_not_found`, `wrong_decision`, `answer_misfit`, `rate_limited`
 */
export async function goOnInInbox(ctx: Context, person: string, number: number, typed: TypedMessage): Promise<void> {
  const { entry } = await findOwn(ctx, person, number);
  const [only, ...others] = await waitingIn(ctx, number);
  if (!only) {
    const point = entryAt(ctx.conversations.entryPoints, { channel: "inbox", entry });
    if (!point) throw new Refusal("entry_point_not_found");
    const words = await personSpeaking(ctx, person, { entry: point, goesOnWith: number }, typed);
    await transact(ctx, async (tx) => {
      if (!(await insertInboundIfNew(tx, "inbox", sourceOf(person, typed)))) return;
      // point: conversation-between-inbound-and-words
      await keepMessage(ctx, tx, words);
    });
    return;
  }
  if (others.length > 0 || only.form.kind === "approval") throw new Refusal("wrong_decision", {}, WAITING);
  await answer(ctx, person, only, typed);
}

async function answer(ctx: Context, person: string, request: Request, typed: TypedMessage): Promise<void> {
  const decided = decisionOfReply(request, { content: { text: typed.words } }, "");
  if (!decided) throw new Refusal("wrong_decision");
  const responder = await responderOf(ctx.db, person, "web");
  const decision = await judged(ctx, request, { decision: decided, responder });
  const result = await transact(ctx, async (tx) => {
    if (!(await insertInboundIfNew(tx, "inbox", sourceOf(person, typed)))) return null;
    // point: conversation-between-inbound-and-answer
    return decideIn(ctx, tx, { requestId: request.id, responder }, decision);
  });
  if (result instanceof Refusal) throw result;
}

async function waitingIn({ db }: Context, conversation: number): Promise<Request[]> {
  const pending = await listPending(db, { conversation }, { limit: WAITING_MOST, offset: 0 });
  return pending.items.map(({ request }) => request);
}

async function findOwn({ db }: Context, person: string, number: number): Promise<Conversation> {
  const found = await findConversation(db, number);
  if (found?.person !== person || found.channel !== "inbox") throw new Refusal("conversation_not_found");
  return found;
}

/** One page of a conversation as its person sees it. */
export interface OwnConversation extends Conversation {
  /** Undefined where its entry point is no longer in the settings: then the conversation cannot go on. */
  point: EntryPoint | undefined;
  messages: readonly ConversationMessage[];
  /** The requests of its agent, oldest first. */
  asks: readonly Request[];
  /** The first two of all its agent's requests that wait for an answer. */
  waiting: readonly Request[];
  /** Before what the page of earlier things ends; null where there is nothing earlier. */
  next: MessagePosition | null;
}

/**
 * Returns the newest things of a conversation that a person began in the inbox, or those before a place in it.
 *
 * @throws {Refusal} `conversation_not_found` also for another's
 */
export async function readOwnConversation(
  ctx: Context,
  person: string,
  number: number,
  { before, limit }: { before?: MessagePosition; limit: number },
): Promise<OwnConversation> {
  const found = await findOwn(ctx, person, number);
  const places = await listPlacesIn(ctx.db, number, { ...(before && { before }), limit: limit + 1 });
  const ids = places.slice(0, limit).map(({ id }) => id);
  return {
    ...found,
    point: entryAt(ctx.conversations.entryPoints, { channel: "inbox", entry: found.entry }),
    messages: await findMessages(ctx.db, ids),
    asks: await findRequests(ctx.db, ids),
    waiting: await waitingIn(ctx, number),
    next: places.length > limit ? (places[limit - 1] ?? null) : null,
  };
}

/** One page of what a person began in the inbox. */
export interface OwnConversations {
  /** The latest first, each with the newest words in it. */
  listed: { conversation: Conversation; words: string }[];
  /** Where the next page goes on; null after the last. */
  next: ConversationPosition | null;
  /** How many there are of them all. */
  count: number;
}

export async function listOwnConversations(
  ctx: Context,
  person: string,
  { after, limit }: { after?: ConversationPosition; limit: number },
): Promise<OwnConversations> {
  const found = await listConversationsOf(ctx.db, person, "inbox", { ...(after && { after }), limit: limit + 1 });
  const listed: OwnConversations["listed"] = [];
  for (const conversation of found.slice(0, limit)) {
    const newest = await findNewestMessageIn(ctx.db, conversation.number);
    listed.push({ conversation, words: newest?.words ?? "" });
  }
  const last = found.length > limit ? listed.at(-1)?.conversation : undefined;
  return {
    listed,
    next: last ? { at: last.lastMessageAt, number: last.number } : null,
    count: await countConversationsOf(ctx.db, person, "inbox"),
  };
}
