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
  // Silence is counted from this time, so it may not lie ahead of now.
  moveTimes: ({ nowMs }) => [sql`UPDATE task_workshops SET seen_at = ${nowMs} WHERE seen_at > ${nowMs}`],
  ownSentences: ["task_events.data_json", "task_board_events.data_json", "tasks.feedback_json", "tasks.error"],
};
