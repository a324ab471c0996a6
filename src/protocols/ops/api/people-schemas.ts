import { anything, flag, integer, list, members, named, object, oneOf, type Schema, text, time } from "./operation.ts";

const VIA = oneOf("web", "slack", "email", "sms", "whatsapp", "webhook", "api", "policy");

/** What the state of calls, of contacts and of messages has in common. */
const STATUS = {
  "responded_at?": time,
  "user_info?": named("Responder"),
  "expired?": flag,
  "cancelled?": flag,
  "failed_validation_details?": named("FailedValidation"),
};

/** What the state of calls and of contacts has in common. */
const REQUEST_STATUS = {
  ...STATUS,
  ask_id: text(),
  requested_at: time,
  "expires_at?": time,
  "resolved_at?": time,
  "slack_context?": named("SlackContext"),
  "slack_message_ts?": text(),
  "deliveries?": list(named("RequestDelivery")),
};

const TIMING = {
  "channel?": named("ContactChannel"),
  "state?": members(),
  "timeout_seconds?": integer,
  "on_timeout?": oneOf("expire", "keep"),
  "escalation?": list(named("Escalation")),
};

const HUMAN = { id: text(), name: text(), "description?": text() };

const ENDPOINT = {
  id: text(),
  agent: text(),
  url: text(),
  format: oneOf("v1beta1", "v1beta2", "v1beta3", "a2h"),
  events: list(text()),
  description: text(),
  enabled: flag,
  created_at: time,
};

const page = (of: string): Schema =>
  object({ items: list(named(of)), total: integer, limit: integer, offset: integer, has_more: flag });

