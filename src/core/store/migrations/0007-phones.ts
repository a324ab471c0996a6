import type { Migration } from "./migration.ts";

/** The facts remembered about phone numbers: who wants no messages, and when each number last wrote. */
export const phones: Migration = {
  number: 7,
  name: "phones",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE phones (
       kind ${text} NOT NULL CHECK (kind IN ('sms', 'whatsapp')),
       number ${text} NOT NULL,
       opted_out ${integer} NOT NULL CHECK (opted_out IN (0, 1)),
       heard_at ${integer},
       PRIMARY KEY (kind, number)
     )${strict}`,
  ],
};
