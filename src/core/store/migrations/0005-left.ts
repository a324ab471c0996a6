import type { Migration } from "./migration.ts";

/** People who are enrolled no longer: their rows stay, because what they decided names them. */
export const left: Migration = {
  number: 5,
  name: "left",
  statements: ({ integer }) => [`ALTER TABLE people ADD COLUMN left_at ${integer}`],
};
