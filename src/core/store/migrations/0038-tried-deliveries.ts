import type { Migration } from "./migration.ts";

/**
 * When a message was last tried. `changed_at` moves when its request ends too; of a message from before, it says when it
 * was tried only while that has not happened.
 */
export const triedDeliveries: Migration = {
  number: 38,
  name: "tried deliveries",
  statements: ({ integer }) => [
    `ALTER TABLE deliveries ADD COLUMN tried_at ${integer}`,
    `UPDATE deliveries SET tried_at = CASE WHEN state IN ('sent', 'failed') THEN changed_at ELSE created_at END
      WHERE external_ids IS NOT NULL OR last_error IS NOT NULL OR state = 'failed'`,
  ],
};
