import type { Migration } from "./migration.ts";

/** A request holds the questions that people put to its agent before they decide, with its answers. */
export const inquiries: Migration = {
  number: 46,
  name: "inquiries",
  statements: ({ text }) => [`ALTER TABLE requests ADD COLUMN inquiries ${text}`],
};
