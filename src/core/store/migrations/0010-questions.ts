import type { Migration } from "./migration.ts";

/** Renames the crowd's tables to questions and outcomes: `asks` and `answers` are the relay's (spec/relay 19). */
export const questions: Migration = {
  number: 10,
  name: "questions",
  statements: () => [`ALTER TABLE asks RENAME TO questions`, `ALTER TABLE answers RENAME TO outcomes`],
};
