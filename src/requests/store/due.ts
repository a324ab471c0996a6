import type { RequestId } from "../../core/model/ids.ts";
import type { Queryable } from "../../core/store/db.ts";
import { isFrozen } from "../../policy/store/freezes.ts";
import { join, raw, sql } from "../../core/store/sql.ts";

/** Keeps requests open for one more lease each, because somebody waits for them. */
export async function renewLeases(on: Queryable, requestIds: readonly RequestId[]): Promise<void> {
  await on.all(sql`UPDATE requests SET waited_until = parley_now() + lease_ms
    WHERE state = 'open' AND lease_ms IS NOT NULL AND ask_id IN (${join([...requestIds])})`);
}

/** Returns up to `limit` open requests for which nobody has waited lately, the first that was left first. */
export async function findUnwaited(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM requests
      WHERE state = 'open' AND waited_until IS NOT NULL AND waited_until <= (SELECT parley_now())
        AND NOT ${isFrozen(raw("asker"))}
      ORDER BY waited_until LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Returns up to `limit` open requests whose deadline has passed, oldest deadline first; a plan ends its calls. */
export async function findDueRequests(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM requests WHERE state = 'open' AND expires_at <= (SELECT parley_now()) AND plan IS NULL
        AND NOT ${isFrozen(raw("asker"))}
      ORDER BY expires_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Returns up to `limit` open requests that hold a press whose time to undo it is over, the oldest first. */
export async function findDuePresses(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM requests WHERE press_due_at IS NOT NULL AND press_due_at <= (SELECT parley_now())
      ORDER BY press_due_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}
