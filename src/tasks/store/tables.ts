import { revokeSelected } from "../../access/store/keys.ts";
import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { sql } from "../../core/store/sql.ts";

export const TASK_TABLES: OwnedTables = {
  names: [
    "task_attempts",
    "task_board_events",
    "task_boards",
    "task_dependencies",
    "task_events",
    "task_idempotency",
    "task_repositories",
    "task_reviews",
    "task_workshops",
    "tasks",
  ],
  atRestore: {
    task_attempts: {
      ends: (atMs) => [
        revokeSelected(sql`SELECT key_id FROM task_attempts WHERE ended_at IS NULL AND key_id IS NOT NULL`, atMs),
      ],
    },
    task_board_events: "stays",
    task_boards: "stays",
    task_dependencies: "stays",
    task_events: "stays",
    task_idempotency: "stays",
    task_repositories: "stays",
    task_reviews: "stays",
    // An attempt of a workshop that is silent for long is lost; the lease of its job ends with those of all jobs.
    task_workshops: { ends: () => [sql`UPDATE task_workshops SET seen_at = 0`] },
    tasks: "stays",
  },
  // Silence is counted from this time, so it may not lie ahead of now.
  moveTimes: ({ nowMs }) => [sql`UPDATE task_workshops SET seen_at = ${nowMs} WHERE seen_at > ${nowMs}`],
  ownSentences: ["task_events.data_json", "task_board_events.data_json", "tasks.feedback_json", "tasks.error"],
};
