import type { Migration } from "./migration.ts";

/** The notices to devices: a row for each device and ask, written before anything is sent. */
export const notices: Migration = {
  number: 4,
  name: "notices",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE notices (
       ask_id ${text} NOT NULL,
       subscription_id ${text} NOT NULL,
       person ${text} NOT NULL,
       kind ${text} NOT NULL CHECK (kind IN ('crowd', 'addressed')),
       state ${text} NOT NULL CHECK (state IN ('queued', 'sent', 'failed', 'dropped')),
       due_at ${integer} NOT NULL,
       attempt ${integer} NOT NULL,
       epoch ${integer} NOT NULL,
       told_at ${integer} NOT NULL,
       PRIMARY KEY (ask_id, subscription_id)
     )${strict}`,
    `CREATE UNIQUE INDEX notices_once ON notices (ask_id, person) WHERE kind = 'crowd'`,
    `CREATE INDEX notices_due ON notices (due_at) WHERE state = 'queued'`,
    `CREATE INDEX notices_of_person ON notices (person)`,
    `CREATE INDEX notices_told ON notices (told_at)`,
  ],
};
