import { type OwnedTables, sealedColumn } from "./owned-tables.ts";
import { sql } from "./sql.ts";

export const CORE_TABLES: OwnedTables = {
  names: [
    "audit",
    "audit_head",
    "events",
    "idempotency",
    "limit_windows",
    "meta",
    "migrations",
    "sealed_secrets",
    "streams",
  ],
  atRestore: {
    audit: "stays",
    audit_head: "stays",
    events: "stays",
    idempotency: "stays",
    limit_windows: "stays",
    meta: "stays",
    migrations: "stays",
    sealed_secrets: "stays",
    streams: "stays",
  },
  moveTimes: ({ wrongMs, nowMs }) => [
    sql`UPDATE idempotency SET expires_at = expires_at - ${wrongMs - nowMs} WHERE expires_at > ${wrongMs}`,
    // Periods are counted from this time, so it may not lie ahead of now.
    sql`UPDATE limit_windows SET opened_at = ${nowMs} WHERE opened_at > ${nowMs}`,
    sql`UPDATE events SET at = ${nowMs} WHERE at > ${nowMs}`,
  ],
  sealed: [sealedColumn("sealed_secrets", "name", "sealed")],
  unchanging: ["audit.entry", "audit.prev", "audit.hash"],
};

/** The columns of the record that other rooms read. */
export const SHOWN_ENTRIES = sql`(SELECT ask_id, call_id, at, action FROM audit)`;
/** The columns of events that other rooms read. */
export const SHOWN_EVENTS = sql`(SELECT stream, seq, ask_id, version, at FROM events)`;
/** The columns of idempotency keys that other rooms read. */
export const SHOWN_KEYED_CALLS = sql`(SELECT principal, verb, object_id, reply, expires_at FROM idempotency)`;
