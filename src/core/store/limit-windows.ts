import { one, type Queryable, type Tx } from "./db.ts";
import { rowsOf } from "./rows.ts";
import { sql } from "./sql.ts";

/** Every limit counts within a fixed window of an hour that the first counted request opens. */
export const WINDOW_MS = 3_600_000;

/** Where a caller stands in a bucket. */
export interface LimitState {
  used: number;
  /** When the window ends, epoch ms. */
  resetsAt: number;
  now: number;
}

const windowRows = rowsOf<LimitState>()({
  used: "used",
  resetsAt: (row: { opened_at: number }) => row.opened_at + WINDOW_MS,
  now: "now",
});

/** How a window is counted in. */
interface Counting {
  cost?: number;
  /** A count that began elsewhere states when its own window was opened, so that it does not begin again by being written. */
  openedAt?: number;
}

/**
 * Counts units in the caller's window, opening one if the caller has none, and holds its row to the end of the
 * transaction: the count is exact on any number of nodes, and undone with the transaction.
 */
export async function countInWindow(tx: Tx, bucket: string, subject: string, how: Counting = {}): Promise<LimitState> {
  const state = await countUpTo(tx, bucket, subject, { most: Number.MAX_SAFE_INTEGER, ...how });
  if (!state) throw new Error("a window is fuller than can be");
  return state;
}

/** The same, but a window that holds `most` already is held and left as it is: then this returns nothing. */
export async function countUpTo(
  tx: Tx,
  bucket: string,
  subject: string,
  { most, cost = 1, openedAt }: Counting & { most: number },
): Promise<LimitState | undefined> {
  return windowRows.first(
    tx,
    sql`INSERT INTO limit_windows (bucket, subject, opened_at, used)
      VALUES (${bucket}, ${subject}, coalesce(${openedAt ?? null}, parley_now()), ${cost})
      ON CONFLICT (bucket, subject) DO UPDATE SET
        used = CASE WHEN limit_windows.opened_at + ${WINDOW_MS} <= excluded.opened_at
          THEN excluded.used ELSE limit_windows.used + excluded.used END,
        opened_at = CASE WHEN limit_windows.opened_at + ${WINDOW_MS} <= excluded.opened_at
          THEN excluded.opened_at ELSE limit_windows.opened_at END
        WHERE limit_windows.used < ${most} OR limit_windows.opened_at + ${WINDOW_MS} <= excluded.opened_at
      RETURNING used, opened_at, parley_now() AS now`,
  );
}

/** Returns where a caller stands without counting anything. */
export async function readWindow(on: Queryable, bucket: string, subject: string): Promise<LimitState> {
  const state = await windowRows.first(
    on,
    sql`SELECT used, opened_at, parley_now() AS now FROM limit_windows
      WHERE bucket = ${bucket} AND subject = ${subject} AND opened_at > parley_now() - ${WINDOW_MS}`,
  );
  if (state) return state;
  const { now } = await one<{ now: number }>(on, sql`SELECT parley_now() AS now`);
  return { used: 0, resetsAt: now + WINDOW_MS, now };
}

/**
 * Deletes up to `limit` windows that are over; true when there may be more. The condition stands twice, because only the
 * outer one is judged again when a window was opened anew while this waited for its row (spec/invariants Q8).
 */
export async function deleteOldWindows(tx: Tx, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM limit_windows WHERE (bucket, subject) IN
      (SELECT bucket, subject FROM limit_windows WHERE opened_at <= (SELECT parley_now()) - ${WINDOW_MS} LIMIT ${limit})
      AND opened_at <= (SELECT parley_now()) - ${WINDOW_MS} RETURNING subject`,
  );
  return rows.length === limit;
}
