import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

/** Returns up to `limit` jobs that have been over for so long. */
export async function findOldJobs(on: Queryable, keptMs: number, limit: number): Promise<string[]> {
  const rows = await on.all<{ job_id: string }>(
    sql`SELECT job_id FROM jobs WHERE ended_at IS NOT NULL AND ended_at <= (SELECT parley_now()) - ${keptMs}
      ORDER BY ended_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.job_id);
}

/** Deletes jobs that are over with all their asks and answers; an open one among them is left whole. */
export async function deleteEndedJobs(tx: Tx, jobIds: readonly string[]): Promise<void> {
  const ended = await tx.all<{ job_id: string }>(
    sql`SELECT job_id FROM jobs WHERE job_id IN (${join([...jobIds])}) AND ended_at IS NOT NULL`,
  );
  if (ended.length === 0) return;
  const ids = join(ended.map((row) => row.job_id));
  const asks = sql`SELECT ask_id FROM asks WHERE job_id IN (${ids})`;
  await tx.all(sql`DELETE FROM answer_deliveries WHERE ask_id IN (${asks})`);
  await tx.all(sql`DELETE FROM ask_outcomes WHERE ask_id IN (${asks})`);
  await tx.all(sql`DELETE FROM late_answers WHERE ask_id IN (${asks})`);
  await tx.all(sql`DELETE FROM answers WHERE ask_id IN (${asks})`);
  // point: job-retention-between-tables
  await tx.all(sql`DELETE FROM asks WHERE job_id IN (${ids})`);
  await tx.all(sql`DELETE FROM artifacts WHERE job_id IN (${ids})`);
  await tx.all(sql`DELETE FROM job_claims WHERE job_id IN (${ids})`);
  await tx.all(sql`DELETE FROM job_events WHERE job_id IN (${ids})`);
  await tx.all(sql`DELETE FROM jobs WHERE job_id IN (${ids})`);
}

/**
 * Deletes the oldest events of one job that has more than `most`, so many at a time; what is left has no holes. Returns
 * whether there was such a job.
 */
export async function trimOneJob(tx: Tx, most: number, limit: number): Promise<boolean> {
  const row = await first<{ job_id: string; kept_from: number }>(
    tx,
    sql`UPDATE jobs SET kept_from = CASE WHEN seq - kept_from + 1 - ${most} > ${limit}
          THEN kept_from + ${limit} ELSE seq + 1 - ${most} END
      WHERE job_id = (SELECT job_id FROM jobs WHERE seq - kept_from + 1 > ${most} LIMIT 1)
        AND seq - kept_from + 1 > ${most} RETURNING job_id, kept_from`,
  );
  if (!row) return false;
  await tx.all(sql`DELETE FROM job_events WHERE job_id = ${row.job_id} AND seq < ${row.kept_from}`);
  return true;
}
