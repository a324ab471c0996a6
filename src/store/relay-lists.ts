import type { AnswerSource, AskStatus, AskType, ErrorCode, JobState, Stage } from "../model/relay.ts";
import type { Queryable } from "./db.ts";
import { empty, join, sql } from "./sql.ts";

/** A place between two pages. */
export interface ListPlace {
  at: number;
  id: string;
}

/** One ask as a line of a list. */
export interface AskLine {
  id: string;
  jobId: string;
  stepId: string;
  type: AskType;
  /** Its beginning. */
  prompt: string;
  principal: string;
  status: AskStatus;
  /** The stage it is in, or ended in. */
  stage: Stage;
  createdAt: number;
  endedAt: number | null;
  /** Nothing while it is pending. */
  source: AnswerSource | null;
  answeredBy: string | null;
  errorCode: ErrorCode | null;
}

/** Enough to know it again. */
const PROMPT_LENGTH = 280;

/** Returns everybody's asks, the newest first. What should be over may be pending for a moment. */
export async function listAskLines(
  on: Queryable,
  { status, after, limit }: { status?: AskStatus; after?: ListPlace; limit: number },
): Promise<AskLine[]> {
  const rows = await on.all<{
    ask_id: string;
    job_id: string;
    step_id: string;
    ask_type: AskType;
    prompt: string;
    principal: string;
    status: AskStatus;
    stage: Stage;
    created_at: number;
    ended_at: number | null;
    source: AnswerSource | null;
    answered_by: string | null;
    error_code: ErrorCode | null;
  }>(
    sql`SELECT a.ask_id, a.job_id, a.step_id, a.ask_type, substr(a.prompt, 1, ${PROMPT_LENGTH}) AS prompt, a.principal,
        a.status, a.stage, a.created_at, a.ended_at, s.source, s.answered_by, s.error_code
      FROM asks a LEFT JOIN answers s ON s.ask_id = a.ask_id WHERE 1 = 1
      ${status === undefined ? empty : sql`AND a.status = ${status}`}
      ${after === undefined ? empty : sql`AND (a.created_at < ${after.at} OR a.created_at = ${after.at} AND a.ask_id < ${after.id})`}
      ORDER BY a.created_at DESC, a.ask_id DESC LIMIT ${limit}`,
  );
  return rows.map((row) => ({
    ...{ id: row.ask_id, jobId: row.job_id, stepId: row.step_id, type: row.ask_type, prompt: row.prompt },
    ...{ principal: row.principal, status: row.status, stage: row.stage, createdAt: row.created_at },
    ...{ endedAt: row.ended_at, source: row.source, answeredBy: row.answered_by, errorCode: row.error_code },
  }));
}

/** One job as a line of a list. */
export interface JobLine {
  id: string;
  kind: string;
  state: JobState;
  reason: string | null;
  epoch: number;
  external: boolean;
  owner: string;
  holder: string | null;
  pendingAsks: number;
  createdAt: number;
  updatedAt: number;
}

/** Returns everybody's jobs, the newest first; in some states, or in any. */
export async function listJobLines(
  on: Queryable,
  { states, after, limit }: { states?: readonly JobState[]; after?: ListPlace; limit: number },
): Promise<JobLine[]> {
  const rows = await on.all<{
    job_id: string;
    kind: string;
    state: JobState;
    reason: string | null;
    epoch: number;
    external: number;
    owner: string;
    holder: string | null;
    pending_asks: number;
    created_at: number;
    updated_at: number;
  }>(
    sql`SELECT job_id, kind, state, reason, epoch, external, owner, holder, pending_asks, created_at, updated_at
      FROM jobs WHERE 1 = 1
      ${states === undefined ? empty : sql`AND state IN (${join([...states])})`}
      ${after === undefined ? empty : sql`AND (created_at < ${after.at} OR created_at = ${after.at} AND job_id < ${after.id})`}
      ORDER BY created_at DESC, job_id DESC LIMIT ${limit}`,
  );
  return rows.map((row) => ({
    ...{ id: row.job_id, kind: row.kind, state: row.state, reason: row.reason, epoch: row.epoch, owner: row.owner },
    ...{ external: row.external === 1, holder: row.holder, pendingAsks: row.pending_asks },
    ...{ createdAt: row.created_at, updatedAt: row.updated_at },
  }));
}

/** What somebody answered when the ask was over. */
export interface LateAnswer {
  principal: string;
  status: AskStatus;
  text: string | null;
  at: number;
}

/** Returns what came too late for an ask, and which asks share its answer; the oldest first, so many of each. */
export async function listBesides(
  on: Queryable,
  askId: string,
  limit: number,
): Promise<{ late: LateAnswer[]; sharedBy: string[] }> {
  const late = await on.all<{ principal: string; status: AskStatus; answer_text: string | null; at: number }>(
    sql`SELECT principal, status, answer_text, at FROM late_answers WHERE ask_id = ${askId} ORDER BY at LIMIT ${limit}`,
  );
  const shared = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM asks WHERE joined_to = ${askId} ORDER BY created_at, ask_id LIMIT ${limit}`,
  );
  return {
    late: late.map(({ principal, status, answer_text: text, at }) => ({ principal, status, text, at })),
    sharedBy: shared.map((row) => row.ask_id),
  };
}
