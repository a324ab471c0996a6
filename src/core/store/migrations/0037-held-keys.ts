import type { Migration } from "./migration.ts";

/** A key is out of force from `held_at` on, when a restore held it, until the operator puts it back. */
export const heldKeys: Migration = {
  number: 37,
  name: "held keys",
  statements: ({ integer }) => [`ALTER TABLE keys ADD COLUMN held_at ${integer}`],
};
