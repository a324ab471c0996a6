import type { Tx } from "./db.ts";
import { sql, type Sql } from "./sql.ts";

/** A clock that was ahead: the last moment it gave, and what time it was then. */
export interface WrongClock {
  wrongMs: number;
  nowMs: number;
}

/** Moves open asks and jobs. Their times were given under the wrong clock if they were made later than now. */
export const movedAsks = ({ wrongMs, nowMs }: WrongClock): Sql[] => {
  const by = wrongMs - nowMs;
  return [
    sql`UPDATE questions SET created_at = created_at - ${by}, expires_at = expires_at - ${by}
      WHERE state = 'open' AND created_at > ${nowMs} RETURNING 1 AS moved`,
    sql`UPDATE requests SET created_at = created_at - ${by}, expires_at = expires_at - ${by}
      WHERE state = 'open' AND created_at > ${nowMs} RETURNING 1 AS moved`,
    sql`UPDATE asks SET created_at = created_at - ${by}, expires_at = expires_at - ${by}, respond_at = respond_at - ${by}
      WHERE status = 'PENDING' AND created_at > ${nowMs} RETURNING 1 AS moved`,
    sql`UPDATE jobs SET created_at = created_at - ${by}, queued_at = queued_at - ${by}, ttl_until = ttl_until - ${by}
      WHERE ended_at IS NULL AND created_at > ${nowMs} RETURNING 1 AS moved`,
  ];
};

/** Every other time that lies ahead. Rows that do not say when they were made are due later than the wrong clock's last moment. */
export const movedTimes = ({ wrongMs, nowMs }: WrongClock): Sql[] => {
  const by = wrongMs - nowMs;
  return [
    sql`UPDATE jobs SET lease_until = lease_until - ${by} WHERE lease_until > ${wrongMs}`,
    sql`UPDATE waits SET created_at = created_at - ${by}, kept_until = kept_until - ${by} WHERE created_at > ${nowMs}`,
    sql`UPDATE request_waits SET created_at = created_at - ${by}, kept_until = kept_until - ${by}
      WHERE created_at > ${nowMs}`,
    sql`UPDATE keys SET expires_at = expires_at - ${by} WHERE created_at > ${nowMs}`,
    sql`UPDATE policy_grants SET expires_at = expires_at - ${by} WHERE created_at > ${nowMs}`,
    sql`UPDATE gate_calls SET held_until = held_until - ${by} WHERE held_until > ${wrongMs}`,
    // The approval is bound to the moment until which it is good, so it is asked for again instead.
    sql`UPDATE gate_calls SET state = 'dropped' WHERE state = 'asked' AND good_until > ${nowMs}`,
    sql`UPDATE participants SET recovery_expires_at = recovery_expires_at - ${by}
      WHERE recovery_expires_at > ${wrongMs}`,
    sql`UPDATE deliveries SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
    sql`UPDATE fallbacks SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
    sql`UPDATE notices SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
    sql`UPDATE webhook_events SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
    sql`UPDATE runner_runs SET claimed_until = claimed_until - ${by} WHERE claimed_until > ${wrongMs}`,
    sql`UPDATE sign_in_codes SET expires_at = expires_at - ${by} WHERE expires_at > ${wrongMs}`,
    sql`UPDATE idempotency SET expires_at = expires_at - ${by} WHERE expires_at > ${wrongMs}`,
    sql`UPDATE skips SET until = until - ${by} WHERE until > ${wrongMs}`,
    // Periods are counted from these times, so none of the times may lie ahead of now.
    sql`UPDATE limit_windows SET opened_at = ${nowMs} WHERE opened_at > ${nowMs}`,
    sql`UPDATE sign_ins SET seen_at = ${nowMs} WHERE seen_at > ${nowMs}`,
    sql`UPDATE policy_servers SET seen_at = ${nowMs} WHERE seen_at > ${nowMs}`,
    sql`UPDATE task_workshops SET seen_at = ${nowMs} WHERE seen_at > ${nowMs}`,
    sql`UPDATE events SET at = ${nowMs} WHERE at > ${nowMs}`,
  ];
};

/**
 * Moves everything open whose times were given under the wrong clock: it has as much time left as it had at that
 * clock's last moment. Rows that were written for good stay as they are. Returns how many asks and jobs were moved.
 */
export async function moveDeadlines(tx: Tx, clock: WrongClock): Promise<number> {
  let moved = 0;
  for (const statement of movedAsks(clock)) moved += (await tx.all(statement)).length;
  for (const statement of movedTimes(clock)) await tx.all(statement);
  return moved;
}
