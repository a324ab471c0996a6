import type { Migration } from "./migration.ts";

/** At which time of the store's clock the uptime of which boot was zero: SQLite's clock goes on from there. */
export const clock: Migration = {
  number: 23,
  name: "clock",
  statements: ({ integer, text }) => [
    `ALTER TABLE meta ADD COLUMN clock_boot ${text}`,
    `ALTER TABLE meta ADD COLUMN clock_zero_ms ${integer} NOT NULL DEFAULT 0`,
  ],
};
