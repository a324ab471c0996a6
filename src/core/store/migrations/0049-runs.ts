import type { Migration } from "./migration.ts";

/** A request holds the key of the run or task of its agent, by which the timeline of that is read; freezes are found by time. */
export const runs: Migration = {
  number: 49,
  name: "runs",
  statements: ({ text }) => [
    `ALTER TABLE requests ADD COLUMN run ${text}`,
    `CREATE INDEX requests_of_runs ON requests (run, created_at, ask_id) WHERE run IS NOT NULL`,
    `CREATE INDEX audit_of_freezes ON audit (at, id) WHERE action IN ('freeze.made', 'freeze.ended')`,
  ],
};
