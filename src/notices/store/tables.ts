import { SEALED_BODY, sealedBodyOf } from "../model/sealed-body.ts";
import { type OwnedTables, sealedColumn } from "../../core/store/owned-tables.ts";
import { sql } from "../../core/store/sql.ts";

export const NOTICE_TABLES: OwnedTables = {
  names: ["notices", "push_subscriptions", "webhook_endpoints", "webhook_events"],
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
