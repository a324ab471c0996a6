import type { Migration } from "./migration.ts";

/** A request knows the function of its call, by which alike calls are counted and found; null for what is no call. */
export const functionsOfCalls: Migration = {
  number: 40,
  name: "functions of calls",
  statements: ({ text, member }) => [
    `ALTER TABLE requests ADD COLUMN fn ${text}`,
    `UPDATE requests SET fn = ${member("form", "fn")} WHERE kind = 'approval'`,
    "CREATE INDEX requests_of_functions ON requests (asker, fn, settled_at) WHERE fn IS NOT NULL AND state = 'answered'",
  ],
};
