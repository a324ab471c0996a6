import type { TaskState } from "../model/task.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

interface TaskPlace {
  repo: string;
  id: string;
}

/** Returns tasks that have been over for so long and whose log is still there. A review that nobody gave is waited for. */
export async function findOldTasks(on: Queryable, keptMs: number, limit: number): Promise<TaskPlace[]> {
  return on.all<TaskPlace>(
    sql`SELECT repo, id FROM tasks WHERE swept = 0 AND state IN ('approved', 'rejected', 'failed', 'canceled')
      AND updated_at <= (SELECT parley_now()) - ${keptMs} ORDER BY updated_at LIMIT ${limit}`,
  );
}

/**
 * Deletes the log of a task that is over, and its attempts but the newest, whose commit is the task's. The task itself
 * stays: others may depend on it. One that is not over any more is left whole.
 */
export async function sweepTask(tx: Tx, { repo, id }: TaskPlace): Promise<void> {
  const over = await tx.all(
    sql`UPDATE tasks SET swept = 1 WHERE repo = ${repo} AND id = ${id}
      AND state IN ('approved', 'rejected', 'failed', 'canceled') RETURNING id`,
  );
  if (over.length === 0) return;
  await tx.all(sql`DELETE FROM task_events WHERE repo = ${repo} AND id = ${id}`);
  // point: task-retention-between-tables
  await tx.all(
    sql`DELETE FROM task_attempts WHERE repo = ${repo} AND id = ${id} AND ended_at IS NOT NULL
      AND n < (SELECT attempt FROM tasks WHERE repo = ${repo} AND id = ${id})`,
  );
}

/** A task by its slug, and how things stand with it. */
export interface TaskOfSlug {
  slug: string;
  id: string;
  generation: number;
  state: TaskState;
  isAlive: boolean;
  agoMs: number;
}

/** Returns the tasks of a repository that have these slugs, and for how long they are as they are. */
export async function findTasksOfSlugs(on: Queryable, repo: string, slugs: readonly string[]): Promise<TaskOfSlug[]> {
  if (slugs.length === 0) return [];
  const rows = await on.all<Omit<TaskOfSlug, "isAlive" | "agoMs"> & { alive: number; ago_ms: number }>(
    sql`SELECT t.slug, t.id, t.generation, t.state, (SELECT parley_now()) - t.updated_at AS ago_ms,
        (SELECT count(*) FROM task_attempts a WHERE a.repo = t.repo AND a.id = t.id AND a.ended_at IS NULL) AS alive
      FROM tasks t WHERE t.repo = ${repo} AND t.slug IN (${join([...slugs])})`,
  );
  return rows.map(({ alive, ago_ms: agoMs, ...rest }) => ({ ...rest, isAlive: alive > 0, agoMs }));
}

/** Returns how long ago the last attempt of each submission of these tasks ended. */
export async function findEndsOfSubmissions(
  on: Queryable,
  repo: string,
  ids: readonly string[],
): Promise<{ id: string; generation: number; agoMs: number }[]> {
  if (ids.length === 0) return [];
  const rows = await on.all<{ id: string; generation: number; ago_ms: number }>(
    sql`SELECT id, generation, (SELECT parley_now()) - max(ended_at) AS ago_ms FROM task_attempts
      WHERE repo = ${repo} AND id IN (${join([...ids])}) AND ended_at IS NOT NULL GROUP BY id, generation`,
  );
  return rows.map(({ id, generation, ago_ms: agoMs }) => ({ id, generation, agoMs }));
}

/** Returns the slugs of tasks of a repository of which an attempt lives. */
export async function findBusySlugs(on: Queryable, repo: string): Promise<string[]> {
  const rows = await on.all<{ slug: string }>(
    sql`SELECT DISTINCT t.slug FROM task_attempts a JOIN tasks t ON t.repo = a.repo AND t.id = a.id
      WHERE a.repo = ${repo} AND a.ended_at IS NULL`,
  );
  return rows.map(({ slug }) => slug);
}

/** Returns attempts of a repository whose work was rejected so long ago. */
export async function findLongRejected(
  on: Queryable,
  repo: string,
  forMs: number,
): Promise<{ slug: string; n: number }[]> {
  return on.all<{ slug: string; n: number }>(
    sql`SELECT t.slug, r.attempt AS n FROM task_reviews r JOIN tasks t ON t.repo = r.repo AND t.id = r.id
      WHERE r.repo = ${repo} AND r.verdict = 'reject' AND r.at <= (SELECT parley_now()) - ${forMs}`,
  );
}
