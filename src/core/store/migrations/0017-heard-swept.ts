import type { Migration } from "./migration.ts";

/** What was heard is found by its age, but for what is remembered for ever. */
export const heardSwept: Migration = {
  number: 17,
  name: "heard swept",
  statements: () => [`DROP INDEX heard_at`, `CREATE INDEX heard_to_forget ON heard (at) WHERE provider <> 'twilio'`],
};
