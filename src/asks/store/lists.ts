import type { AskId } from "../../core/model/ids.ts";
import type { AskType } from "../../core/model/ask-type.ts";
import type { ListPosition } from "../../core/model/list-page.ts";
import type { AnswerSource, AskStatus, ErrorCode, JobState, Stage } from "../model/ask.ts";
import { jobTitle } from "../model/job-title.ts";
import type { Queryable } from "../../core/store/db.ts";
import { flag, rowsOf } from "../../core/store/rows.ts";
import { empty, join, sql } from "../../core/store/sql.ts";

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
/** A longer specification is left in the store: a list reads those of fifty jobs. In characters. */
const SPEC_LENGTH = 8000;

const askLineRows = rowsOf<AskLine>()({
  id: "ask_id",
  jobId: "job_id",
  stepId: "step_id",
  type: "ask_type",
  prompt: "prompt",
  principal: "principal",
  status: "status",
  stage: "stage",
  createdAt: "created_at",
  endedAt: "ended_at",
  source: "source",
  answeredBy: "answered_by",
  errorCode: "error_code",
});

/** Returns everybody's asks, the newest first. An expired ask may be listed as pending for a moment. */
export async function listAskLines(
  on: Queryable,
  { status, after, limit }: { status?: AskStatus; after?: ListPosition; limit: number },
): Promise<AskLine[]> {
  return askLineRows.all(
    on,
    sql`SELECT a.ask_id, a.job_id, a.step_id, a.ask_type, substr(a.prompt, 1, ${PROMPT_LENGTH}) AS prompt, a.principal,
        a.status, a.stage, a.created_at, a.ended_at, s.source, s.answered_by, s.error_code
      FROM asks a LEFT JOIN answers s ON s.ask_id = a.ask_id WHERE 1 = 1
      ${status === undefined ? empty : sql`AND a.status = ${status}`}
      ${after === undefined ? empty : sql`AND (a.created_at < ${after.at} OR a.created_at = ${after.at} AND a.ask_id < ${after.id})`}
      ORDER BY a.created_at DESC, a.ask_id DESC LIMIT ${limit}`,
  );
}

/** One job as a line of a list. */
export interface JobLine {
  id: string;
  title: string;
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

const jobLineRows = rowsOf<JobLine>()({
  id: "job_id",
  title: (row: { job_id: string; kind: string; spec: string | null }) =>
    jobTitle({ id: row.job_id, kind: row.kind, spec: row.spec === null ? null : JSON.parse(row.spec) }),
  kind: "kind",
  state: "state",
  reason: "reason",
  epoch: "epoch",
  owner: "owner",
  external: flag("external"),
  holder: "holder",
  pendingAsks: "pending_asks",
  createdAt: "created_at",
  updatedAt: "updated_at",
});

/** Returns everybody's jobs, the newest first; in some states, or in any. */
export async function listJobLines(
  on: Queryable,
  { states, after, limit }: { states?: readonly JobState[]; after?: ListPosition; limit: number },
): Promise<JobLine[]> {
  return jobLineRows.all(
    on,
    sql`SELECT job_id, kind, state, reason, epoch, external, owner, holder, pending_asks, created_at, updated_at,
        CASE WHEN length(spec_json) <= ${SPEC_LENGTH} THEN spec_json END AS spec
      FROM jobs WHERE 1 = 1
      ${states === undefined ? empty : sql`AND state IN (${join([...states])})`}
      ${after === undefined ? empty : sql`AND (created_at < ${after.at} OR created_at = ${after.at} AND job_id < ${after.id})`}
      ORDER BY created_at DESC, job_id DESC LIMIT ${limit}`,
  );
}

/** An answer that somebody gave after the ask was over. */
export interface LateAnswer {
  principal: string;
  status: AskStatus;
  text: string | null;
  at: number;
}

/** Returns one page of what came too late for an ask, the oldest first; none ever goes before its ask does. */
export async function listLate(
  on: Queryable,
  askId: AskId,
  { skipped, limit }: { skipped: number; limit: number },
): Promise<LateAnswer[]> {
  const rows = await on.all<{ principal: string; status: AskStatus; answer_text: string | null; at: number }>(
    sql`SELECT principal, status, answer_text, at FROM late_answers WHERE ask_id = ${askId}
      ORDER BY at, principal, status, answer_text, answer_json LIMIT ${limit} OFFSET ${skipped}`,
  );
  return rows.map(({ principal, status, answer_text: text, at }) => ({ principal, status, text, at }));
}

/** Returns one page of the asks that share an ask's answer, the oldest first. */
export async function listSharing(
  on: Queryable,
  askId: AskId,
  { after, limit }: { after?: ListPosition; limit: number },
): Promise<ListPosition[]> {
  const rows = await on.all<{ ask_id: string; created_at: number }>(
    sql`SELECT ask_id, created_at FROM asks WHERE joined_to = ${askId}
        ${after === undefined ? empty : sql`AND (created_at, ask_id) > (${after.at}, ${after.id})`}
      ORDER BY created_at, ask_id LIMIT ${limit}`,
  );
  return rows.map(({ ask_id: id, created_at: at }) => ({ at, id }));
}
