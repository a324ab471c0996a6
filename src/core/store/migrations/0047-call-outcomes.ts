import type { Migration } from "./migration.ts";

/** The ends of approved calls whose agents report them. */
export const callOutcomes: Migration = {
  number: 47,
  name: "call outcomes",
  statements: ({ text, integer, strict }) => [
    `CREATE TABLE call_outcomes (
      ask_id ${text} NOT NULL PRIMARY KEY,
      state ${text} NOT NULL CHECK (state IN
        ('awaited', 'started', 'done', 'failed', 'unknown', 'not_run', 'withdrawn', 'not_reported')),
      at ${integer} NOT NULL,
      due_at ${integer},
      run ${text},
      result_digest ${text},
      words ${text}
    )${strict}`,
    "CREATE INDEX call_outcomes_at ON call_outcomes (at)",
    "CREATE INDEX call_outcomes_due ON call_outcomes (due_at) WHERE due_at IS NOT NULL",
  ],
};
