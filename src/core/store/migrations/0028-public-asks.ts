import type { Migration } from "./migration.ts";

/** Lets an executor's ask be a question to the crowd; the ask ends with the question. */
export const publicAsks: Migration = {
  number: 28,
  name: "public asks",
  statements: ({ text }) => [
    `ALTER TABLE asks ADD COLUMN question_id ${text}`,
    `CREATE UNIQUE INDEX asks_question ON asks (question_id) WHERE question_id IS NOT NULL`,
  ],
};
