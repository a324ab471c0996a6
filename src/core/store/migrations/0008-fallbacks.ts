import type { Migration } from "./migration.ts";

/** Questions that go to a named person when nobody of the crowd answers. */
export const fallbacks: Migration = {
  number: 8,
  name: "fallbacks",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE fallbacks (
       ask_id ${text} PRIMARY KEY REFERENCES asks (ask_id),
       person ${text} NOT NULL,
       due_at ${integer} NOT NULL,
       addressed_id ${text},
       over ${integer} NOT NULL CHECK (over IN (0, 1))
     )${strict}`,
    `CREATE INDEX fallbacks_due ON fallbacks (due_at) WHERE over = 0`,
  ],
};
