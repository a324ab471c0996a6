/** Conversations that people begin with agents, as the inbox shows them (spec/a2h 14). */
import { z } from "zod";
import { text } from "./fields.ts";
import { WireInboxAskLine } from "./inbox.ts";

const orNull = z.string().nullable();

export const WireEntryPoint = z
  .object({ name: z.string(), agent: z.string(), about: orNull })
  .meta({ id: "EntryPoint", description: "Where somebody may begin a conversation with an agent." });
export type WireEntryPoint = z.output<typeof WireEntryPoint>;

const conversationLine = z
  .object({
    id: z.int(),
    agent: z.string(),
    title: z.string().describe("The newest of one's own words"),
    said_at: z.string(),
  })
  .meta({ id: "OwnConversationLine", description: "A conversation that somebody has begun, as a line of a list." });

export const WireOwnConversationPage = z
  .object({
    entry_points: z.array(WireEntryPoint),
    conversations: z.array(conversationLine),
    next: orNull,
    count: z.int().describe("How many conversations there are, on all pages."),
  })
  .meta({ id: "OwnConversationPage" });
export type WireOwnConversationPage = z.output<typeof WireOwnConversationPage>;

const ask = z
  .object({ ...WireInboxAskLine.shape, words: z.string() })
  .meta({ id: "OwnConversationAsk", description: "Something that an agent asked in a conversation." });

export const WireOwnConversation = z
  .object({
    id: z.int(),
    agent: z.string(),
    said_at: z.string(),
    open: z.boolean().describe("False where the agent takes no more words here"),
    messages: z.array(z.object({ id: z.string(), text: z.string(), at: z.string(), taken: z.boolean() })),
    asks: z.array(ask),
    waiting: z.array(ask).describe("The first two requests that wait for an answer"),
    next: orNull,
  })
  .meta({
    id: "OwnConversation",
    description:
      "A conversation that somebody has begun: the newest of their words and of what the agent asked in it, or a page of what came before.",
  });
export type WireOwnConversation = z.output<typeof WireOwnConversation>;

const words = text(1, 10_000).describe("The words of the message.");
const id = text(1, 64).describe("The sender chooses it, and sends the same again with a repeated message.");

export const ConversationStartBody = z.object({ entry_point: z.string(), text: words, id }).meta({
  id: "ConversationStart",
});
export type ConversationStartBody = z.output<typeof ConversationStartBody>;

export const ConversationMessageBody = z.object({ text: words, id }).meta({ id: "ConversationMessage" });
export type ConversationMessageBody = z.output<typeof ConversationMessageBody>;
