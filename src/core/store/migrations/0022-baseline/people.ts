import type { SchemaWords } from "../migration.ts";

/** Requests to people, their messages, the record, webhooks and conversations. */
export const people = ({ integer, text, strict }: SchemaWords): readonly string[] => [
  `CREATE TABLE addressed_asks (
     ask_id ${text} PRIMARY KEY,
     door ${text} NOT NULL,
     asker ${text} NOT NULL,
     ref ${text} NOT NULL,
     same_hash ${text} NOT NULL,
     title ${text} NOT NULL,
     words ${text} NOT NULL,
     form ${text} NOT NULL,
     audience ${text} NOT NULL,
     digest ${text},
     state ${text} NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'cancelled')),
     version ${integer} NOT NULL,
     created_at ${integer} NOT NULL,
     expires_at ${integer} NOT NULL CHECK (expires_at > created_at),
     settled_at ${integer} CHECK ((state = 'open') = (settled_at IS NULL)),
     outcome ${text} CHECK ((state = 'open') = (outcome IS NULL)),
     refused ${text},
     wire ${text} NOT NULL,
     conversation ${integer},
     UNIQUE (asker, ref)
   )${strict}`,
  `CREATE INDEX addressed_asks_due ON addressed_asks (expires_at) WHERE state = 'open'`,
  `CREATE INDEX addressed_asks_of_asker ON addressed_asks (asker, created_at, ask_id)`,
  `CREATE INDEX addressed_asks_open_of_asker ON addressed_asks (asker, created_at, ask_id) WHERE state = 'open'`,
  `CREATE INDEX addressed_asks_settled ON addressed_asks (settled_at) WHERE state <> 'open'`,
  `CREATE INDEX addressed_asks_ref ON addressed_asks (ref)`,

  `CREATE TABLE addressees (
     reader ${text} NOT NULL,
     ask_id ${text} NOT NULL REFERENCES addressed_asks (ask_id),
     PRIMARY KEY (reader, ask_id)
   )${strict}`,
  `CREATE INDEX addressees_of_ask ON addressees (ask_id)`,

  `CREATE TABLE decisions (
     ask_id ${text} NOT NULL REFERENCES addressed_asks (ask_id),
     ord ${integer} NOT NULL,
     by_id ${text} NOT NULL,
     responder ${text} NOT NULL,
     counted ${text} NOT NULL,
     PRIMARY KEY (ask_id, by_id),
     UNIQUE (ask_id, ord)
   )${strict}`,

  `CREATE TABLE deliveries (
     delivery_id ${text} PRIMARY KEY,
     ask_id ${text} NOT NULL REFERENCES addressed_asks (ask_id),
     kind ${text} NOT NULL CHECK (kind IN ('ask', 'remind', 'tell')),
     channel ${text} NOT NULL,
     target ${text} NOT NULL,
     person ${text},
     step ${integer} NOT NULL,
     state ${text} NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'closing', 'closed', 'failed', 'skipped')),
     due_at ${integer} NOT NULL,
     attempt ${integer} NOT NULL,
     epoch ${integer} NOT NULL,
     external_ids ${text},
     thread ${text},
     words ${text},
     shown_digest ${text},
     link_hash ${text} UNIQUE,
     reply_hash ${text} UNIQUE,
     tries ${integer} NOT NULL,
     last_error ${text},
     created_at ${integer} NOT NULL,
     changed_at ${integer} NOT NULL,
     long_target ${text},
     UNIQUE (ask_id, kind, step, channel, target)
   )${strict}`,
  `CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state IN ('queued', 'sending', 'closing')`,
  `CREATE INDEX deliveries_of_thread ON deliveries (thread) WHERE thread IS NOT NULL`,

  `CREATE TABLE heard (
     provider ${text} NOT NULL,
     id ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (provider, id)
   )${strict}`,

  `CREATE TABLE identities (
     kind ${text} NOT NULL CHECK (kind IN ('slack', 'email', 'phone')),
     value ${text} NOT NULL,
     person ${text} NOT NULL REFERENCES people (person_id),
     PRIMARY KEY (kind, value)
   )${strict}`,
  `CREATE INDEX identities_of_person ON identities (person)`,

  `CREATE TABLE numbers (
     name ${text} PRIMARY KEY,
     last ${integer} NOT NULL
   )${strict}`,
  `INSERT INTO numbers (name, last) VALUES ('channel', 0)`,
  `CREATE UNIQUE INDEX people_number ON people (number)`,

  `CREATE TABLE audit (
     seq ${integer} PRIMARY KEY,
     at ${integer} NOT NULL,
     action ${text} NOT NULL,
     agent ${text},
     ask_id ${text},
     call_id ${text},
     entry ${text} NOT NULL,
     data ${text},
     prev ${text} NOT NULL,
     hash ${text} NOT NULL
   )${strict}`,
  `CREATE INDEX audit_of_ask ON audit (ask_id) WHERE ask_id IS NOT NULL`,

  `CREATE TABLE audit_head (
     id ${integer} PRIMARY KEY CHECK (id = 1),
     seq ${integer} NOT NULL,
     hash ${text} NOT NULL
   )${strict}`,
  `INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '')`,

  `CREATE TABLE addressed_waits (
     wait_id ${text} PRIMARY KEY,
     asker ${text} NOT NULL,
     ask_id ${text} NOT NULL REFERENCES addressed_asks (ask_id) ON DELETE CASCADE,
     owns_ask ${integer} NOT NULL CHECK (owns_ask IN (0, 1)),
     created_at ${integer} NOT NULL,
     kept_until ${integer} NOT NULL CHECK (kept_until > created_at),
     cancelled_at ${integer}
   )${strict}`,
  `CREATE INDEX addressed_waits_of_ask ON addressed_waits (ask_id)`,

  `CREATE TABLE phones (
     kind ${text} NOT NULL CHECK (kind IN ('sms', 'whatsapp')),
     number ${text} NOT NULL,
     opted_out ${integer} NOT NULL CHECK (opted_out IN (0, 1)),
     heard_at ${integer},
     PRIMARY KEY (kind, number)
   )${strict}`,

  `CREATE TABLE webhook_endpoints (
     endpoint_id ${text} PRIMARY KEY,
     agent ${text} NOT NULL,
     url ${text} NOT NULL,
     format ${text} NOT NULL,
     events ${text} NOT NULL,
     description ${text} NOT NULL,
     enabled ${integer} NOT NULL CHECK (enabled IN (0, 1)),
     secrets ${text} NOT NULL,
     failing_since ${integer},
     created_at ${integer} NOT NULL
   )${strict}`,
  `CREATE INDEX webhook_endpoints_of_agent ON webhook_endpoints (agent, created_at, endpoint_id)`,

  `CREATE TABLE webhook_events (
     event_id ${text} PRIMARY KEY,
     endpoint_id ${text} NOT NULL REFERENCES webhook_endpoints (endpoint_id),
     event ${text} NOT NULL,
     ask_id ${text},
     body ${text},
     state ${text} NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
     due_at ${integer} NOT NULL,
     attempt ${integer} NOT NULL,
     epoch ${integer} NOT NULL,
     status ${integer},
     error ${text},
     reply ${text},
     created_at ${integer} NOT NULL,
     changed_at ${integer} NOT NULL,
     message ${text}
   )${strict}`,
  `CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE state = 'pending'`,
  `CREATE INDEX webhook_events_of_endpoint ON webhook_events (endpoint_id, created_at, event_id)`,

  `CREATE TABLE conversations (
     number ${integer} PRIMARY KEY,
     entry ${text} NOT NULL,
     agent ${text} NOT NULL,
     channel ${text} NOT NULL CHECK (channel IN ('slack', 'email', 'sms', 'whatsapp', 'inbox')),
     person ${text} REFERENCES people (person_id),
     opener ${text} NOT NULL,
     target ${text} NOT NULL,
     sealed_key ${text},
     created_at ${integer} NOT NULL,
     said_at ${integer} NOT NULL
   )${strict}`,
  `CREATE INDEX conversations_of_person ON conversations (person, said_at) WHERE person IS NOT NULL`,
  `CREATE INDEX conversations_quiet ON conversations (said_at)`,

  `CREATE TABLE conversation_threads (
     thread ${text} PRIMARY KEY,
     conversation ${integer} NOT NULL REFERENCES conversations (number)
   )${strict}`,
  `CREATE INDEX conversation_threads_of ON conversation_threads (conversation)`,

  `CREATE TABLE conversation_messages (
     uid ${text} PRIMARY KEY,
     seq ${integer} NOT NULL UNIQUE,
     conversation ${integer} NOT NULL REFERENCES conversations (number),
     agent ${text} NOT NULL,
     source ${text} NOT NULL UNIQUE,
     words ${text} NOT NULL,
     raw ${text} NOT NULL,
     follow_up ${integer} NOT NULL CHECK (follow_up IN (0, 1)),
     created_at ${integer} NOT NULL,
     acked_at ${integer}
   )${strict}`,
  `CREATE INDEX conversation_messages_of_agent ON conversation_messages (agent, seq)`,
  `CREATE INDEX conversation_messages_untaken ON conversation_messages (agent, seq) WHERE acked_at IS NULL`,
  `CREATE INDEX conversation_messages_of ON conversation_messages (conversation, seq)`,
  `INSERT INTO numbers (name, last) VALUES ('conversation message', 0)`,
  `CREATE INDEX addressed_asks_of_conversation ON addressed_asks (conversation, created_at)
     WHERE conversation IS NOT NULL`,
  `CREATE INDEX heard_to_forget ON heard (at) WHERE provider <> 'twilio'`,
];