/** What the doors reply with at which people are asked and enrolled (spec/a2h 5), and at the door of MCP. */
export const PEOPLE_SCHEMAS: Readonly<Record<string, Schema>> = {
  A2hError: object({
    error: { ...object({ code: text(), message: text() }), additionalProperties: true },
    "detail?": { anyOf: [{ type: "string" }, list(named("A2hProblem"))] },
  }),
  A2hProblem: object({ loc: list({ type: ["string", "integer"] }), msg: text(), type: text() }),
  ContactChannel: members(
    "Whom to ask: inbox, human, channel_id, slack, email, sms, whatsapp, webhook, or any_of, all_of, quorum",
  ),
  Escalation: object({ after_seconds: integer, channel: named("ContactChannel"), escalation_msg: text() }),
  ResponseOption: object({
    name: text(),
    "title?": text(),
    "description?": text(),
    "prompt_fill?": text(),
    "interactive?": flag,
  }),
  Responder: object({ "id?": text(), name: text(), "role?": text(), "email?": text(), via: VIA, "enrolled?": flag }),
  SlackContext: object({
    "team_id?": text(),
    "channel_id?": text(),
    "user_id?": text(),
    "message_ts?": text(),
    "thread_ts?": text(),
  }),
  RequestDelivery: object({ via: text(), state: oneOf("queued", "sent", "failed"), at: time }),
  FailedValidation: object({
    at: time,
    via: VIA,
    responder: object({ name: text() }),
    reason: text(),
    "input?": anything,
    "errors?": anything,
    "attempts?": integer,
  }),
  Approval: object({
    "user_info?": named("Responder"),
    "approved?": flag,
    "comment?": text(),
    at: time,
    "consent_digest?": text(),
  }),
  CallStatus: object({
    ...REQUEST_STATUS,
    consent_digest: text("sha256:… over the function and its arguments"),
    "approvals?": list(named("Approval")),
    "approved?": flag,
    "comment?": text(),
    "reject_option_name?": text(),
    "kwargs?": members(),
    "edited?": flag,
  }),
  CallSpec: object({
    fn: text(),
    kwargs: members(),
    "msg?": text(),
    ...TIMING,
    "reject_options?": list(named("ResponseOption")),
    "editable?": flag,
    "kwargs_schema?": members(),
  }),
  FunctionCall: object({ run_id: text(), call_id: text(), spec: named("CallSpec"), status: named("CallStatus") }),
  FunctionCallPage: page("FunctionCall"),
  ContactStatus: object({ ...REQUEST_STATUS, "response?": text(), "response_option_name?": text() }),
  ContactSpec: object({
    msg: text(),
    "subject?": text(),
    ...TIMING,
    "response_options?": list(named("ResponseOption")),
  }),
  HumanContact: object({ run_id: text(), call_id: text(), spec: named("ContactSpec"), status: named("ContactStatus") }),
  HumanContactPage: page("HumanContact"),
  MessageMetadata: object({ uid: text() }),
  MessageStatus: object({ ...STATUS, "humanMessage?": text(), "response?": anything }),
  MessageSpec: object({
    message: text(),
    "response_schema?": members(),
    "channel_id?": { type: ["string", "integer"] },
    "timeout_seconds?": integer,
    "on_timeout?": oneOf("expire", "keep"),
  }),
  Message: object({
    apiVersion: { const: "proto.a2h.dev/v1alpha1" },
    kind: { const: "Message" },
    metadata: named("MessageMetadata"),
    spec: named("MessageSpec"),
    status: named("MessageStatus"),
  }),
  NewConversation: object({
    apiVersion: text(),
    kind: { const: "NewConversation" },
    metadata: named("MessageMetadata"),
    spec: object({
      message: text(),
      user_message: text(),
      channel_id: text(),
      agent_name: text(),
      "response_schema?": members(),
      raw: members(),
    }),
  }),
  NewConversationPage: object({ items: list(named("NewConversation")), has_more: flag }),
  ConversationChannel: object({ id: integer, channel_type: text(), agent_name: text(), status: text() }),
  Human: object(HUMAN),
  EnrolledHuman: object({
    id: text(),
    name: text(),
    description: text(),
    "role?": text(),
    inboxScope: oneOf("all", "addressed"),
    prioritizedContactChannels: list(members()),
    createdAt: time,
    updatedAt: time,
  }),
  AnyHuman: { anyOf: [named("EnrolledHuman"), named("Human")] },
  HumanPage: object({ humans: list(named("AnyHuman")), "nextCursor?": text() }),
  Group: object({ name: text(), humans: list(named("Human")) }),
  GroupList: object({ groups: list(named("Group")) }),
  ChannelFields: object({ channels: members("Its fields, by the name of a channel") }),
  ChannelError: object({ path: text(), code: text(), message: text() }),
  ChannelVerdict: object({
    valid: flag,
    "errors?": list(named("ChannelError")),
    "channel?": named("ContactChannel"),
  }),
  PushKey: object({ vapid_public_key: text() }),
  ServerStatus: object({ status: text(), version: text() }),
  ProtocolVersion: object({ version: text() }),
  Project: object({ name: text(), slug: text(), organization: text(), project_slug: text(), org_slug: text() }),
  AuditEntry: { ...object({ seq: integer }), additionalProperties: true },
  AuditPage: object({
    items: list(named("AuditEntry")),
    has_more: flag,
    head: object({ seq: integer, hash: text() }),
    unsealed: integer,
  }),
  Webhook: object(ENDPOINT),
  WebhookWithSecret: object({ ...ENDPOINT, secret: text() }),
  WebhookPage: object({ items: list(named("Webhook")), "next_cursor?": text() }),
  WebhookTestReceipt: object({ id: text(), event: text() }),
  WebhookDelivery: object({
    id: text(),
    event: text(),
    state: oneOf("pending", "delivered", "dead"),
    attempts: integer,
    created_at: time,
    "status?": integer,
    "error?": text(),
    "next_attempt_at?": time,
  }),
  WebhookDeliveryPage: object({ items: list(named("WebhookDelivery")), "next_cursor?": text() }),
  RepeatCount: object({ count: integer }),
  McpMessage: {
    ...object({
      jsonrpc: { const: "2.0" },
      "id?": { type: ["string", "integer"] },
      method: text(),
      "params?": members(),
    }),
    description: "One message of the Model Context Protocol",
  },
  McpReply: {
    ...object({
      jsonrpc: { const: "2.0" },
      "id?": { type: ["string", "integer", "null"] },
      "result?": members(),
      "error?": object({ code: integer, message: text(), "data?": anything }),
    }),
    description: "Its reply; a tool that waits replies as an event stream where the client takes one",
  },
  McpRequest: {
    ...object({ call_id: text(), kind: oneOf("approval", "contact"), status: text(), asked: members() }),
    additionalProperties: true,
  },
};
