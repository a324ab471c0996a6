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
import { INBOX_TOPIC, saidTopic, WEBHOOKS_TOPIC } from "../core/store/wake.ts";
import { insertEvent, listEndpoints } from "../notices/store/webhooks.ts";
import { createKeyIn } from "../access/create-key.ts";
import { exposeIn, type CleanWords } from "../requests/clean-words.ts";
import { chargeLimit } from "../core/limits.ts";

/** More than anybody says in an hour. */
const SAID_PER_HOUR = 120;
const MOST_WORDS = 40_000;

/** Words that somebody wrote, with the message as its channel delivered it. */
export interface SaidWords {
  words: string;
  raw: Readonly<Record<string, unknown>>;
}

/** Something that a person says to an agent, and that answers nothing. */
export interface ConversationInput {
  entry: EntryPoint;
  channel: ConversationChannel;
  /** The conversation it goes on with; a new one is opened where there is none. */
  goesOnWith: number | null;
  /** What later words are recognised by; null where they name the conversation itself. */
  thread: string | null;
  person: string | null;
  opener: Identity | null;
  target: Target;
  said: CleanWords<SaidWords>;
  source: string;
  via: Via;
}

type Keeping = Pick<Context, "newId" | "random" | "keyring">;

/**
 * What was said is stored for its agent, in the conversation it belongs to, and everybody who waits for it is told; the
 * conversation is opened where there is none yet. All in the transaction under way (spec/a2h 14).
 *
 * Returns nothing where the same was stored before.
 *
 * @throws {LimitRefusal} for somebody who says too much
 */
export async function keepSaid(
  ctx: Keeping,
  tx: Tx,
  said: ConversationInput,
): Promise<{ conversation: Conversation; message: ConversationMessage } | null> {
  const { entry, channel, opener, person } = said;
  const speaker = opener === null ? `person:${String(person)}` : `${opener.kind}:${opener.value}`;
  await chargeLimit(tx, "words to agents", speaker, SAID_PER_HOUR);
  const { words, raw } = said.said.said;
  const { conversation, isNew } = await goOnOrOpen(tx, said);
  const { number, agent } = conversation;
  // point: conversation-between-opening-and-words
  if (said.thread !== null) await upsertThread(tx, said.thread, number);
  const message = await insertMessageIfNew(tx, {
    id: ctx.newId("nc"),
    conversation: number,
    agent,
    source: said.source,
    words: [...words].slice(0, MOST_WORDS).join("").toWellFormed().replaceAll("\0", ""),
    raw: JSON.stringify(raw),
    followUp: !isNew,
  });
  if (!message) return null;
  await exposeIn(ctx, tx, said.said);
  if (isNew) {
    await appendAudit(tx, {
      actor: person === null ? { kind: "address", id: speaker } : { kind: "human", id: person },
      action: "conversation.opened",
      agent,
      via: said.via,
      data: { conversation: number, entry: entry.name },
    });
  }
  // point: conversation-between-words-and-events
  await planEvents(ctx, tx, conversation, message);
  tx.wake(saidTopic(agent));
  tx.wake(INBOX_TOPIC);
  return { conversation, message };

  async function goOnOrOpen(
    on: Tx,
    { goesOnWith, thread }: ConversationInput,
  ): Promise<{ conversation: Conversation; isNew: boolean }> {
    const known = goesOnWith === null ? undefined : await goOn(on, goesOnWith);
    if (known) return { conversation: known, isNew: false };
    // The number's row is held from here on: whoever opens the same thread at the same time comes after this.
    const next = await nextChannelNumber(on);
    const meanwhile = thread === null ? undefined : await findConversationByThread(on, [thread]);
    const theirs = meanwhile?.entry === entry.name ? await goOn(on, meanwhile.number) : undefined;
    if (theirs) return { conversation: theirs, isNew: false };
    const agentOf = principalOfEntry(entry);
    const { target } = said;
    await insertConversation(on, { number: next, entry: entry.name, agent: agentOf, channel, person, opener, target });
    return { conversation: await present(on, next), isNew: true };
  }

  async function goOn(on: Tx, known: number): Promise<Conversation | undefined> {
    const standing = await findConversation(on, known);
    if (!standing) return undefined;
    // A mail is answered in reply to the newest; elsewhere whoever began it stays the one who is asked.
    await updateConversation(on, known, channel === "email" ? said.target : standing.target);
    return present(on, known);
  }
}

async function present(tx: Tx, number: number): Promise<Conversation> {
  const found = await findConversation(tx, number);
  if (!found) throw new Error("a conversation is missing that was just there");
  return found;
}

/** Plans that every endpoint of the agent that wants it hears what was said. */
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
