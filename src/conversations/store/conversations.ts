import type { InboundThread } from "../../requests/model/inbound-message.ts";
import type { Target } from "../../requests/model/request.ts";
import type { Identity } from "../../access/model/identity.ts";
import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, rowsOf, type RowOf } from "../../core/store/rows.ts";
import { empty, join, sql } from "../../core/store/sql.ts";
import { nextNumber } from "../../access/store/channel-numbers.ts";
import { deleteKeysOfConversations } from "../../access/store/keys.ts";
import { SHOWN_REQUESTS } from "../../requests/store/tables.ts";

export type ConversationChannel = InboundThread["channel"];

/** A conversation that somebody began with an agent: it has one number for as long as it goes on. */
export interface Conversation {
  /** From the same sequence as humans' numbers. */
  number: number;
  /** The name of its entry point. */
  entry: string;
  /** The principal whose it is. */
  agent: string;
  channel: ConversationChannel;
  /** The person who began it, if that is an enrolled human. */
  person: string | null;
  /** The identity of the person who began it, on its channel; null in the inbox. */
  opener: Identity | null;
  /** Where its agent's requests go that name nobody. */
  target: Target;
  /** The text of the key bound to it, sealed; null until one was needed. */
  sealedKey: string | null;
  createdAt: number;
  lastMessageAt: number;
}

/** A message from a person to an agent that answered nothing. */
export interface ConversationMessage {
  /** `nc_…` */
  uid: string;
  seq: number;
  conversation: number;
  agent: string;
  words: string;
  /** The message in the shape of its channel, as JSON text. */
  raw: string;
  followUp: boolean;
  createdAt: number;
  ackedAt: number | null;
}

const conversationRows = rowsOf<Conversation>()({
  number: "number",
  entry: "entry",
  agent: "agent",
  channel: "channel",
  person: "person",
  opener: json("opener"),
  target: json("target"),
  sealedKey: "sealed_key",
  createdAt: "created_at",
  lastMessageAt: "said_at",
});

const messageRows = rowsOf<ConversationMessage>()({
  uid: "uid",
  seq: "seq",
  conversation: "conversation",
  agent: "agent",
  words: "words",
  raw: "raw",
  followUp: flag("follow_up"),
  createdAt: "created_at",
  ackedAt: "acked_at",
});

export async function findConversation(on: Queryable, number: number): Promise<Conversation | undefined> {
  return conversationRows.first(on, sql`SELECT * FROM conversations WHERE number = ${number}`);
}

/** Returns the conversation that any of these threads is part of, the first thread that is one deciding. */
export async function findConversationByThread(
  on: Queryable,
  threads: readonly string[],
): Promise<Conversation | undefined> {
  if (threads.length === 0) return undefined;
  const rows = await on.all<RowOf<typeof conversationRows> & { thread: string }>(
    sql`SELECT c.*, t.thread FROM conversation_threads t JOIN conversations c ON c.number = t.conversation
      WHERE t.thread IN (${join([...threads])})`,
  );
  const found = threads.map((thread) => rows.find((row) => row.thread === thread)).find((row) => row !== undefined);
  return found && conversationRows.read(found);
}

/** The place where a page of conversations ended: the time of the last message, and its conversation. */
export interface ConversationPosition {
  at: number;
  number: number;
}

/** Returns one page of what a person has begun on one channel, the latest first. */
export async function listConversationsOf(
  on: Queryable,
  person: string,
  channel: ConversationChannel,
  { after, limit }: { after?: ConversationPosition; limit: number },
): Promise<Conversation[]> {
  return conversationRows.all(
    on,
    sql`SELECT * FROM conversations WHERE person = ${person} AND channel = ${channel}
        ${after ? sql`AND (said_at, number) < (${after.at}, ${after.number})` : empty}
      ORDER BY said_at DESC, number DESC LIMIT ${limit}`,
  );
}

export async function countConversationsOf(
  on: Queryable,
  person: string,
  channel: ConversationChannel,
): Promise<number> {
  const row = await one<{ count: number }>(
    on,
    sql`SELECT count(*) AS count FROM conversations WHERE person = ${person} AND channel = ${channel}`,
  );
  return row.count;
}

