import type { Migration } from "./migration.ts";

/** The names that people choose for the leaderboard. A row without a person keeps a removed name from being chosen. */
export const leaderboardNames: Migration = {
  number: 35,
  name: "names on the leaderboard",
  statements: ({ text, integer, strict }) => [
    `CREATE TABLE leaderboard_names (
       name_key ${text} PRIMARY KEY,
       name ${text} NOT NULL,
       person ${text} UNIQUE,
       chosen_at ${integer} NOT NULL
     )${strict}`,
  ],
};
