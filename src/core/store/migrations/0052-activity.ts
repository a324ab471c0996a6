import type { Migration } from "./migration.ts";

/** Executors' asks are found by their end, as requests and questions are. */
export const activity: Migration = {
  number: 52,
  name: "activity",
  statements: () => ["CREATE INDEX asks_ended ON asks (ended_at, ask_id) WHERE ended_at IS NOT NULL"],
};
