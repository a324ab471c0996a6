import type { Migration } from "./migration.ts";

/**
 * The last sign of life of each process that runs attempts on a machine; one that is gone for good holds no task up.
 */
export const workshops: Migration = {
  number: 22,
  name: "workshops",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE aa_workshops (
       holder ${text} PRIMARY KEY,
       seen_at ${integer} NOT NULL
     )${strict}`,
  ],
};
