import type { Migration } from "./migration.ts";

/** Waits that outlive the request that began them: the tasks of MCP. */
export const waits: Migration = {
  number: 2,
  name: "waits",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE waits (
       wait_id ${text} PRIMARY KEY,
       asker ${text} NOT NULL,
       ask_id ${text} NOT NULL REFERENCES asks (ask_id),
       wanted ${integer} NOT NULL CHECK (wanted >= 1),
       created_at ${integer} NOT NULL,
       kept_until ${integer} NOT NULL CHECK (kept_until > created_at),
       cancelled_at ${integer}
     )${strict}`,
    `CREATE INDEX waits_of_ask ON waits (ask_id, kept_until)`,
  ],
};
