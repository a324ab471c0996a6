import type { Migration } from "./migration.ts";

/** A person is away until a time, perhaps with a stand-in. */
export const absences: Migration = {
  number: 45,
  name: "absences",
  statements: ({ text, integer, strict }) => [
    `CREATE TABLE absences (
      person ${text} NOT NULL PRIMARY KEY,
      stand_in ${text},
      from_at ${integer} NOT NULL,
      until ${integer} NOT NULL
    )${strict}`,
    "CREATE INDEX absences_stand_in ON absences (stand_in)",
  ],
};
