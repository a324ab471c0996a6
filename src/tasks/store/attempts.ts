import { ownTaskOf } from "../../requests/model/task-of-request.ts";
import type { Request } from "../../requests/model/request.ts";
import type { Attempt } from "../model/task.ts";
import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, rowsOf } from "../../core/store/rows.ts";
import { empty, join, sql, type Sql } from "../../core/store/sql.ts";
import { TASKS_TOPIC, taskTopic } from "../../core/store/wake.ts";
import { SHOWN_ASKS, SHOWN_JOBS } from "../../asks/store/tables.ts";
import { SHOWN_REQUESTS } from "../../requests/store/tables.ts";

/** An attempt with the key it speaks by. */
export type StoredAttempt = Attempt & { keyId: string | null };

const attemptRows = rowsOf<StoredAttempt>()({
  attemptId: "attempt_id",
  repo: "repo",
  id: "id",
  n: "n",
  generation: "generation",
  jobId: "job_id",
  epoch: "epoch",
  state: "state",
  outcome: "outcome",
  holder: "holder",
  agent: "agent",
  keyId: "key_id",
  pid: "pid",
  starttime: "starttime",
  session: "session_id",
  resumes: "resumes",
  startSha: "start_sha",
  commitSha: "commit_sha",
  changed: flag("changed"),
  sandbox: "sandbox",
  agentVersion: "agent_version",
  usage: json("usage_json"),
  logSeq: "log_seq",
  startedAt: "started_at",
  endedAt: "ended_at",
});

/** A new attempt; the rest is not known yet. */
export type NewAttempt = Pick<
  Attempt,
  "attemptId" | "repo" | "id" | "n" | "generation" | "jobId" | "epoch" | "holder" | "agent"
> &
  Partial<Pick<Attempt, "sandbox" | "startSha" | "session" | "resumes">> & { keyId?: string | null };

/** Stores an attempt that begins now. Its task's number of attempts is for `moveTaskIn` to change. */
export async function insertAttempt(tx: Tx, attempt: NewAttempt): Promise<StoredAttempt> {
  const { attemptId, repo, id, n, generation, jobId, epoch, holder, agent } = attempt;
  return attemptRows.one(
    tx,
    sql`INSERT INTO task_attempts (attempt_id, repo, id, n, generation, job_id, epoch, state, holder, agent, key_id,
        session_id, resumes, start_sha, sandbox, log_seq, started_at)
      VALUES (${attemptId}, ${repo}, ${id}, ${n}, ${generation}, ${jobId}, ${epoch}, 'preparing', ${holder}, ${agent},
        ${attempt.keyId ?? null}, ${attempt.session ?? null}, ${attempt.resumes ?? 0}, ${attempt.startSha ?? null},
        ${attempt.sandbox ?? null}, 0, parley_now())
      RETURNING *`,
  );
  tx.wake(taskTopic(repo, id));
}

/** Changed fields of an attempt; fields left out stay as they are. */
export type AttemptPatch = Partial<
  Pick<
    StoredAttempt,
    | "epoch"
    | "state"
    | "outcome"
    | "holder"
    | "keyId"
    | "pid"
    | "starttime"
    | "session"
    | "resumes"
    | "startSha"
    | "commitSha"
    | "changed"
    | "sandbox"
    | "agentVersion"
    | "usage"
    | "logSeq"
  >
>;

function setsOf(patch: AttemptPatch): Sql[] {
  const sets: Sql[] = [];
  if (patch.epoch !== undefined) sets.push(sql`epoch = ${patch.epoch}`);
  if (patch.state !== undefined) sets.push(sql`state = ${patch.state}`);
  if (patch.state === "ended") sets.push(sql`ended_at = parley_now()`);
  if (patch.outcome !== undefined) sets.push(sql`outcome = ${patch.outcome}`);
  if (patch.holder !== undefined) sets.push(sql`holder = ${patch.holder}`);
  if (patch.keyId !== undefined) sets.push(sql`key_id = ${patch.keyId}`);
  if (patch.pid !== undefined) sets.push(sql`pid = ${patch.pid}`);
  if (patch.starttime !== undefined) sets.push(sql`starttime = ${patch.starttime}`);
  if (patch.session !== undefined) sets.push(sql`session_id = ${patch.session}`);
  if (patch.resumes !== undefined) sets.push(sql`resumes = ${patch.resumes}`);
  if (patch.startSha !== undefined) sets.push(sql`start_sha = ${patch.startSha}`);
  if (patch.commitSha !== undefined) sets.push(sql`commit_sha = ${patch.commitSha}`);
  if (patch.changed !== undefined) sets.push(sql`changed = ${patch.changed === null ? null : patch.changed ? 1 : 0}`);
  if (patch.sandbox !== undefined) sets.push(sql`sandbox = ${patch.sandbox}`);
  if (patch.agentVersion !== undefined) sets.push(sql`agent_version = ${patch.agentVersion}`);
  if (patch.usage !== undefined)
    sets.push(sql`usage_json = ${patch.usage === null ? null : JSON.stringify(patch.usage)}`);
  if (patch.logSeq !== undefined) sets.push(sql`log_seq = ${patch.logSeq}`);
  return sets;
}

