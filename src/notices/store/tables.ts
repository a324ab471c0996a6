import { SEALED_BODY, sealedBodyOf } from "../model/sealed-body.ts";
import { type OwnedTables, sealedColumn } from "../../core/store/owned-tables.ts";
import { sql } from "../../core/store/sql.ts";

/** The error of an event that a restore holds. */
const AT_RESTORE = "restored";

export const NOTICE_TABLES: OwnedTables = {
  names: ["notices", "push_subscriptions", "webhook_endpoints", "webhook_events"],
  atRestore: {
    // A notice says only that something waits: an old one is worth nothing.
    notices: { ends: () => [sql`UPDATE notices SET state = 'dropped', epoch = epoch + 1 WHERE state = 'queued'`] },
    push_subscriptions: {
      ends: (atMs) => [
        sql`UPDATE push_subscriptions SET active = 0, updated_at = ${atMs} WHERE active = 1 AND credential IS NOT NULL`,
      ],
    },
    webhook_endpoints: {
      held: {
        kind: "access",
        noun: "webhook endpoints",
        hold: (atMs) => [sql`UPDATE webhook_endpoints SET enabled = 0, failing_since = ${atMs} WHERE enabled = 1`],
        list: (atMs) => sql`SELECT endpoint_id || ' of ' || agent AS name FROM webhook_endpoints
          WHERE enabled = 0 AND failing_since = ${atMs} ORDER BY created_at, endpoint_id`,
        putBack: (atMs) => [
          sql`UPDATE webhook_endpoints SET enabled = 1, failing_since = NULL
            WHERE enabled = 0 AND failing_since = ${atMs}`,
        ],
      },
    },
    webhook_events: {
      held: {
        kind: "messages",
        noun: "webhook events",
        hold: (atMs) => [
          sql`UPDATE webhook_events SET state = 'dead', error = ${AT_RESTORE}, epoch = epoch + 1, changed_at = ${atMs}
            WHERE state = 'pending'`,
        ],
        list: (atMs) => sql`SELECT event_id || ' ' || event AS name FROM webhook_events
          WHERE state = 'dead' AND error = ${AT_RESTORE} AND changed_at = ${atMs} ORDER BY due_at, event_id`,
        putBack: (atMs) => [
          sql`UPDATE webhook_events SET state = 'pending', error = NULL, attempt = 0, changed_at = (SELECT parley_now())
            WHERE state = 'dead' AND error = ${AT_RESTORE} AND changed_at = ${atMs}`,
        ],
      },
    },
  },
  moveTimes: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE notices SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
      sql`UPDATE webhook_events SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
    ];
  },
  sealed: [
    sealedColumn("webhook_endpoints", "endpoint_id", "secrets"),
    {
      table: "webhook_events",
      key: "event_id",
      column: "body",
      where: `body LIKE '${SEALED_BODY}%'`,
      find(text, key) {
        const sealed = sealedBodyOf(text);
        return sealed === null ? null : { sealed, rowId: key };
      },
    },
  ],
  ownSentences: ["webhook_events.body", "webhook_events.message"],
};
