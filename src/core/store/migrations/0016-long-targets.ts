import type { Migration } from "./migration.ts";

/** The recipient of a message, where it is too long for the index that lets each message be planned once. */
export const longTargets: Migration = {
  number: 16,
  name: "long targets",
  statements: ({ text }) => [`ALTER TABLE deliveries ADD COLUMN long_target ${text}`],
};
