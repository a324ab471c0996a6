import type { Context } from "../context.ts";
import type { EntryPoint } from "./model/entry-point.ts";
import { Refusal } from "../refusals.ts";
import * as store from "./store/conversations.ts";
import type { Conversation, ConversationMessage } from "./store/conversations.ts";
import { findHuman } from "../access/store/humans.ts";
import { transact } from "../core/store/transact.ts";
import { saidTopic, watch } from "../core/store/wake.ts";
import { boundKeyOf } from "./keep-said.ts";

export type { Conversation, ConversationMessage } from "./store/conversations.ts";

/** Whose conversations: an agent's, or one of them alone. */
export interface Hearer {
  agent: string;
  conversation?: number;
}

/** Something that was said, with where and what its agent is told of it. */
export interface ConversationEntry {
  message: ConversationMessage;
  conversation: Conversation;
  /** Nothing where its entry point is written down no longer. */
  entry: EntryPoint | undefined;
}

const LOOK_AGAIN_MS = 1000;

/**
 * Returns what people said to an agent, oldest first: what it has not acknowledged, or with `all` everything that is
 * kept; as soon as there is something, or when `waitMs` have passed.
 *
 * @throws {Refusal} `invalid_input` for an `after` that nothing can be called
 */
export async function readSaid(
  ctx: Context,
  of: Hearer,
  page: { after?: string; all: boolean; limit: number; waitMs: number; signal: AbortSignal },
): Promise<{ items: ConversationEntry[]; hasMore: boolean }> {
  const { all, limit, signal } = page;
  const afterSeq = page.after === undefined ? 0 : store.seqIn(page.after);
  if (afterSeq === undefined) {
    throw new Refusal("invalid_input", { loc: ["query", "after"] }, "after must be the uid of a conversation");
  }
  const until = ctx.clock.monotonic() + page.waitMs;
  using changes = watch(ctx, [saidTopic(of.agent)], [ctx.stopping, signal]);
  for (;;) {
    const found = await store.listMessages(ctx.db, of, { afterSeq, all, limit: limit + 1 });
    const leftMs = until - ctx.clock.monotonic();
    if (found.length > 0 || leftMs <= 0 || ctx.stopping.aborted || signal.aborted) {
      const items: ConversationEntry[] = [];
      for (const message of found.slice(0, limit)) items.push(await toldOf(ctx, message));
      return { items, hasMore: found.length > limit };
    }
    // Another node's word may be lost: the rows are looked at every second.
    await changes.next(Math.min(leftMs, LOOK_AGAIN_MS));
  }
}

function isOf({ agent, conversation }: ConversationMessage, of: Hearer): boolean {
  return agent === of.agent && (of.conversation === undefined || conversation === of.conversation);
}

/** Returns one thing that was said to an agent. @throws {Refusal} `request_not_found` also for another's */
export async function readOneSaid(
  ctx: Pick<Context, "db" | "conversations">,
  of: Hearer,
  uid: string,
): Promise<ConversationEntry> {
  const message = await store.findMessage(ctx.db, uid);
  if (!message || !isOf(message, of)) throw new Refusal("request_not_found");
  return toldOf(ctx, message);
}

/** Returns what an agent is told of something that was said; nothing where it is kept no longer. */
export async function findTold(
  ctx: Pick<Context, "db" | "conversations">,
  uid: string,
): Promise<ConversationEntry | undefined> {
  const message = await store.findMessage(ctx.db, uid);
  return message && toldOf(ctx, message);
}

async function toldOf(
  { db, conversations }: Pick<Context, "db" | "conversations">,
  message: ConversationMessage,
): Promise<ConversationEntry> {
  const conversation = await store.findConversation(db, message.conversation);
  if (!conversation) throw new Error("a message without its conversation");
  return { message, conversation, entry: conversations.entryPoints.find(({ name }) => name === conversation.entry) };
}

/** The agent has taken it; taking it again changes nothing. @throws {Refusal} `request_not_found` also for another's */
export async function ackSaid(ctx: Context, of: Hearer, uid: string): Promise<void> {
  await readOneSaid(ctx, of, uid);
  await transact(ctx, (tx) => store.ackMessage(tx, uid));
  // point: conversation-taken-before-reply
}

/** Returns a conversation of an agent. @throws {Refusal} `request_not_found` also for another's */
export async function readConversation(ctx: Pick<Context, "db">, of: Hearer, number: number): Promise<Conversation> {
  const found = await findConversationOf(ctx, of, number);
  if (!found) throw new Refusal("request_not_found");
  return found;
}

/** Returns a conversation if it is the agent's. */
export async function findConversationOf(
  { db }: Pick<Context, "db">,
  of: Hearer,
  number: number,
): Promise<Conversation | undefined> {
  const found = await store.findConversation(db, number);
  const isBound = of.conversation !== undefined && of.conversation !== number;
  return found?.agent === of.agent && !isBound ? found : undefined;
}

/** True while whoever began a conversation is an enrolled human. */
export async function isOpenerEnrolled({ db }: Pick<Context, "db">, { person }: Conversation): Promise<boolean> {
  return person !== null && (await findHuman(db, person)) !== undefined;
}

/** Returns the text of the key that is good for a conversation alone. */
export function keyOf(ctx: Pick<Context, "keyring">, conversation: Conversation): string | null {
  return boundKeyOf(ctx, conversation);
}
