import type { AskId } from "../../core/model/ids.ts";
import { readExactJson } from "../../lib/json/exact-json.ts";
import type { AnswerSource, AnswerStatus, Attestation, ErrorCode, AskAnswer } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

interface AnswerRow {
  ask_id: string;
  job_id: string;
  step_id: string;
  status: AnswerStatus;
  answer_text: string | null;
  answer_json: string | null;
  artifacts_json: string | null;
  policy_trace_json: string | null;
  cacheable: number;
  ask_back: string | null;
  error: string | null;
  created_at: number;
  error_code: ErrorCode | null;
  source: AnswerSource;
  principal: string;
  answered_by: string | null;
  attestation_json: string | null;
  consent_digest: string | null;
  truncated: number;
  body_hash: string | null;
}

function toAnswer(row: AnswerRow): AskAnswer {
  return {
    askId: row.ask_id,
    jobId: row.job_id,
    stepId: row.step_id,
    status: row.status,
    ...(row.answer_text !== null && { text: row.answer_text }),
    ...(row.answer_json !== null && { json: readExactJson(row.answer_json) }),
    ...(row.artifacts_json !== null && { artifacts: JSON.parse(row.artifacts_json) as string[] }),
    ...(row.policy_trace_json !== null && { policyTrace: JSON.parse(row.policy_trace_json) as PolicyTrace }),
    cacheable: row.cacheable === 1,
    ...(row.ask_back !== null && { askBack: row.ask_back }),
    ...(row.error !== null && { error: row.error }),
    ...(row.error_code !== null && { errorCode: row.error_code }),
    source: row.source,
    principal: row.principal,
    ...(row.answered_by !== null && { answeredBy: row.answered_by }),
    ...(row.consent_digest !== null && { consentDigest: row.consent_digest }),
    ...(row.attestation_json !== null && { attestation: JSON.parse(row.attestation_json) as Attestation }),
    truncated: row.truncated === 1,
    createdAt: row.created_at,
  };
}

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Stores the one outcome of an ask that was ended just before. @throws {Error} when there is one: our bug. */
export async function insertAnswer(tx: Tx, answer: AskAnswer, bodyHash: string | null): Promise<void> {
  await one(
    tx,
    sql`INSERT INTO answers (ask_id, job_id, step_id, status, answer_text, answer_json, artifacts_json,
        policy_trace_json, cacheable, ask_back, error, created_at, error_code, source, principal, answered_by,
        attestation_json, consent_digest, truncated, body_hash)
      VALUES (${answer.askId}, ${answer.jobId}, ${answer.stepId}, ${answer.status}, ${answer.text ?? null},
        ${json(answer.json)}, ${json(answer.artifacts)}, ${json(answer.policyTrace)}, ${answer.cacheable ? 1 : 0},
        ${answer.askBack ?? null}, ${answer.error ?? null}, ${answer.createdAt}, ${answer.errorCode ?? null},
        ${answer.source}, ${answer.principal}, ${answer.answeredBy ?? null}, ${json(answer.attestation)},
        ${answer.consentDigest ?? null}, ${answer.truncated ? 1 : 0}, ${bodyHash})
      RETURNING ask_id`,
  );
}

/** An answer, and the hash of the request that gave it, where one did. */
export interface StoredAnswer {
  answer: AskAnswer;
  bodyHash: string | null;
}

export async function findAnswer(on: Queryable, askId: AskId): Promise<StoredAnswer | undefined> {
  const row = await first<AnswerRow>(on, sql`SELECT * FROM answers WHERE ask_id = ${askId}`);
  return row && { answer: toAnswer(row), bodyHash: row.body_hash };
}

export async function findAnswers(on: Queryable, askIds: readonly AskId[]): Promise<Map<string, AskAnswer>> {
  if (askIds.length === 0) return new Map();
  const rows = await on.all<AnswerRow>(sql`SELECT * FROM answers WHERE ask_id IN (${join([...askIds])})`);
  return new Map(rows.map((row) => [row.ask_id, toAnswer(row)]));
}

/** Notes that the executor of an epoch was given an answer; once is enough. */
export async function noteDelivered(tx: Tx, askId: AskId, epoch: number): Promise<void> {
  await tx.all(
    sql`INSERT INTO answer_deliveries (ask_id, epoch, at) VALUES (${askId}, ${epoch}, parley_now()) ON CONFLICT DO NOTHING`,
  );
}

/** The same for several asks, each under its own epoch; those of the first epoch need no such row. */
export async function noteAllDelivered(tx: Tx, askIds: readonly AskId[]): Promise<void> {
  await tx.all(
    sql`INSERT INTO answer_deliveries (ask_id, epoch, at) SELECT ask_id, epoch, parley_now() FROM asks
      WHERE ask_id IN (${join([...askIds])}) AND epoch > 0 ON CONFLICT DO NOTHING`,
  );
}

/** Returns whether any executor was given an ask's answer, as its own or as that of an ask that shares it. */
export async function wasDelivered(on: Queryable, askId: AskId): Promise<boolean> {
  const row = await first(
    on,
    sql`SELECT 1 AS found FROM answer_deliveries
      WHERE ask_id = ${askId} OR ask_id IN (SELECT ask_id FROM asks WHERE joined_to = ${askId}) LIMIT 1`,
  );
  return row !== undefined;
}

/** Keeps an answer that came after the ask was over; returns false if the same person had given the same before. */
export async function insertLateAnswer(
  tx: Tx,
  late: { askId: AskId; principal: string; status: AnswerStatus; text?: string; json?: unknown },
): Promise<boolean> {
  const [text, value] = [late.text ?? null, json(late.json)];
  const before = await tx.all<{ answer_text: string | null; answer_json: string | null }>(
    sql`SELECT answer_text, answer_json FROM late_answers
      WHERE ask_id = ${late.askId} AND principal = ${late.principal} AND status = ${late.status}`,
  );
  if (before.some((one) => one.answer_text === text && one.answer_json === value)) return false;
  await tx.all(
    sql`INSERT INTO late_answers (ask_id, principal, status, answer_text, answer_json, at)
      VALUES (${late.askId}, ${late.principal}, ${late.status}, ${text}, ${value}, parley_now())`,
  );
  return true;
}
