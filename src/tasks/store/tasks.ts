import type { RequestId } from "../../core/model/ids.ts";
import { readKinds } from "../../core/store/read-kinds.ts";
import type { Task, TaskState } from "../model/task.ts";
import { titleOfPrompt } from "../model/names.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, rowsOf } from "../../core/store/rows.ts";
import { empty, join, raw, sql, type Sql } from "../../core/store/sql.ts";
import { isFrozen } from "../../policy/store/freezes.ts";
import { SHOWN_REQUESTS } from "../../requests/store/tables.ts";

const taskRows = rowsOf<Task>()({
  repo: "repo",
  id: "id",
  slug: "slug",
  prompt: "prompt",
  warnings: json("warnings_json"),
  agent: "agent",
  base: "base",
  startOn: "start_on",
  state: "state",
  attempt: "attempt",
  generation: "generation",
  started: "started",
  submittedAt: "submitted_at",
  updatedAt: "updated_at",
  blockedReason: "blocked_reason",
  error: "error",
  conflict: json("conflict_json", readKinds),
  stale: flag("stale"),
  resolveConflict: flag("resolve_conflict"),
  commit: "commit_sha",
  changed: flag("changed"),
  diffstat: json("diffstat_json"),
  branch: "branch",
  reviewAsk: "review_ask",
  principal: "principal",
  seq: "seq",
});

/**
 * Holds every task of a repository to the end of the transaction, before anything else of it is read: whether a task may
 * start depends on others. Events of an attempt need only the task's own row.
 */
export async function lockRepo(tx: Tx, repo: string): Promise<void> {
  // SQLite has one writer: a transaction locks everything.
  if (tx.dialect === "sqlite") return;
  await tx.all(
    sql`INSERT INTO task_repositories (repo, places) VALUES (${repo}, 0)
      ON CONFLICT (repo) DO UPDATE SET places = task_repositories.places`,
  );
}

/** Holds a repository and returns one task of it. */
export async function lockTask(tx: Tx, repo: string, id: string): Promise<Task | undefined> {
  await lockRepo(tx, repo);
  return findTask(tx, repo, id);
}

export async function findTask(on: Queryable, repo: string, id: string): Promise<Task | undefined> {
  return taskRows.first(on, sql`SELECT * FROM tasks WHERE repo = ${repo} AND id = ${id}`);
}

/** Returns the task whose work, or whose conflict, people decide by this ask. */
export async function findTaskOfRequest(on: Queryable, requestId: RequestId): Promise<Task | undefined> {
  return taskRows.first(on, sql`SELECT * FROM tasks WHERE review_ask = ${requestId}`);
}

/** Returns asks to people about tasks that are open though their task went on without them. */
export async function findTaskOrphans(on: Queryable, door: string, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT p.ask_id FROM ${SHOWN_REQUESTS} p WHERE p.state = 'open' AND p.door = ${door}
      AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.review_ask = p.ask_id) LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** A task as it is submitted. */
export type NewTask = Pick<
  Task,
  "repo" | "id" | "slug" | "prompt" | "warnings" | "agent" | "base" | "startOn" | "principal"
>;

/**
 * Stores a task, last in the line of its repository; or puts it in the place of one of the same id, as the next
 * submission, which has nothing of the one before but its numbers. The repository is held.
 */
export async function putTask(tx: Tx, task: NewTask): Promise<Task> {
  const { places } = await one<{ places: number }>(
    tx,
    sql`INSERT INTO task_repositories (repo, places) VALUES (${task.repo}, 1)
      ON CONFLICT (repo) DO UPDATE SET places = task_repositories.places + 1 RETURNING places`,
  );
  return taskRows.one(
    tx,
    sql`INSERT INTO tasks (repo, id, slug, prompt, warnings_json, agent, base, start_on, state, attempt, generation,
        started, submitted_at, place, updated_at, stale, resolve_conflict, principal, seq)
      VALUES (${task.repo}, ${task.id}, ${task.slug}, ${task.prompt}, ${JSON.stringify(task.warnings)}, ${task.agent},
        ${task.base}, ${task.startOn}, 'queued', 0, 1, 0, (SELECT parley_now()), ${places}, (SELECT parley_now()), 0, 0,
        ${task.principal}, 0)
      ON CONFLICT (repo, id) DO UPDATE SET prompt = excluded.prompt, warnings_json = excluded.warnings_json,
        agent = excluded.agent, base = excluded.base, start_on = excluded.start_on, state = 'queued',
        generation = tasks.generation + 1, started = 0, submitted_at = excluded.submitted_at, place = excluded.place,
        updated_at = excluded.updated_at, stale = 0, resolve_conflict = 0, principal = excluded.principal,
        blocked_reason = NULL, error = NULL, commit_sha = NULL, changed = NULL, diffstat_json = NULL, branch = NULL,
        review_ask = NULL, conflict_json = NULL, feedback_json = NULL, after_json = NULL, swept = 0
      RETURNING *`,
  );
}