/**
 * Changes an attempt that has not ended, if it is still of this epoch, or of any epoch with null. Returns nothing
 * otherwise: the caller has lost it.
 */
export async function updateAttempt(
  tx: Tx,
  attemptId: string,
  epoch: number | null,
  patch: AttemptPatch,
): Promise<StoredAttempt | undefined> {
  const attempt = await attemptRows.first(
    tx,
    sql`UPDATE task_attempts SET ${join([sql`attempt_id = attempt_id`, ...setsOf(patch)])}
      WHERE attempt_id = ${attemptId} AND ended_at IS NULL ${epoch === null ? empty : sql`AND epoch = ${epoch}`}
      RETURNING *`,
  );
  if (attempt && (patch.state === "ending" || patch.state === "ended")) {
    tx.wake(taskTopic(attempt.repo, attempt.id));
    tx.wake(TASKS_TOPIC);
  }
  return attempt;
}

/** An attempt never was: it began nothing. */
export async function deleteAttempt(tx: Tx, attemptId: string): Promise<void> {
  await tx.all(sql`DELETE FROM task_attempts WHERE attempt_id = ${attemptId}`);
  tx.wake(TASKS_TOPIC);
}

export async function findAttempt(on: Queryable, attemptId: string): Promise<StoredAttempt | undefined> {
  return attemptRows.first(on, sql`SELECT * FROM task_attempts WHERE attempt_id = ${attemptId}`);
}

/** Returns the attempt that a job of the relay is. */
export async function findAttemptOfJob(on: Queryable, jobId: string): Promise<StoredAttempt | undefined> {
  return attemptRows.first(on, sql`SELECT * FROM task_attempts WHERE job_id = ${jobId} ORDER BY n DESC LIMIT 1`);
}

/** Returns attempts whose processes are not proven dead, the oldest first: all, or one holder's. */
export async function findLiveAttempts(on: Queryable, holder?: string): Promise<StoredAttempt[]> {
  return attemptRows.all(
    on,
    sql`SELECT * FROM task_attempts WHERE ended_at IS NULL
      ${holder === undefined ? empty : sql`AND holder = ${holder}`} ORDER BY started_at, attempt_id`,
  );
}

/**
 * Returns attempts of one kind of holders, `executor:%`, whose jobs were over more than `forMs` ago: those that were to
 * end, and those whose jobs somebody has ended without a word about the attempt.
 */
export async function findLongOver(on: Queryable, holders: string, forMs: number): Promise<StoredAttempt[]> {
  return attemptRows.all(
    on,
    sql`SELECT a.* FROM task_attempts a JOIN ${SHOWN_JOBS} j ON j.job_id = a.job_id
      WHERE a.ended_at IS NULL AND a.holder LIKE ${holders} AND j.ended_at <= (SELECT parley_now()) - ${forMs}`,
  );
}

/**
 * Returns live attempts of workshops other than `holder` that have not reported for more than `forMs`: those that are
 * to end, or those that are not.
 */
export async function findSilentAttempts(
  on: Queryable,
  { holder, isEnding, forMs }: { holder: string; isEnding: boolean; forMs: number },
): Promise<StoredAttempt[]> {
  return attemptRows.all(
    on,
    sql`SELECT a.* FROM task_attempts a LEFT JOIN task_workshops w ON w.holder = a.holder
      WHERE a.ended_at IS NULL AND a.holder LIKE 'workshop:%' AND a.holder <> ${holder}
        AND ${isEnding ? sql`a.state = 'ending'` : sql`a.state <> 'ending'`}
        AND coalesce(w.seen_at, a.started_at) <= (SELECT parley_now()) - ${forMs}`,
  );
}

