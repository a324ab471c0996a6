import type { Migration } from "./migration.ts";

/** Somebody freezes an agent, a person's agents or all: nothing is allowed and deadlines stand still until a thaw. */
export const freezes: Migration = {
  number: 48,
  name: "freezes",
  statements: ({ text, integer, strict }) => [
    `CREATE TABLE freezes (
      freeze_id ${text} NOT NULL PRIMARY KEY,
      scope ${text} NOT NULL CHECK (scope IN ('all', 'person', 'agent')),
      subject ${text} NOT NULL,
      made_by ${text} NOT NULL,
      made_by_kind ${text} NOT NULL,
      via ${text} NOT NULL,
      reason ${text},
      made_at ${integer} NOT NULL,
      settled_at ${integer} NOT NULL,
      UNIQUE (scope, subject)
    )${strict}`,
    `ALTER TABLE gate_calls ADD COLUMN frozen_ms ${integer} NOT NULL DEFAULT 0`,
  ],
};
