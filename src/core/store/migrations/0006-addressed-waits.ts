import type { Migration } from "./migration.ts";

/** Waits for people who were named: the tasks of MCP that stand for a contact, an approval, or a wait for one. */
export const addressedWaits: Migration = {
  number: 6,
  name: "addressed-waits",
  statements: ({ integer, text, strict }) => [
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
  ],
};
