import { nextChannelNumber } from "../access/store/channel-numbers.ts";
import type { Context } from "../context.ts";
import type { Target, Via } from "../requests/model/request.ts";
import { sealedFor } from "./model/sealed-key.ts";
import type { Identity } from "../access/model/identity.ts";
import { principalOfEntry, type EntryPoint } from "./model/entry-point.ts";
import { eventsOf, keyedFormat, wantsEvent } from "../notices/model/webhook-events.ts";
import { appendAudit } from "../core/store/audit.ts";
import {
  findConversation,
  findConversationByThread,
  insertConversation,
  insertMessageIfNew,
  setSealedKeyIfNone,
  updateConversation,
  upsertThread,
  type Conversation,
  type ConversationChannel,
  type ConversationMessage,
} from "./store/conversations.ts";
import type { Tx } from "../core/store/db.ts";
import { INBOX_TOPIC, conversationTopic, WEBHOOKS_TOPIC } from "../core/store/wake.ts";
import { insertEvent, listEndpoints } from "../notices/store/webhooks.ts";
import { createKeyIn } from "../access/create-key.ts";
import { exposeIn, type CleanWords } from "../requests/create/clean-words.ts";
import { chargeLimit } from "../core/limits.ts";

/** More than anybody says in an hour. */
const MESSAGES_PER_HOUR = 120;
const MOST_WORDS = 40_000;

/** Words that somebody wrote, with the message as its channel delivered it. */
export interface WrittenWords {
  words: string;
  raw: Readonly<Record<string, unknown>>;
}

/** Something that a person says to an agent, and that answers nothing. */
export interface ConversationInput {
  entry: EntryPoint;
  channel: ConversationChannel;
  /** The conversation that it continues. If null, its thread's conversation goes on, or a new one is opened. */
  goesOnWith: number | null;
  /** The thread by which later words are recognised; null where they name the conversation itself. */
  thread: string | null;
  person: string | null;
  opener: Identity | null;
  target: Target;
  cleanWords: CleanWords<WrittenWords>;
  source: string;
  via: Via;
}

type Keeping = Pick<Context, "newId" | "random" | "keyring">;

/**
 * Stores the words for their agent, in the conversation that they belong to, and notifies everybody who waits for them.
 * Opens the conversation if it does not exist yet. All of it is part of the transaction under way (spec/a2h 14).
 *
 * Returns nothing where the same was stored before.
 *
 * @throws {LimitRefusal} for somebody who says too much
 */
export async function keepMessage(
  ctx: Keeping,
  tx: Tx,
  input: ConversationInput,
): Promise<{ conversation: Conversation; message: ConversationMessage } | null> {
  const { entry, channel, opener, person } = input;
  const speaker = opener === null ? `person:${String(person)}` : `${opener.kind}:${opener.value}`;
  await chargeLimit(tx, "words to agents", speaker, MESSAGES_PER_HOUR);
  const { words, raw } = input.cleanWords.words;
  const { conversation, isNew } = await goOnOrOpen(tx, input);
  const { number, agent } = conversation;
  // point: conversation-between-opening-and-words
  if (input.thread !== null) await upsertThread(tx, input.thread, number);
  const message = await insertMessageIfNew(tx, {
    id: ctx.newId("nc"),
    conversation: number,
    agent,
    source: input.source,
    words: [...words].slice(0, MOST_WORDS).join("").toWellFormed().replaceAll("\0", ""),
    raw: JSON.stringify(raw),
    followUp: !isNew,
  });
  if (!message) return null;
  await exposeIn(ctx, tx, input.cleanWords);
  if (isNew) {
    await appendAudit(tx, {
      actor: person === null ? { kind: "address", id: speaker } : { kind: "human", id: person },
      action: "conversation.opened",
      agent,
      via: input.via,
      data: { conversation: number, entry: entry.name },
    });
  }
  // point: conversation-between-words-and-events
  await planEvents(ctx, tx, conversation, message);
  tx.wake(conversationTopic(agent));
  tx.wake(INBOX_TOPIC);
  return { conversation, message };

  async function goOnOrOpen(
    on: Tx,
    { goesOnWith, thread }: ConversationInput,
  ): Promise<{ conversation: Conversation; isNew: boolean }> {
    const known = goesOnWith === null ? undefined : await goOn(on, goesOnWith);
    if (known) return { conversation: known, isNew: false };
    // The number's row is held from here on: a concurrent opening of the same thread comes after this.
    const next = await nextChannelNumber(on);
    const meanwhile = thread === null ? undefined : await findConversationByThread(on, [thread]);
    const theirs = meanwhile?.entry === entry.name ? await goOn(on, meanwhile.number) : undefined;
    if (theirs) return { conversation: theirs, isNew: false };
    const agentOf = principalOfEntry(entry);
    const { target } = input;
    await insertConversation(on, { number: next, entry: entry.name, agent: agentOf, channel, person, opener, target });
    return { conversation: await present(on, next), isNew: true };
  }

  async function goOn(on: Tx, known: number): Promise<Conversation | undefined> {
    const existing = await findConversation(on, known);
    if (!existing) return undefined;
    // A mail is answered in reply to the newest one. Elsewhere the person who began the conversation stays the
    // addressee.
    await updateConversation(on, known, channel === "email" ? input.target : existing.target);
    return present(on, known);
  }
}

async function present(tx: Tx, number: number): Promise<Conversation> {
  const found = await findConversation(tx, number);
  if (!found) throw new Error("a conversation is missing that was just there");
  return found;
}

/** Plans an event with the words for every endpoint of the agent that wants it. */
async function planEvents(
  ctx: Keeping,
  tx: Tx,
  conversation: Conversation,
  message: ConversationMessage,
): Promise<void> {
  for (const { id, format, events, enabled } of await listEndpoints(tx, conversation.agent)) {
    for (const event of eventsOf(conversation.channel)) {
      if (!enabled || !wantsEvent(format, events, event)) continue;
      if (format === keyedFormat && event === "conversation.created") await bindKey(ctx, tx, conversation);
      await insertEvent(tx, { id: `msg_${message.uid}_${id}`, endpointId: id, event, message: message.uid });
      tx.wake(WEBHOOKS_TOPIC);
    }
  }
}

/** The conversation, which is held, has a key that is good for it alone; its text is kept sealed. */
async function bindKey(ctx: Keeping, tx: Tx, { number, agent, sealedKey }: Conversation): Promise<void> {
  if (sealedKey !== null) return;
  const { text } = await createKeyIn(ctx, tx, {
    name: agent.slice("agent:".length),
    scope: "agent",
    conversation: number,
  });
  await setSealedKeyIfNone(tx, number, ctx.keyring.seal(text, sealedFor(number)));
}

/** Returns the text of the key that is bound to a conversation, if it has one. */
export function boundKeyOf({ keyring }: Pick<Context, "keyring">, { number, sealedKey }: Conversation): string | null {
  return sealedKey === null ? null : keyring.open(sealedKey, sealedFor(number));
}
