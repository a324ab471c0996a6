import type { Migration } from "./migration.ts";

/** A person has put an open request of their inbox aside until a time. */
export const snoozes: Migration = {
  number: 41,
  name: "snoozes",
  statements: ({ text, integer, strict }) => [
    `CREATE TABLE request_snoozes (
      ask_id ${text} NOT NULL,
      person ${text} NOT NULL,
      until ${integer} NOT NULL,
      PRIMARY KEY (ask_id, person)
    )${strict}`,
    "CREATE INDEX request_snoozes_of_people ON request_snoozes (person, until)",
  ],
};
