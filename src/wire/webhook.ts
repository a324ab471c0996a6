/** A webhook endpoint of an agent, as it travels (spec/a2h 17). */
import { z } from "zod";
import { DELIVERY_STATES, WEBHOOK_FORMATS, type WebhookFormat } from "../notices/model/webhook-events.ts";
import { moment, text } from "./a2h/fields.ts";
import { wireMoment } from "./time.ts";

const FORMATS = Object.keys(WEBHOOK_FORMATS) as [WebhookFormat, ...WebhookFormat[]];

export const WireWebhook = z
  .object({
    id: z.string(),
    agent: z.string(),
    url: z.string(),
    format: z.enum(FORMATS),
    events: z.array(z.string()),
    description: z.string(),
    enabled: z.boolean(),
    created_at: wireMoment,
    failing_since: wireMoment
      .nullable()
      .describe("When the first of the deliveries failed that failed without a success since."),
    last_error: z.string().nullable().describe("The error of the last failed delivery, while deliveries fail."),
  })
  .meta({ id: "Webhook" });
export type WireWebhook = z.output<typeof WireWebhook>;

export const WireWebhookWithSecret = WireWebhook.extend({ secret: z.string() }).meta({ id: "WebhookWithSecret" });
export type WireWebhookWithSecret = z.output<typeof WireWebhookWithSecret>;

export const WireWebhookPage = z
  .object({ items: z.array(WireWebhook), next_cursor: z.string().optional() })
  .meta({ id: "WebhookPage" });
export type WireWebhookPage = z.output<typeof WireWebhookPage>;

export const WireWebhookTestReceipt = z.object({ id: z.string(), event: z.string() }).meta({
  id: "WebhookTestReceipt",
});
export type WireWebhookTestReceipt = z.output<typeof WireWebhookTestReceipt>;

export const WireWebhookDelivery = z
  .object({
    id: z.string(),
    event: z.string(),
    state: z.enum(DELIVERY_STATES),
    attempts: z.int(),
    created_at: wireMoment,
    status: z.int().optional(),
    error: z.string().optional(),
    next_attempt_at: wireMoment.optional(),
  })
  .meta({ id: "WebhookDelivery" });
export type WireWebhookDelivery = z.output<typeof WireWebhookDelivery>;

export const WireWebhookDeliveryPage = z
  .object({ items: z.array(WireWebhookDelivery), next_cursor: z.string().optional() })
  .meta({ id: "WebhookDeliveryPage" });
export type WireWebhookDeliveryPage = z.output<typeof WireWebhookDeliveryPage>;

export const WireRepeatCount = z.object({ count: z.int() }).meta({ id: "RepeatCount" });
export type WireRepeatCount = z.output<typeof WireRepeatCount>;

/** The event of format `v1beta3` for a new conversation. */
export interface WireConversationCreated {
  is_test: false;
  type: "conversation.created";
  /** Good for this conversation alone. */
  channel_api_key?: string;
  event: { user_message: string; contact_channel_id: number; agent_name: string; thread_id: string };
}

export const webhookEventsField = z.array(z.string()).max(20);

export const NewWebhookBody = z
  .object({
    url: text({ max: 2048 }).describe("https, at port 443"),
    format: z.enum(FORMATS),
    events: webhookEventsField.describe("Empty: everything the format has").optional(),
    description: text({ max: 500 }).describe("For whoever looks").optional(),
    enabled: z.boolean().meta({ default: true }).optional(),
    agent: text({ min: 1, max: 128 }).describe("The agent that owns it; admins name it").optional(),
  })
  .meta({ id: "NewWebhook" });

export const WebhookChangeBody = NewWebhookBody.partial().meta({ id: "WebhookChange" });
export type WebhookChangeBody = z.input<typeof WebhookChangeBody>;

export const WebhookTestBody = z
  .object({ event: z.string().describe("One that the endpoint's format has").optional() })
  .meta({ id: "WebhookTest" });

export const WebhookReplayBody = z.object({ since: moment }).meta({ id: "WebhookReplay" });
