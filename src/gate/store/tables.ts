import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { sql } from "../../core/store/sql.ts";

export const GATE_TABLES: OwnedTables = {
  names: ["gate_calls"],
  moveTimes: ({ wrongMs, nowMs }) => [
    sql`UPDATE gate_calls SET held_until = held_until - ${wrongMs - nowMs} WHERE held_until > ${wrongMs}`,
    // The approval is bound to the moment until which it is good, so it is asked for again instead.
    sql`UPDATE gate_calls SET state = 'dropped' WHERE state = 'asked' AND good_until > ${nowMs}`,
  ],
};
