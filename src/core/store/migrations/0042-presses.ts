import type { Migration } from "./migration.ts";

/** An open request holds the decisions that were pressed in the app and can still be undone, and when the first leaves. */
export const presses: Migration = {
  number: 42,
  name: "presses",
  statements: ({ text, integer }) => [
    `ALTER TABLE requests ADD COLUMN presses ${text}`,
    `ALTER TABLE requests ADD COLUMN press_due_at ${integer}`,
    "CREATE INDEX requests_pressed ON requests (press_due_at) WHERE press_due_at IS NOT NULL",
  ],
};
