import { one, type Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

export interface Waiting {
  open: number;
  /** How long the oldest open request has been waiting, in ms; 0 where none is open. */
  oldestMs: number;
  channels: readonly ChannelQueue[];
}

/** Messages of one channel that are to be sent or closed. */
export interface ChannelQueue {
  channel: string;
  waiting: number;
  /** Of these, those that were tried before and did not go out. */
  retrying: number;
  /** By how much the one that is due longest is late, in ms. */
  lateMs: number;
}

/** Counts rows of partial indexes alone: as many as are open, however many there ever were. */
export async function countWaiting(on: Queryable): Promise<Waiting> {
  const requests = await one<{ open: number; oldest: number }>(
    on,
    sql`SELECT count(*) AS open, coalesce((SELECT parley_now()) - min(created_at), 0) AS oldest
      FROM requests WHERE state = 'open' AND plan IS NULL`,
  );
  const channels = await on.all<{ channel: string; waiting: number; retrying: number; late: number }>(
    sql`SELECT channel, count(*) AS waiting, sum(CASE WHEN attempt > 0 AND state <> 'sending' THEN 1 ELSE 0 END) AS retrying,
        (SELECT parley_now()) - min(due_at) AS late
      FROM deliveries WHERE state IN ('queued', 'sending', 'closing') GROUP BY channel ORDER BY channel`,
  );
  return {
    open: requests.open,
    oldestMs: requests.oldest,
    channels: channels.map(({ channel, waiting, retrying, late }) => ({
      channel,
      waiting,
      retrying: Number(retrying),
      lateMs: Math.max(0, late),
    })),
  };
}
