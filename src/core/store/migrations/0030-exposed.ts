import type { Migration } from "./migration.ts";

/**
 * When a message's token was seen in words that agents can read: from then on it answers nothing. Notes to people held
 * links and codes in clear; of those that were sent nothing is kept, and those that wait are not sent.
 */
export const exposed: Migration = {
  number: 30,
  name: "exposed deliveries",
  statements: ({ integer }) => [
    `ALTER TABLE deliveries ADD COLUMN exposed_at ${integer}`,
    `UPDATE deliveries SET words = NULL,
       state = CASE WHEN state IN ('queued', 'sending') THEN 'skipped' ELSE state END WHERE kind = 'tell'`,
  ],
};
