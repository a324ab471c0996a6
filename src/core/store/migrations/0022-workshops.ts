import type { Migration } from "./migration.ts";

/** When whoever runs attempts on a machine was last heard of; one that is gone for good holds no task up. */
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
