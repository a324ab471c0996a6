/** Messages to people, and what people begin with an agent, as they travel (spec/a2h 5.6 and 14). */
import { z } from "zod";
import { text } from "./a2h/fields.ts";
import { MOST_WORDS, newWaitShape, requestIdField } from "./a2h/new-request.ts";
import { outcomeShape, waitShape } from "./a2h/request.ts";
import { members as given } from "./fields.ts";

export const API_VERSION = "proto.a2h.dev/v1alpha1";

const members = z.record(z.string(), z.unknown());

const messageMetadata = z.object({ uid: z.string() }).meta({ id: "MessageMetadata" });

export const WireMessageStatus = z
  .object({
    ...outcomeShape,
    humanMessage: z.string().optional(),
    /** Present exactly where there is a schema. */
    response: z.unknown().optional(),
  })
  .meta({ id: "MessageStatus" });
export type WireMessageStatus = z.output<typeof WireMessageStatus>;

const messageSpec = z
  .object({
    message: z.string(),
    response_schema: members.optional(),
    channel_id: z.union([z.string(), z.int()]).optional(),
    ...waitShape,
  })
  .meta({ id: "MessageSpec" });

export const WireMessage = z
  .object({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal("Message"),
    metadata: messageMetadata,
    spec: messageSpec,
    status: WireMessageStatus,
  })
  .meta({ id: "Message" });
export type WireMessage = z.output<typeof WireMessage>;

export const NewMessageBody = z
  .object({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal("Message"),
    metadata: z.object({ uid: requestIdField.optional() }).optional(),
    spec: z.object({
      message: text({ min: 1, max: MOST_WORDS }).describe("The agent's words"),
      response_schema: given.describe("JSON Schema that the answer must fit").optional(),
      channel_id: z.union([z.string(), z.int()]).optional(),
      ...newWaitShape,
    }),
  })
  .meta({ id: "NewMessage" });

export const WireNewConversation = z
  .object({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal("NewConversation"),
    metadata: messageMetadata,
    spec: z.object({
      message: z.string(),
      user_message: z.string(),
      channel_id: z.string(),
      agent_name: z.string(),
      response_schema: members.optional(),
      raw: members.describe("The message as its channel delivered it"),
    }),
  })
  .meta({ id: "NewConversation", description: "Something that a person said to an agent." });
export type WireNewConversation = z.output<typeof WireNewConversation>;

export const WireNewConversationPage = z
  .object({ items: z.array(WireNewConversation), has_more: z.boolean() })
  .meta({ id: "NewConversationPage" });
export type WireNewConversationPage = z.output<typeof WireNewConversationPage>;

export const WireConversationChannel = z
  .object({ id: z.int(), channel_type: z.string(), agent_name: z.string(), status: z.literal("ready") })
  .meta({ id: "ConversationChannel" });
export type WireConversationChannel = z.output<typeof WireConversationChannel>;
