import type { Migration } from "./migration.ts";

/** The webhook endpoints of agents, and every event that is sent there. */
export const webhooks: Migration = {
  number: 9,
  name: "webhooks",
  statements: ({ integer, text, strict }) => [
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
       changed_at ${integer} NOT NULL
     )${strict}`,
    `CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE state = 'pending'`,
    `CREATE INDEX webhook_events_of_endpoint ON webhook_events (endpoint_id, created_at, event_id)`,
  ],
};
