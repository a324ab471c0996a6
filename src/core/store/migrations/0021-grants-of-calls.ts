import type { Migration } from "./migration.ts";

/** The digest of the exact function call that is allowed for good; null for the asks of executors. */
export const grantsOfCalls: Migration = {
  number: 21,
  name: "grants of calls",
  statements: ({ text }) => [`ALTER TABLE policy_grants ADD COLUMN digest ${text}`],
};
