import type { Migration } from "./migration.ts";

/** When each key was last seen, to the hour. */
export const keyUsed: Migration = {
  number: 13,
  name: "key used",
  statements: ({ integer }) => [`ALTER TABLE keys ADD COLUMN used_at ${integer}`],
};
