import type { JsonObject } from "../../lib/json-body.ts";

const text = (description: string, maxLength?: number): JsonObject => ({
  type: "string",
  description,
  ...(maxLength !== undefined && { maxLength }),
});
const object = (properties: JsonObject, required: readonly string[] = [], description?: string): JsonObject => ({
  type: "object",
  properties,
  required,
  ...(description !== undefined && { description }),
});

const channel: JsonObject = {
  type: "object",
  additionalProperties: true,
  description: "Whom to ask: inbox, human, channel_id, slack, email, sms, whatsapp, webhook, or any_of, all_of, quorum",
};
const option = object(
  {
    name: text("Comes back with the answer", 64),
    title: text("Label of the button", 75),
    description: text("Help beside the button", 500),
    prompt_fill: text("Text of the answer, or its start", 3000),
    interactive: { type: "boolean" },
  },
  ["name"],
);
const timing = {
  timeout_seconds: { type: "integer", minimum: 10, maximum: 2_592_000 },
  on_timeout: { type: "string", enum: ["expire", "keep"], default: "expire" },
};
const escalation = {
  type: "array",
  maxItems: 10,
  items: object({ after_seconds: { type: "integer" }, channel, escalation_msg: text("Stands first", 5000) }, [
    "after_seconds",
    "channel",
    "escalation_msg",
  ]),
};
const state = {
  type: "object",
  additionalProperties: true,
  description: "The agent's memory; comes back as it is, and people never see it",
};
const ids = {
  run_id: text("Groups the requests of one run", 256),
  call_id: { ...text("Names the request", 256), pattern: "^[A-Za-z0-9._~:@+=,-]{1,256}$" },
};

/** What routes take, as the reference shows it; the checks themselves stand in `specs.ts` and `human-fields.ts`. */
export const BODIES = {
  call: object(
    {
      ...ids,
      spec: object(
        {
          fn: text("Function to be run", 256),
          kwargs: { type: "object", additionalProperties: true, description: "Its exact arguments" },
          msg: text("The agent's words, no part of what is approved", 40_000),
          channel,
          reject_options: { type: "array", maxItems: 25, items: option },
          state,
          ...timing,
          escalation,
          editable: { type: "boolean" },
          kwargs_schema: { type: "object", additionalProperties: true, description: "What edits must fit" },
        },
        ["fn", "kwargs"],
      ),
    },
    ["run_id", "call_id", "spec"],
  ),
  contact: object(
    {
      ...ids,
      spec: object(
        {
          msg: text("The agent's words", 40_000),
          subject: text("Title, and subject of a mail", 998),
          channel,
          response_options: { type: "array", maxItems: 25, items: option },
          state,
          ...timing,
          escalation,
        },
        ["msg"],
      ),
    },
    ["run_id", "call_id", "spec"],
  ),
  message: object(
    {
      apiVersion: { const: "proto.a2h.dev/v1alpha1" },
      kind: { const: "Message" },
      metadata: object({ uid: ids.call_id }),
      spec: object(
        {
          message: text("The agent's words", 40_000),
          channel_id: { type: ["string", "integer"] },
          response_schema: {
            type: "object",
            additionalProperties: true,
            description: "JSON Schema that the answer must fit",
          },
          ...timing,
        },
        ["message"],
      ),
    },
    ["apiVersion", "kind", "spec"],
  ),
  callAnswer: object(
    {
      approved: { type: "boolean" },
      comment: text("Why", 5000),
      reject_option_name: text("One of those that were offered", 64),
      kwargs: {
        type: "object",
        additionalProperties: true,
        description: "Edited arguments, where the agent allows it",
      },
      consent_digest: text("What was shown; must be what would run"),
    },
    ["approved"],
  ),
  contactAnswer: object({
    response: text("The answer", 40_000),
    response_option_name: text("One of those that were offered", 64),
  }),
  cancel: object({ reason: text("Why", 500) }),
  escalation: object(
    {
      escalation_msg: text("Stands first in the mail", 5000),
      channel: { ...channel, description: "Its email member says whom to write to" },
      additional_recipients: {
        type: "array",
        items: object({ address: text("Mail address"), field: { type: "string", enum: ["to", "cc", "bcc"] } }, [
          "address",
        ]),
      },
    },
    ["escalation_msg"],
  ),
  channel: object({ channel }),
  endpoint: object(
    {
      url: text("https, at port 443", 2048),
      format: { type: "string", enum: ["v1beta1", "v1beta2", "v1beta3", "a2h"] },
      events: { type: "array", items: { type: "string" }, description: "Empty: everything the format has" },
      description: text("For whoever looks", 500),
      enabled: { type: "boolean", default: true },
      agent: text("Whose it is; admins name it", 128),
    },
    ["url", "format"],
  ),
  test: object({ event: text("One that the endpoint's format has") }),
  replay: object({ since: { type: "string", format: "date-time" } }, ["since"]),
  human: object(
    {
      name: text("How people are called", 200),
      description: text("Agents read it", 2000),
      role: text("What the person does", 100),
      prioritizedContactChannels: {
        type: "array",
        minItems: 1,
        maxItems: 10,
        items: {
          type: "object",
          additionalProperties: true,
          description: "Exactly one of slack, email, sms, whatsapp, inbox, webhook",
        },
      },
      inboxScope: { type: "string", enum: ["addressed", "all"], default: "addressed" },
    },
    ["name", "prioritizedContactChannels"],
  ),
} as const satisfies Record<string, JsonObject>;
