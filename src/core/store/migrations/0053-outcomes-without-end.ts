import type { Migration } from "./migration.ts";

/** Indexes of the calls that run or have no known end: pages that count them read no others. */
export const outcomesWithoutEnd: Migration = {
  number: 53,
  name: "outcomes without end",
  statements: () => [
    "CREATE INDEX call_outcomes_without_end ON call_outcomes (at) WHERE state IN ('started', 'unknown')",
    "CREATE INDEX ask_outcomes_without_end ON ask_outcomes (at) WHERE state IN ('started', 'unknown')",
  ],
};
