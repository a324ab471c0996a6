import type { RequestId } from "../../core/model/ids.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { isLiveCredential } from "../../access/store/credentials.ts";
import { join, raw, sql, Sql } from "../../core/store/sql.ts";

/**
 * Plans a notification for every active device of these people, each device once, as long as the session or key is live
 * under which they subscribed. With `isAgain`, a device that was notified of the request before is notified once more.
 */
export async function insertRequestNotices(
  tx: Tx,
  requestId: RequestId,
  people: readonly string[] | Sql,
  { inMs, isAgain = false }: { inMs: number; isAgain?: boolean },
): Promise<void> {
  const them = people instanceof Sql ? people : join(["", ...people]);
  await tx.all(
    sql`INSERT INTO notices (ask_id, subscription_id, person, kind, state, due_at, attempt, epoch, told_at)
      SELECT ${requestId}, s.subscription_id, s.person, 'addressed', 'queued', (SELECT parley_now()) + ${inMs}, 0, 0,
        (SELECT parley_now())
      FROM push_subscriptions s
      WHERE s.active = 1 AND s.person IN (${them}) AND ${isLiveCredential(sql`s.credential`)}
      ON CONFLICT ${isAgain ? AGAIN : raw("DO NOTHING")}`,
  );
}

const AGAIN = sql`(ask_id, subscription_id) DO UPDATE SET state = 'queued', due_at = excluded.due_at, attempt = 0,
  epoch = notices.epoch + 1, told_at = excluded.told_at`;

/** Returns those of these people who have a device that is notified. */
export async function listPeopleWithDevice(on: Queryable, people: readonly string[]): Promise<Set<string>> {
  const rows = await on.all<{ person: string }>(
    sql`SELECT DISTINCT s.person FROM push_subscriptions s
      WHERE s.active = 1 AND s.person IN (${join(["", ...people])}) AND ${isLiveCredential(sql`s.credential`)}`,
  );
  return new Set(rows.map(({ person }) => person));
}
