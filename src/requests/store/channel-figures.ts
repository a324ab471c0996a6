import type { RequestId } from "../../core/model/ids.ts";
import { first, type Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** Figures about the messages of one channel. */
export interface ChannelFigures {
  channel: string;
  /** When its provider last took a message. */
  sentAt: number | null;
  /** When a message was last given up. */
  failedAt: number | null;
  /** Messages that were given up since its provider last took one, and when the first of them was. */
  failed: number;
  failingSince: number | null;
  /** The last error, in a word: of a message that was given up or will be tried again. */
  error: string | null;
  /** Messages that failed and will be tried again. */
  retrying: number;
}

const isGivenUp = sql`d.state = 'failed' AND d.tried_at > coalesce(d.sent_at, 0)`;

/** Returns the figures of every channel that ever had a message to send. */
export async function readChannelFigures(on: Queryable): Promise<ChannelFigures[]> {
  const rows = await on.all<{
    channel: string;
    sent_at: number | null;
    failed_at: number | null;
    failed: number;
    failing_since: number | null;
    error: string | null;
    retrying: number;
  }>(
    sql`SELECT d.channel, d.sent_at, max(CASE WHEN d.state = 'failed' THEN d.tried_at END) AS failed_at,
        count(CASE WHEN ${isGivenUp} THEN 1 END) AS failed, min(CASE WHEN ${isGivenUp} THEN d.tried_at END) AS failing_since,
        count(CASE WHEN d.state IN ('queued', 'sending') AND d.last_error IS NOT NULL THEN 1 END) AS retrying,
        (SELECT f.last_error FROM deliveries f WHERE f.channel = d.channel AND f.last_error IS NOT NULL
          AND f.state IN ('queued', 'sending', 'failed') ORDER BY f.tried_at DESC LIMIT 1) AS error
      FROM (SELECT channel, state, last_error, tried_at,
          max(CASE WHEN external_ids IS NOT NULL THEN tried_at END) OVER (PARTITION BY channel) AS sent_at
        FROM deliveries WHERE kind <> 'tell' AND channel <> 'inbox') AS d GROUP BY d.channel, d.sent_at
      UNION ALL
      SELECT 'push', d.sent_at, max(CASE WHEN d.state = 'failed' THEN d.tried_at END),
        count(CASE WHEN ${isGivenUp} THEN 1 END), min(CASE WHEN ${isGivenUp} THEN d.tried_at END),
        count(CASE WHEN d.state = 'queued' AND d.attempt > 1 THEN 1 END), NULL
      FROM (SELECT state, attempt, told_at AS tried_at, max(CASE WHEN state = 'sent' THEN told_at END) OVER () AS sent_at
        FROM notices) AS d GROUP BY d.sent_at`,
  );
  return rows.map((row) => ({
    channel: row.channel,
    sentAt: row.sent_at,
    failedAt: row.failed_at,
    failed: row.failed,
    failingSince: row.failing_since,
    error: row.error,
    retrying: row.retrying,
  }));
}

/** Returns the state of the notification about a request that got farthest; undefined without a notification. */
export async function findPushState(
  on: Queryable,
  requestId: RequestId,
): Promise<{ state: "queued" | "sent" | "failed" | "dropped"; attempt: number } | undefined> {
  return first(
    on,
    sql`SELECT state, attempt FROM notices WHERE ask_id = ${requestId}
      ORDER BY CASE state WHEN 'sent' THEN 0 WHEN 'queued' THEN 1 ELSE 2 END LIMIT 1`,
  );
}
