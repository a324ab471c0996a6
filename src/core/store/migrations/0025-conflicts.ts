import type { Migration } from "./migration.ts";

/** The merge conflict of a task's dependencies: which tasks, in which files, and whether somebody chose to wait. */
export const conflicts: Migration = {
  number: 25,
  name: "conflicts",
  statements: ({ text }) => [`ALTER TABLE aa_tasks ADD COLUMN conflict_json ${text}`],
};
