import type { Migration } from "./migration.ts";

/**
 * A subscription to what a person is asked belongs to the session or key under which it was made. Of those from before
 * nobody knows which that was: they end. A participant is nobody's device any more: its credential spoke for the person
 * long after the session was over, and so did its recovery code.
 */
export const boundSubscriptions: Migration = {
  number: 31,
  name: "bound subscriptions",
  statements: ({ text }) => [
    `ALTER TABLE push_subscriptions ADD COLUMN credential ${text}`,
    `CREATE INDEX push_subscriptions_of_credential ON push_subscriptions (credential) WHERE credential IS NOT NULL`,
    `UPDATE push_subscriptions SET active = 0 WHERE person IN (SELECT person_id FROM people)`,
    `UPDATE participants SET recovery_hash = NULL, recovery_expires_at = NULL WHERE person IS NOT NULL`,
    `UPDATE participants SET person = NULL WHERE person <> participant_id`,
  ],
};
