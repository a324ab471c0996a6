import type { Migration } from "./migration.ts";

/** What an executor asks may be a question to the crowd, which it then ends with. */
export const publicAsks: Migration = {
  number: 28,
  name: "public asks",
  statements: ({ text }) => [
    `ALTER TABLE asks ADD COLUMN question_id ${text}`,
    `CREATE UNIQUE INDEX asks_question ON asks (question_id) WHERE question_id IS NOT NULL`,
  ],
};
