import type { Queryable, Tx } from "./db.ts";
import { sql } from "./sql.ts";

interface TaskPlace {
  repo: string;
  id: string;
}

/** Returns tasks that have been over for so long and whose log is still there. A review that nobody gave is waited for. */
export async function findOldTasks(on: Queryable, keptMs: number, limit: number): Promise<TaskPlace[]> {
  return on.all<TaskPlace>(
    sql`SELECT repo, id FROM aa_tasks WHERE swept = 0 AND state IN ('approved', 'rejected', 'failed', 'canceled')
      AND updated_at <= (SELECT parley_now()) - ${keptMs} ORDER BY updated_at LIMIT ${limit}`,
  );
}

/**
 * Deletes the log of a task that is over, and its attempts but the newest, whose commit is the task's. The task itself
 * stays: others may depend on it. One that is not over any more is left whole.
 */
export async function sweepTask(tx: Tx, { repo, id }: TaskPlace): Promise<void> {
  const over = await tx.all(
    sql`UPDATE aa_tasks SET swept = 1 WHERE repo = ${repo} AND id = ${id}
      AND state IN ('approved', 'rejected', 'failed', 'canceled') RETURNING id`,
  );
  if (over.length === 0) return;
  await tx.all(sql`DELETE FROM aa_events WHERE repo = ${repo} AND id = ${id}`);
  // point: task-retention-between-tables
  await tx.all(
    sql`DELETE FROM aa_attempts WHERE repo = ${repo} AND id = ${id} AND ended_at IS NOT NULL
      AND n < (SELECT attempt FROM aa_tasks WHERE repo = ${repo} AND id = ${id})`,
  );
}