/** Changed fields of a task besides its state; fields left out stay as they are. */
export interface TaskPatch extends Partial<
  Pick<
    Task,
    | "error"
    | "blockedReason"
    | "attempt"
    | "started"
    | "commit"
    | "changed"
    | "diffstat"
    | "branch"
    | "reviewAsk"
    | "stale"
    | "conflict"
    | "resolveConflict"
    | "warnings"
  >
> {
  /** Where the task's branch was last published. */
  publishedSha?: string | null;
  /** The changes that a person requested, for the next attempt. */
  feedback?: unknown;
  /** The steps in git that a review requires. */
  after?: AfterReview | null;
}

/** The steps in git that a review of finished work requires, with the attempt that did the work. */
export interface AfterReview {
  kind: "approve" | "reject";
  attempt: number;
  commit: string;
}

const bit = (value: boolean | null): number | null => (value === null ? null : value ? 1 : 0);
const jsonOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

function setsOf(patch: TaskPatch): Sql[] {
  const sets: Sql[] = [];
  if (patch.error !== undefined) sets.push(sql`error = ${patch.error}`);
  if (patch.blockedReason !== undefined) sets.push(sql`blocked_reason = ${patch.blockedReason}`);
  if (patch.attempt !== undefined) sets.push(sql`attempt = ${patch.attempt}`);
  if (patch.started !== undefined) sets.push(sql`started = ${patch.started}`);
  if (patch.commit !== undefined) sets.push(sql`commit_sha = ${patch.commit}`);
  if (patch.changed !== undefined) sets.push(sql`changed = ${bit(patch.changed)}`);
  if (patch.diffstat !== undefined) sets.push(sql`diffstat_json = ${jsonOrNull(patch.diffstat)}`);
  if (patch.branch !== undefined) sets.push(sql`branch = ${patch.branch}`);
  if (patch.reviewAsk !== undefined) sets.push(sql`review_ask = ${patch.reviewAsk}`);
  if (patch.stale !== undefined) sets.push(sql`stale = ${bit(patch.stale)}`);
  if (patch.conflict !== undefined) sets.push(sql`conflict_json = ${jsonOrNull(patch.conflict)}`);
  if (patch.resolveConflict !== undefined) sets.push(sql`resolve_conflict = ${bit(patch.resolveConflict)}`);
  if (patch.warnings !== undefined) sets.push(sql`warnings_json = ${JSON.stringify(patch.warnings)}`);
  if (patch.publishedSha !== undefined) sets.push(sql`published_sha = ${patch.publishedSha}`);
  if (patch.feedback !== undefined) sets.push(sql`feedback_json = ${jsonOrNull(patch.feedback)}`);
  if (patch.after !== undefined) sets.push(sql`after_json = ${jsonOrNull(patch.after)}`);
  return sets;
}

/** Moves a held task. @throws {Error} when it is not as it was held: our bug */
export async function updateTaskState(tx: Tx, held: Task, to: TaskState, patch: TaskPatch): Promise<Task> {
  return taskRows.one(
    tx,
    sql`UPDATE tasks SET ${join([sql`state = ${to}`, sql`updated_at = parley_now()`, sql`swept = 0`, ...setsOf(patch)])}
      WHERE repo = ${held.repo} AND id = ${held.id} AND state = ${held.state} AND generation = ${held.generation}
      RETURNING *`,
  );
}

/** Changes a held task that stays where it is. */
export async function updateTask(tx: Tx, { repo, id }: Pick<Task, "repo" | "id">, patch: TaskPatch): Promise<Task> {
  return taskRows.one(
    tx,
    sql`UPDATE tasks SET ${join([sql`updated_at = parley_now()`, ...setsOf(patch)])}
      WHERE repo = ${repo} AND id = ${id} RETURNING *`,
  );
}

