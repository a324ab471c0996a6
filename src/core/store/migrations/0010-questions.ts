import type { Migration } from "./migration.ts";

/** What the crowd is asked is called questions and outcomes: `asks` and `answers` are the relay's (spec/relay 19). */
export const questions: Migration = {
  number: 10,
  name: "questions",
  statements: () => [`ALTER TABLE asks RENAME TO questions`, `ALTER TABLE answers RENAME TO outcomes`],
};
