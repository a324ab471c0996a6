import type { Migration } from "./migration.ts";

/** The ends of calls that executors' asks allowed without a request to people. */
export const askOutcomes: Migration = {
  number: 50,
  name: "ask outcomes",
  statements: ({ text, integer, strict }) => [
    `CREATE TABLE ask_outcomes (
      ask_id ${text} NOT NULL PRIMARY KEY,
      asker ${text} NOT NULL,
      state ${text} NOT NULL CHECK (state IN
        ('awaited', 'started', 'done', 'failed', 'unknown', 'not_run', 'withdrawn', 'not_reported')),
      at ${integer} NOT NULL,
      due_at ${integer},
      run ${text},
      result_digest ${text},
      words ${text}
    )${strict}`,
    "CREATE INDEX ask_outcomes_at ON ask_outcomes (at)",
    "CREATE INDEX ask_outcomes_due ON ask_outcomes (due_at) WHERE due_at IS NOT NULL",
    `ALTER TABLE jobs ADD COLUMN awaits_reports ${integer} NOT NULL DEFAULT 0 CHECK (awaits_reports IN (0, 1))`,
  ],
};
