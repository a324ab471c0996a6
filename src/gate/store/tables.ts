import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { raw, sql } from "../../core/store/sql.ts";
import { isFrozen, stoodFor } from "../../policy/store/freezes.ts";
import { SHOWN_CALLS } from "../../requests/store/tables.ts";

export const GATE_TABLES: OwnedTables = {
  names: ["gate_calls"],
  atRestore: {
    gate_calls: {
      ends: () => [
        // Its approval may have been used since the backup. A request that is open stays: people decide about it anew.
        sql`UPDATE gate_calls SET state = 'dropped' WHERE state = 'asked'
          AND NOT EXISTS (SELECT 1 FROM ${SHOWN_CALLS} a WHERE a.ask_id = gate_calls.ask_id AND a.state = 'open')`,
        sql`UPDATE gate_calls SET state = 'unknown' WHERE state = 'started'`,
      ],
    },
  },
  // The moment until which it is good is part of what was approved, so the time is kept beside it.
  standStill: (time) => [
    sql`UPDATE gate_calls SET frozen_ms = frozen_ms + (SELECT ${stoodFor(raw("a.created_at"), time)}
        FROM ${SHOWN_CALLS} a WHERE a.ask_id = gate_calls.ask_id)
      WHERE state = ${"asked"} AND ${isFrozen(raw("asker"))}
        AND EXISTS (SELECT 1 FROM ${SHOWN_CALLS} a WHERE a.ask_id = gate_calls.ask_id)`,
  ],
  moveTimes: ({ wrongMs, nowMs }) => [
    sql`UPDATE gate_calls SET held_until = held_until - ${wrongMs - nowMs} WHERE held_until > ${wrongMs}`,
    // The approval is bound to the moment until which it is good, so it is asked for again instead.
    sql`UPDATE gate_calls SET state = 'dropped' WHERE state = 'asked' AND good_until > ${nowMs}`,
  ],
};
