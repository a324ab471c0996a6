import type { Retries } from "../../lib/back-off.ts";

/** The events of which an agent can be notified, by format (spec/a2h 17). */
export const WEBHOOK_FORMATS = {
  v1beta1: ["function_call.completed", "human_contact.completed", "agent_email.received"],
  v1beta2: ["function_call.completed", "human_contact.completed", "agent_email.received", "agent_slack.received"],
  v1beta3: ["conversation.created", "function_call.completed", "human_contact.completed"],
  a2h: ["message.completed", "conversation.created", "function_call.completed", "human_contact.completed"],
} as const;

export type WebhookFormat = keyof typeof WEBHOOK_FORMATS;

/** How telling one thing to one endpoint stands. */
export const DELIVERY_STATES = ["pending", "delivered", "dead"] as const;

/** The door whose requests send events to agents. */
export const WEBHOOK_DOOR = "a2h";

/** The format whose news of a conversation bring a key that is good for it alone. */
export const keyedFormat: WebhookFormat = "v1beta3";

/** Returns the events of an agent when a person sends a message on a channel. */
export function eventsOf(channel: string): readonly string[] {
  const own = { email: ["agent_email.received"], slack: ["agent_slack.received"] }[channel] ?? [];
  return ["conversation.created", ...own];
}

/** Ten attempts within 75 hours and a half. */
export const WEBHOOK_RETRIES: Retries = {
  pausesMs: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * 1000),
  jitter: 0.1,
  longestMs: 86_400_000,
};
/** An endpoint that took nothing for so long receives nothing more, in ms. */
export const ENDPOINT_GIVEN_UP_MS = 5 * 86_400_000;

/** True where an endpoint wants an event; without a list it wants everything its format has. */
export function wantsEvent(format: WebhookFormat, events: readonly string[], event: string): boolean {
  return WEBHOOK_FORMATS[format].some((one) => one === event) && (events.length === 0 || events.includes(event));
}