/** A task as lists show it: its prompt may be long, and there may be many. */
export type TaskHead = Omit<Task, "prompt"> & { title: string };

/** Enough of a prompt to find its first line in. */
const OPENING = 2000;

/** Returns tasks of a repository, the oldest first: all, or those that are named. */
export async function listTaskHeads(on: Queryable, repo: string, ids?: readonly string[]): Promise<TaskHead[]> {
  if (ids?.length === 0) return [];
  const tasks = await taskRows.all(
    on,
    sql`SELECT repo, id, slug, substr(prompt, 1, ${OPENING}) AS prompt, warnings_json, agent, base, start_on, state,
        attempt, generation, started, submitted_at, updated_at, blocked_reason, error, stale, conflict_json,
        resolve_conflict, commit_sha, changed, diffstat_json, branch, review_ask, principal, seq
      FROM tasks WHERE repo = ${repo} ${ids ? sql`AND id IN (${join([...ids])})` : empty}
      ORDER BY submitted_at, place`,
  );
  return tasks.map(headOf);
}

/** Returns a task as lists show it. */
export function headOf({ prompt, ...rest }: Task): TaskHead {
  return { ...rest, title: titleOfPrompt(prompt) };
}

/** Returns how many tasks of a repository are not over. */
export async function countOpenTasks(on: Queryable, repo: string): Promise<number> {
  const { n } = await one<{ n: number }>(
    on,
    sql`SELECT count(*) AS n FROM tasks WHERE repo = ${repo}
      AND state NOT IN ('review', 'approved', 'rejected', 'failed', 'canceled')`,
  );
  return n;
}

/** A queued task, and since when it is in line. */
export interface InLine {
  task: Task;
  place: number;
}

const inLineRows = rowsOf<InLine>()({ task: taskRows.read, place: "place" });

/**
 * Returns the task of a repository that is first in line for one of these agents. One of which an attempt may still be
 * alive is not.
 */
export async function findFirstInLine(
  on: Queryable,
  { repo, agent, agents }: { repo: string; agent: string; agents: readonly string[] | null },
): Promise<InLine | undefined> {
  return inLineRows.first(
    on,
    sql`SELECT * FROM tasks t WHERE state = 'queued' AND repo = ${repo}
      ${agents ? sql`AND coalesce(agent, ${agent}) IN (${join([...agents])})` : empty}
      AND NOT ${isFrozen(raw("t.principal"))} AND NOT ${isFrozen(sql`'attempt:' || coalesce(t.agent, ${agent})`)}
      AND NOT EXISTS (SELECT 1 FROM task_attempts a WHERE a.repo = t.repo AND a.id = t.id AND a.ended_at IS NULL)
      ORDER BY submitted_at, place LIMIT 1`,
  );
}

/** Fields of a task that only the next attempt and the steps in git after a review use. */
export interface TaskMemory {
  publishedSha: string | null;
  feedback: unknown;
  after: AfterReview | null;
}

/** Returns what is kept of a task beside what everybody sees. */
export async function findTaskMemory(on: Queryable, repo: string, id: string): Promise<TaskMemory | undefined> {
  const row = await first<{ published_sha: string | null; feedback_json: string | null; after_json: string | null }>(
    on,
    sql`SELECT published_sha, feedback_json, after_json FROM tasks WHERE repo = ${repo} AND id = ${id}`,
  );
  return (
    row && {
      publishedSha: row.published_sha,
      feedback: row.feedback_json === null ? null : (JSON.parse(row.feedback_json) as unknown),
      after: row.after_json === null ? null : readKinds<AfterReview>(row.after_json),
    }
  );
}

/** Returns tasks of these repositories of which a review has left something to be done in git. */
export async function listReviewed(on: Queryable, repos: readonly string[], limit: number): Promise<Task[]> {
  if (repos.length === 0) return [];
  return taskRows.all(
    on,
    // By the index of what is left to be done: not by that of the repository, which SQLite would walk through.
    sql`SELECT * FROM tasks WHERE after_json IS NOT NULL AND repo || '' IN (${join([...repos])})
      ORDER BY updated_at, repo, id LIMIT ${limit}`,
  );
}
