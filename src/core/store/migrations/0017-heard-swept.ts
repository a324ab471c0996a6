import type { Migration } from "./migration.ts";

/** Indexes received messages by their age, except those that are remembered for ever. */
export const heardSwept: Migration = {
  number: 17,
  name: "heard swept",
  statements: () => [`DROP INDEX heard_at`, `CREATE INDEX heard_to_forget ON heard (at) WHERE provider <> 'twilio'`],
};