export async function insertConversation(
  tx: Tx,
  one: Omit<Conversation, "sealedKey" | "createdAt" | "lastMessageAt">,
): Promise<void> {
  await tx.all(
    sql`INSERT INTO conversations (number, entry, agent, channel, person, opener, target, created_at, said_at)
      VALUES (${one.number}, ${one.entry}, ${one.agent}, ${one.channel}, ${one.person}, ${JSON.stringify(one.opener)},
        ${JSON.stringify(one.target)}, (SELECT parley_now()), (SELECT parley_now()))`,
  );
}

/** A thread is part of a conversation from now on, and of no other any more. */
export async function upsertThread(tx: Tx, thread: string, conversation: number): Promise<void> {
  await tx.all(
    sql`INSERT INTO conversation_threads (thread, conversation) VALUES (${thread}, ${conversation})
      ON CONFLICT (thread) DO UPDATE SET conversation = excluded.conversation`,
  );
}

/** Notes that the conversation has a new message, after which requests go to `target`. */
export async function updateConversation(tx: Tx, number: number, target: Target): Promise<void> {
  await tx.all(
    sql`UPDATE conversations SET said_at = (SELECT parley_now()), target = ${JSON.stringify(target)}
      WHERE number = ${number}`,
  );
}

/** Keeps the sealed key of a conversation that has none; returns false when a rival was first. */
export async function setSealedKeyIfNone(tx: Tx, number: number, sealed: string): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE conversations SET sealed_key = ${sealed} WHERE number = ${number} AND sealed_key IS NULL
      RETURNING number`,
  );
  return rows.length > 0;
}

/**
 * Stores a message, unless it was stored before under its `source`. It is numbered, and the number's row held to the
 * end of the transaction, so that a reader that continues after a message misses none.
 */
export async function insertMessageIfNew(
  tx: Tx,
  message: Pick<ConversationMessage, "conversation" | "agent" | "words" | "raw" | "followUp"> & {
    /** The beginning of its uid. */
    id: string;
    source: string;
  },
): Promise<ConversationMessage | undefined> {
  const last = await nextNumber(tx, "conversation message");
  return messageRows.first(
    tx,
    sql`INSERT INTO conversation_messages (uid, seq, conversation, agent, source, words, raw, follow_up, created_at)
      VALUES (${uidOf(message.id, last)}, ${last}, ${message.conversation}, ${message.agent}, ${message.source}, ${message.words},
        ${message.raw}, ${message.followUp ? 1 : 0}, (SELECT parley_now()))
      ON CONFLICT (source) DO NOTHING RETURNING *`,
  );
}

/** The place of a message is part of its uid, so that a reader can continue after a message that is kept no longer. */
const uidOf = (id: string, seq: number): string => `${id}_${seq.toString(36)}`;

/** Returns the place of the message of that uid; nothing for what cannot be one. */
export function seqIn(uid: string): number | undefined {
  const [, seq] = /^nc_[0-9A-Za-z]{1,40}_([0-9a-z]{1,10})$/.exec(uid) ?? [];
  return seq === undefined ? undefined : Number.parseInt(seq, 36);
}

export async function findMessage(on: Queryable, uid: string): Promise<ConversationMessage | undefined> {
  return messageRows.first(on, sql`SELECT * FROM conversation_messages WHERE uid = ${uid}`);
}

/** Returns what was stored under a `source`. */
export async function findMessageBySource(on: Queryable, source: string): Promise<ConversationMessage | undefined> {
  return messageRows.first(on, sql`SELECT * FROM conversation_messages WHERE source = ${source}`);
}

/** Returns the messages to an agent, oldest first: those that it has not acknowledged yet, or all of them. */
export async function listMessages(
  on: Queryable,
  of: { agent: string; conversation?: number },
  page: { afterSeq: number; all: boolean; limit: number },
): Promise<ConversationMessage[]> {
  const untaken = page.all ? empty : sql`AND acked_at IS NULL`;
  const bound = of.conversation === undefined ? empty : sql`AND conversation = ${of.conversation}`;
  return messageRows.all(
    on,
    sql`SELECT * FROM conversation_messages WHERE agent = ${of.agent} AND seq > ${page.afterSeq} ${untaken} ${bound}
      ORDER BY seq LIMIT ${page.limit}`,
  );
}

/** Returns the newest message of a conversation. */
export async function findNewestMessageIn(
  on: Queryable,
  conversation: number,
): Promise<ConversationMessage | undefined> {
  return messageRows.first(
    on,
    sql`SELECT * FROM conversation_messages WHERE conversation = ${conversation} ORDER BY seq DESC LIMIT 1`,
  );
}

/** An item of a conversation, from its person or its agent, and its time. */
export interface MessagePosition {
  at: number;
  /** The uid of a message, or the id of an ask. */
  id: string;
}

/** Returns the newest things of a conversation before a place in it, the newest first. */
export async function listPlacesIn(
  on: Queryable,
  conversation: number,
  { before, limit }: { before?: MessagePosition; limit: number },
): Promise<MessagePosition[]> {
  return on.all<MessagePosition & Record<string, unknown>>(
    sql`SELECT at, id FROM (
        SELECT created_at AS at, uid AS id FROM conversation_messages WHERE conversation = ${conversation}
        UNION ALL SELECT created_at, ask_id FROM ${SHOWN_REQUESTS} asked WHERE conversation = ${conversation}) AS said
      ${before ? sql`WHERE (at, id) < (${before.at}, ${before.id})` : empty}
      ORDER BY at DESC, id DESC LIMIT ${limit}`,
  );
}

/** Returns the messages of these uids, oldest first. */
export async function findMessages(on: Queryable, uids: readonly string[]): Promise<ConversationMessage[]> {
  return messageRows.all(
    on,
    sql`SELECT * FROM conversation_messages WHERE uid IN (${join(["", ...uids])}) ORDER BY seq`,
  );
}

/** Returns where conversations with the person were opened and go on, as JSON. */
export async function listConversationTargets(on: Queryable, person: string): Promise<string[]> {
  const rows = await on.all<{ target: string }>(
    sql`SELECT opener AS target FROM conversations WHERE person = ${person}
      UNION SELECT target FROM conversations WHERE person = ${person}`,
  );
  return rows.map(({ target }) => target);
}

/** Its agent has taken a message; the time of the first word of it stays. */
export async function ackMessage(tx: Tx, uid: string): Promise<void> {
  await tx.all(
    sql`UPDATE conversation_messages SET acked_at = (SELECT parley_now()) WHERE uid = ${uid} AND acked_at IS NULL`,
  );
}

/**
 * Deletes messages that agents took longer ago than `takenMs`, and those that no agent has taken for `untakenMs`; then
 * conversations that had no message for `quietMs` and that nothing names any more, with their keys. Returns whether
 * there may be more.
 */
export async function deleteOldConversations(
  tx: Tx,
  kept: { takenMs: number; untakenMs: number; quietMs: number },
  limit: number,
): Promise<boolean> {
  const deleted = await tx.all(
    sql`DELETE FROM conversation_messages WHERE uid IN (
        SELECT uid FROM conversation_messages
        WHERE acked_at <= (SELECT parley_now()) - ${kept.takenMs}
          OR acked_at IS NULL AND created_at <= (SELECT parley_now()) - ${kept.untakenMs} LIMIT ${limit})
      RETURNING uid`,
  );
  const quiet = await tx.all<{ number: number }>(
    sql`SELECT number FROM conversations c WHERE said_at <= (SELECT parley_now()) - ${kept.quietMs}
        AND NOT EXISTS (SELECT 1 FROM conversation_messages m WHERE m.conversation = c.number)
        AND NOT EXISTS (SELECT 1 FROM ${SHOWN_REQUESTS} a WHERE a.conversation = c.number)
      LIMIT ${limit}`,
  );
  if (quiet.length > 0) {
    const ids = quiet.map(({ number }) => number);
    const numbers = join(ids);
    await deleteKeysOfConversations(tx, ids);
    await tx.all(sql`DELETE FROM conversation_threads WHERE conversation IN (${numbers})`);
    await tx.all(sql`DELETE FROM conversations WHERE number IN (${numbers})`);
  }
  return deleted.length === limit || quiet.length === limit;
}
