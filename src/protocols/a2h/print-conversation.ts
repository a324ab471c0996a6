import { agentName } from "../../requests/model/view.ts";
import type { ConversationEntry } from "../../conversations/read.ts";
import { given } from "./fields.ts";
import { API_VERSION, type WireNewConversation } from "../../wire/message.ts";
import type { WireConversationCreated } from "../../wire/webhook.ts";

/** Returns a person's message as the agent reads it (spec/a2h 5.6 and 14). */
export function newConversation({ message, conversation, entry }: ConversationEntry): WireNewConversation {
  const { uid, words, followUp } = message;
  return {
    apiVersion: API_VERSION,
    kind: "NewConversation",
    metadata: { uid },
    spec: given({
      message: words,
      user_message: words,
      channel_id: String(conversation.number),
      agent_name: agentName(conversation.agent),
      response_schema: entry?.responseSchema ?? undefined,
      raw: { ...rawOf(message), follow_up: followUp },
    }),
  };
}

/** Returns the event of format `v1beta3`, whose key is good for this conversation alone. */
export function conversationCreated(
  { message, conversation }: ConversationEntry,
  key: string | null,
): WireConversationCreated {
  return {
    is_test: false,
    type: "conversation.created",
    ...(key !== null && { channel_api_key: key }),
    event: {
      user_message: message.words,
      contact_channel_id: conversation.number,
      agent_name: agentName(conversation.agent),
      thread_id: String(conversation.number),
    },
  };
}

/** Returns what came in, in the shape of its channel. */
export function rawOf({ raw }: ConversationEntry["message"]): Record<string, unknown> {
  return JSON.parse(raw) as Record<string, unknown>;
}