/** Returns the attempt of a task whose processes are not proven dead. */
export async function findLiveAttempt(on: Queryable, repo: string, id: string): Promise<StoredAttempt | undefined> {
  return attemptRows.first(
    on,
    sql`SELECT * FROM task_attempts WHERE repo = ${repo} AND id = ${id} AND ended_at IS NULL ORDER BY n LIMIT 1`,
  );
}

/** Returns how many attempts are at work in a repository, or in all with null; those that are ending count. */
export async function countAtWork(on: Queryable, repo: string | null): Promise<number> {
  const { n } = await one<{ n: number }>(
    on,
    sql`SELECT count(*) AS n FROM task_attempts WHERE ended_at IS NULL ${repo === null ? empty : sql`AND repo = ${repo}`}`,
  );
  return n;
}

/** Returns a task's attempts, the first one first. */
export async function listAttempts(on: Queryable, repo: string, id: string): Promise<StoredAttempt[]> {
  return attemptRows.all(on, sql`SELECT * FROM task_attempts WHERE repo = ${repo} AND id = ${id} ORDER BY n`);
}

/** Returns the newest attempt of each task of a repository that had one. */
export async function listNewestAttempts(
  on: Queryable,
  repo: string,
  ids?: readonly string[],
): Promise<StoredAttempt[]> {
  if (ids?.length === 0) return [];
  return attemptRows.all(
    on,
    sql`SELECT a.* FROM tasks t JOIN task_attempts a ON a.repo = t.repo AND a.id = t.id AND a.n = t.attempt
      WHERE t.repo = ${repo} ${ids ? sql`AND t.id IN (${join([...ids])})` : empty}`,
  );
}

/** The question that a live attempt waits for. */
export interface TaskQuestion {
  id: string;
  subjectId: string;
  prompt: string;
  /** Where people find it; null while it is not with people. */
  addressedId: string | null;
}

/** Returns what the live attempts of a repository wait for, each one's oldest question first. */
export async function listTaskQuestions(on: Queryable, repo: string): Promise<TaskQuestion[]> {
  const rows = await on.all<QuestionRow>(
    sql`SELECT t.id, a.ask_id, a.prompt, coalesce(a.addressed_id, o.addressed_id) AS addressed_id, a.created_at,
        NULL AS wire
      FROM task_attempts t JOIN ${SHOWN_ASKS} a ON a.job_id = t.job_id AND a.status = 'PENDING'
        LEFT JOIN ${SHOWN_ASKS} o ON o.ask_id = a.joined_to
      WHERE t.repo = ${repo} AND t.ended_at IS NULL
      UNION ALL
      SELECT t.id, p.ask_id, p.title AS prompt, p.ask_id AS addressed_id, p.created_at, p.wire
      FROM task_attempts t JOIN ${SHOWN_REQUESTS} p ON p.asker = 'agent:' || t.attempt_id AND p.state = 'open'
      WHERE t.repo = ${repo} AND t.ended_at IS NULL AND p.expires_at > (SELECT parley_now())
      ORDER BY 1, 5, 2`,
  );
  return rows.map((row) => ({
    id: row.id,
    subjectId: row.ask_id,
    addressedId: row.addressed_id,
    prompt: (row.wire === null ? undefined : safeTitleIn(row.wire)) ?? row.prompt,
  }));
}

interface QuestionRow {
  id: string;
  ask_id: string;
  prompt: string;
  addressed_id: string | null;
  wire: string | null;
}

function safeTitleIn(wire: string): string | undefined {
  return ownTaskOf({ wire: JSON.parse(wire) as Request["wire"] })?.safe?.title;
}

/** Returns open asks to people of agents whose attempts have ended, or are to end. */
export async function findAttemptOrphans(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT p.ask_id FROM ${SHOWN_REQUESTS} p JOIN task_attempts a ON a.attempt_id = substr(p.asker, 7)
      WHERE p.state = 'open' AND p.asker LIKE 'agent:%' AND (a.ended_at IS NOT NULL OR a.state = 'ending') LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}
