import type { Context } from "../context.ts";
import type { EntryPoint } from "./model/entry-point.ts";
import { Refusal } from "../refusals.ts";
import * as store from "./store/conversations.ts";
import type { Conversation, ConversationMessage } from "./store/conversations.ts";
import { findHuman } from "../access/store/humans.ts";
import { transact } from "../core/store/transact.ts";
import { conversationTopic, watch } from "../core/store/wake.ts";
import { boundKeyOf } from "./keep-message.ts";

export type { Conversation, ConversationMessage } from "./store/conversations.ts";

/** Whose conversations: an agent's, or one of them alone. */
export interface ConversationReader {
  agent: string;
  conversation?: number;
}

/** A message to an agent, with its conversation and entry point. */
export interface ConversationEntry {
  message: ConversationMessage;
  conversation: Conversation;
  /** Undefined where its entry point is no longer in the settings. */
  entry: EntryPoint | undefined;
}

const LOOK_AGAIN_MS = 1000;

/**
 * Returns the messages of people to an agent, oldest first: those that it has not acknowledged, or with `all` all that
 * are kept; as soon as there is one, or when `waitMs` have passed.
 *
 * @throws {Refusal} `invalid_input` for an `after` that cannot be a uid
 */
export async function readMessages(
  ctx: Context,
  of: ConversationReader,
  page: { after?: string; all: boolean; limit: number; waitMs: number; signal: AbortSignal },
): Promise<{ items: ConversationEntry[]; hasMore: boolean }> {
  const { all, limit, signal } = page;
  const afterSeq = page.after === undefined ? 0 : store.seqIn(page.after);
  if (afterSeq === undefined) {
    throw new Refusal("invalid_input", { loc: ["query", "after"] }, "after must be the uid of a conversation");
  }
  const until = ctx.clock.monotonic() + page.waitMs;
  using changes = watch(ctx, [conversationTopic(of.agent)], [ctx.stopping, signal]);
  for (;;) {
    const found = await store.listMessages(ctx.db, of, { afterSeq, all, limit: limit + 1 });
    const leftMs = until - ctx.clock.monotonic();
    if (found.length > 0 || leftMs <= 0 || ctx.stopping.aborted || signal.aborted) {
      const items: ConversationEntry[] = [];
      for (const message of found.slice(0, limit)) items.push(await agentEventsOf(ctx, message));
      return { items, hasMore: found.length > limit };
    }
    // Another node's word may be lost: the rows are looked at every second.
    await changes.next(Math.min(leftMs, LOOK_AGAIN_MS));
  }
}

function isOf({ agent, conversation }: ConversationMessage, of: ConversationReader): boolean {
  return agent === of.agent && (of.conversation === undefined || conversation === of.conversation);
}

/** Returns one message to an agent. @throws {Refusal} `message_not_found` also for another agent's message */
export async function readMessage(
  ctx: Pick<Context, "db" | "conversations">,
  of: ConversationReader,
  uid: string,
): Promise<ConversationEntry> {
  const message = await store.findMessage(ctx.db, uid);
  if (!message || !isOf(message, of)) throw new Refusal("message_not_found");
  return agentEventsOf(ctx, message);
}

/** Returns the message for an agent's event; nothing where it is kept no longer. */
export async function findAgentEvent(
  ctx: Pick<Context, "db" | "conversations">,
  uid: string,
): Promise<ConversationEntry | undefined> {
  const message = await store.findMessage(ctx.db, uid);
  return message && agentEventsOf(ctx, message);
}

async function agentEventsOf(
  { db, conversations }: Pick<Context, "db" | "conversations">,
  message: ConversationMessage,
): Promise<ConversationEntry> {
  const conversation = await store.findConversation(db, message.conversation);
  if (!conversation) throw new Error("a message without its conversation");
  return { message, conversation, entry: conversations.entryPoints.find(({ name }) => name === conversation.entry) };
}

/** The agent has taken it; taking it again changes nothing. @throws {Refusal} `message_not_found` also for another's */
export async function acknowledgeMessage(ctx: Context, of: ConversationReader, uid: string): Promise<void> {
  await readMessage(ctx, of, uid);
  await transact(ctx, (tx) => store.ackMessage(tx, uid));
  // point: conversation-taken-before-reply
}

/** Returns a conversation of an agent. @throws {Refusal} `conversation_not_found` also for another's */
export async function readConversation(
  ctx: Pick<Context, "db">,
  of: ConversationReader,
  number: number,
): Promise<Conversation> {
  const found = await findConversationOf(ctx, of, number);
  if (!found) throw new Refusal("conversation_not_found");
  return found;
}

/** Returns a conversation if it is the agent's. */
export async function findConversationOf(
  { db }: Pick<Context, "db">,
  of: ConversationReader,
  number: number,
): Promise<Conversation | undefined> {
  const found = await store.findConversation(db, number);
  const isBound = of.conversation !== undefined && of.conversation !== number;
  return found?.agent === of.agent && !isBound ? found : undefined;
}

/** True while the person who began a conversation is enrolled. */
export async function isOpenerEnrolled({ db }: Pick<Context, "db">, { person }: Conversation): Promise<boolean> {
  return person !== null && (await findHuman(db, person)) !== undefined;
}

/** Returns the text of the key that is good for a conversation alone. */
export function keyOf(ctx: Pick<Context, "keyring">, conversation: Conversation): string | null {
  return boundKeyOf(ctx, conversation);
}
