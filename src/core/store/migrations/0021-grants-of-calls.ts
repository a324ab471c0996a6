import type { Migration } from "./migration.ts";

/** What exactly is allowed for good, where that is a function call; null for what executors ask. */
export const grantsOfCalls: Migration = {
  number: 21,
  name: "grants of calls",
  statements: ({ text }) => [`ALTER TABLE policy_grants ADD COLUMN digest ${text}`],
};
