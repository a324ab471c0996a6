import type { Migration } from "./migration.ts";

/** Admins look at everybody's asks and jobs, the newest first. */
export const relayNewest: Migration = {
  number: 18,
  name: "relay newest",
  statements: () => [
    `CREATE INDEX relay_asks_newest ON asks (created_at, ask_id)`,
    `CREATE INDEX jobs_newest ON jobs (created_at, job_id)`,
  ],
};
