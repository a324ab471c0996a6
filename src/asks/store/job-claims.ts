import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

/** Notes who took a job under a fencing number, and under which name. */
export async function insertClaim(
  tx: Tx,
  claim: { jobId: string; epoch: number; holder: string; worker: string },
): Promise<void> {
  await tx.all(
    sql`INSERT INTO job_claims (job_id, epoch, holder, worker, at)
      VALUES (${claim.jobId}, ${claim.epoch}, ${claim.holder}, ${claim.worker}, parley_now())`,
  );
}

/** Returns whether somebody ever held a job. */
export async function hasHeld(on: Queryable, jobId: string, holder: string): Promise<boolean> {
  const row = await first(
    on,
    sql`SELECT 1 AS found FROM job_claims WHERE job_id = ${jobId} AND holder = ${holder} LIMIT 1`,
  );
  return row !== undefined;
}

/**
 * Gives every lease that has run out within the last `withinMs` its whole time again; the clock jumped, and its holder
 * had no chance to say that it lives (spec/invariants T3). A lease that a restore has ended has no holder.
 */
export async function graceLeases(tx: Tx, withinMs: number): Promise<void> {
  await tx.all(
    sql`UPDATE jobs SET lease_until = (SELECT parley_now()) + lease_ms
      WHERE lease_hash IS NOT NULL AND lease_until <= (SELECT parley_now()) AND lease_until > (SELECT parley_now()) - ${withinMs}`,
  );
}

/** Returns the number of the newest event of each of these jobs, for the polling fallback of wake-ups. */
export async function findJobNumbers(on: Queryable, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await on.all<{ job_id: string; seq: number }>(
    sql`SELECT job_id, seq FROM jobs WHERE job_id IN (${join([...ids])})`,
  );
  return new Map(rows.map((row) => [row.job_id, row.seq]));
}

/** Returns when a job was last put in line, for the same; 0 where none waits. */
export async function newestQueuedAt(on: Queryable): Promise<number> {
  const row = await first<{ at: number }>(
    on,
    sql`SELECT coalesce(max(queued_at), 0) AS at FROM jobs WHERE state = 'QUEUED'`,
  );
  return row?.at ?? 0;
}
