import type { Migration } from "./migration.ts";

/** A person has handed an open request of their inbox on: a row for each person who received it. */
export const handOns: Migration = {
  number: 43,
  name: "hand ons",
  statements: ({ text, integer, strict }) => [
    `CREATE TABLE request_hand_ons (
      ask_id ${text} NOT NULL,
      person ${text} NOT NULL,
      receiver ${text} NOT NULL,
      group_name ${text},
      note ${text},
      at ${integer} NOT NULL,
      PRIMARY KEY (ask_id, person, receiver)
    )${strict}`,
    "CREATE INDEX request_hand_ons_to ON request_hand_ons (receiver)",
  ],
};
