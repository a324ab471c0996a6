import type { Migration } from "./migration.ts";

/**
 * A permission may cover calls by a pattern, as JSON; null for one that covers exactly one call, or one class of asks.
 * A rule may allow so many calls, or so much of an argument in millionths, within a period.
 */
export const patternsAndAllowances: Migration = {
  number: 39,
  name: "patterns of permissions, and allowances",
  statements: ({ text, integer, strict }) => [
    `ALTER TABLE policy_grants ADD COLUMN pattern ${text}`,
    `CREATE TABLE policy_allowances (
      rule ${text} NOT NULL,
      subject ${text} NOT NULL,
      opened_at ${integer} NOT NULL,
      calls ${integer} NOT NULL,
      amount ${integer} NOT NULL,
      PRIMARY KEY (rule, subject)
    )${strict}`,
    "CREATE INDEX policy_allowances_opened ON policy_allowances (opened_at)",
  ],
};
