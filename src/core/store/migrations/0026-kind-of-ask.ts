import type { Migration } from "./migration.ts";

/** The kind of decision that an ask needs, in a column of its own, so that the store filters and counts an inbox. */
export const kindOfAsk: Migration = {
  number: 26,
  name: "kind of ask",
  statements: ({ text }) => [
    `ALTER TABLE addressed_asks ADD COLUMN kind ${text} CHECK (kind IN ('approval', 'reply', 'value'))`,
    // A form's JSON has always begun with its kind.
    `UPDATE addressed_asks SET kind = CASE
       WHEN form LIKE '{"kind":"approval"%' THEN 'approval'
       WHEN form LIKE '{"kind":"reply"%' THEN 'reply'
       ELSE 'value' END`,
  ],
};
