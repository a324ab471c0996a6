import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { join, type Sql, sql } from "../../core/store/sql.ts";

export const REQUEST_TABLES: OwnedTables = {
  names: ["decisions", "deliveries", "inbound_messages", "phones", "request_recipients", "request_waits", "requests"],
  moveOpen: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE requests SET created_at = created_at - ${by}, expires_at = expires_at - ${by},
          waited_until = waited_until - ${by}
        WHERE state = 'open' AND created_at > ${nowMs} RETURNING 1 AS moved`,
    ];
  },
  moveTimes: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE request_waits SET created_at = created_at - ${by}, kept_until = kept_until - ${by}
        WHERE created_at > ${nowMs}`,
      sql`UPDATE deliveries SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
    ];
  },
  countPassed: (sinceMs) => sql`SELECT count(*) FROM requests
    WHERE state = 'open' AND expires_at > ${sinceMs} AND expires_at <= (SELECT parley_now())`,
  ownSentences: ["deliveries.words"],
  targets: ["requests.audience", "deliveries.target", "deliveries.long_target"],
  followed: [
    { from: "request_recipients", by: "ask_id", to: "requests", column: "ask_id" },
    { from: "decisions", by: "ask_id", to: "requests", column: "ask_id" },
  ],
};

/** The columns of requests that other rooms read. */
export const SHOWN_REQUESTS = sql`(SELECT ask_id, asker, door, state, title, wire, outcome, conversation, created_at,
  expires_at, settled_at FROM requests)`;
/** True in SQL where the request is addressed to one of these readers. */
export const hasReader = (askId: Sql, readers: readonly string[]): Sql =>
  sql`EXISTS (SELECT 1 FROM request_recipients t WHERE t.ask_id = ${askId} AND t.reader IN (${join([...readers])}))`;
