import type { Migration } from "./migration.ts";

/** A permission may cover calls by a pattern, as JSON; null for one that covers exactly one call, or one class of asks. */
export const grantPatterns: Migration = {
  number: 39,
  name: "patterns of permissions",
  statements: ({ text }) => [`ALTER TABLE policy_grants ADD COLUMN pattern ${text}`],
};
