import type { Migration } from "./migration.ts";

/** Each table that was named otherwise than what its rows are called, with its present name. */
export const RENAMED_TABLES: readonly [before: string, now: string][] = [
  ["addressed_asks", "requests"],
  ["addressed_waits", "request_waits"],
  ["addressees", "request_recipients"],
  ["heard", "inbound_messages"],
  ["standings", "scores"],
  ["aa_tasks", "tasks"],
  ["aa_deps", "task_dependencies"],
  ["aa_attempts", "task_attempts"],
  ["aa_events", "task_events"],
  ["aa_board", "task_board_events"],
  ["aa_boards", "task_boards"],
  ["aa_repos", "task_repositories"],
  ["aa_reviews", "task_reviews"],
  ["aa_idempotency", "task_idempotency"],
  ["aa_workshops", "task_workshops"],
];

/**
 * Names tables by what their rows are called elsewhere. Indexes keep their names: SQLite renames none, and to make them
 * anew would take minutes in a large store.
 */
export const tableNames: Migration = {
  number: 33,
  name: "names of tables",
  statements: () => RENAMED_TABLES.map(([before, now]) => `ALTER TABLE ${before} RENAME TO ${now}`),
};
