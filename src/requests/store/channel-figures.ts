import { first, type Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** Figures about the messages of one channel. */
export interface ChannelFigures {
  channel: string;
  /** When its provider last took a message. */
  sentAt: number | null;
  /** When a message was last given up. */
  failedAt: number | null;
  /** The error of that message, in a word. */
  error: string | null;
  /** Messages that failed and will be tried again. */
  retrying: number;
}

/** Returns the figures of every channel that ever had a message to send. */
export async function readChannelFigures(on: Queryable): Promise<ChannelFigures[]> {
  const rows = await on.all<{
    channel: string;
    sent_at: number | null;
    failed_at: number | null;
    error: string | null;
    retrying: number;
  }>(
    sql`SELECT d.channel, max(CASE WHEN d.external_ids IS NOT NULL THEN d.changed_at END) AS sent_at,
        max(CASE WHEN d.state = 'failed' THEN d.changed_at END) AS failed_at,
        count(CASE WHEN d.state IN ('queued', 'sending') AND d.last_error IS NOT NULL THEN 1 END) AS retrying,
        (SELECT f.last_error FROM deliveries f WHERE f.channel = d.channel AND f.state = 'failed'
          ORDER BY f.changed_at DESC LIMIT 1) AS error
      FROM deliveries d WHERE d.kind <> 'tell' AND d.channel <> 'inbox' GROUP BY d.channel
      UNION ALL
      SELECT 'push', max(CASE WHEN state = 'sent' THEN told_at END), max(CASE WHEN state = 'failed' THEN told_at END),
        count(CASE WHEN state = 'queued' AND attempt > 1 THEN 1 END), NULL FROM notices`,
  );
  return rows.map((row) => ({
    channel: row.channel,
    sentAt: row.sent_at,
    failedAt: row.failed_at,
    error: row.error,
    retrying: row.retrying,
  }));
}

/** Returns the state of the notification about a request that got farthest; undefined without a notification. */
export async function findPushState(
  on: Queryable,
  askId: string,
): Promise<{ state: "queued" | "sent" | "failed" | "dropped"; attempt: number } | undefined> {
  return first(
    on,
    sql`SELECT state, attempt FROM notices WHERE ask_id = ${askId}
      ORDER BY CASE state WHEN 'sent' THEN 0 WHEN 'queued' THEN 1 ELSE 2 END LIMIT 1`,
  );
}
