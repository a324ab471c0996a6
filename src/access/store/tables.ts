import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { sql } from "../../core/store/sql.ts";

export const ACCESS_TABLES: OwnedTables = {
  names: ["identities", "keys", "numbers", "people", "sign_in_codes", "sign_ins"],
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
