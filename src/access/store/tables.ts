import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { sql } from "../../core/store/sql.ts";

export const ACCESS_TABLES: OwnedTables = {
  names: ["identities", "keys", "numbers", "people", "sign_in_codes", "sign_ins"],
  atRestore: {
    identities: "stays",
    keys: {
      held: {
        kind: "access",
        noun: "keys",
        hold: (atMs) => [
          sql`UPDATE keys SET held_at = ${atMs}
            WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${atMs})`,
        ],
        list: (atMs) => sql`SELECT key_id || ' ' || scope || ' ' || name AS name FROM keys
          WHERE held_at = ${atMs} AND revoked_at IS NULL ORDER BY scope, name, key_id`,
        putBack: (atMs) => [sql`UPDATE keys SET held_at = NULL WHERE held_at = ${atMs}`],
      },
    },
    numbers: "stays",
    people: "stays",
    sign_in_codes: { ends: () => [sql`DELETE FROM sign_in_codes`] },
    sign_ins: { ends: () => [sql`DELETE FROM sign_ins`] },
  },
  moveTimes: ({ wrongMs, nowMs }) => [
    sql`UPDATE keys SET expires_at = expires_at - ${wrongMs - nowMs} WHERE created_at > ${nowMs}`,
    sql`UPDATE sign_in_codes SET expires_at = expires_at - ${wrongMs - nowMs} WHERE expires_at > ${wrongMs}`,
    // Sessions last from this time, so it may not lie ahead of now.
    sql`UPDATE sign_ins SET seen_at = ${nowMs} WHERE seen_at > ${nowMs}`,
  ],
};

/** The columns of keys that other rooms read. */
export const SHOWN_KEYS = sql`(SELECT key_id, name, conversation FROM keys)`;
/** The sequences, which other rooms read. */
export const SHOWN_NUMBERS = sql`(SELECT name, last FROM numbers)`;
