import type { AskId } from "../../core/model/ids.ts";
import { readExactJson } from "../../lib/json/exact-json.ts";
import type { AnswerStatus, AskAnswer } from "../model/ask.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, optional, rowsOf } from "../../core/store/rows.ts";
import { join, sql } from "../../core/store/sql.ts";

const answerRows = rowsOf<AskAnswer>()({
  askId: "ask_id",
  jobId: "job_id",
  stepId: "step_id",
  status: "status",
  text: optional("answer_text"),
  json: optional(json("answer_json", readExactJson)),
  artifacts: optional(json("artifacts_json")),
  policyTrace: optional(json("policy_trace_json")),
  cacheable: flag("cacheable"),
  askBack: optional("ask_back"),
  error: optional("error"),
  errorCode: optional("error_code"),
  source: "source",
  principal: "principal",
  answeredBy: optional("answered_by"),
  consentDigest: optional("consent_digest"),
  attestation: optional(json("attestation_json")),
  truncated: flag("truncated"),
  createdAt: "created_at",
});

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** Stores the one outcome of an ask that was ended just before. @throws {Error} when there is one: our bug. */
export async function insertAnswer(tx: Tx, answer: AskAnswer, bodyHash: string | null): Promise<void> {
  await one(
    tx,
    sql`INSERT INTO answers (ask_id, job_id, step_id, status, answer_text, answer_json, artifacts_json,
        policy_trace_json, cacheable, ask_back, error, created_at, error_code, source, principal, answered_by,
        attestation_json, consent_digest, truncated, body_hash)
      VALUES (${answer.askId}, ${answer.jobId}, ${answer.stepId}, ${answer.status}, ${answer.text ?? null},
        ${jsonOrNull(answer.json)}, ${jsonOrNull(answer.artifacts)}, ${jsonOrNull(answer.policyTrace)}, ${answer.cacheable ? 1 : 0},
        ${answer.askBack ?? null}, ${answer.error ?? null}, ${answer.createdAt}, ${answer.errorCode ?? null},
        ${answer.source}, ${answer.principal}, ${answer.answeredBy ?? null}, ${jsonOrNull(answer.attestation)},
        ${answer.consentDigest ?? null}, ${answer.truncated ? 1 : 0}, ${bodyHash})
      RETURNING ask_id`,
  );
}

/** An answer, and the hash of the request that gave it, where one did. */
export interface StoredAnswer {
  answer: AskAnswer;
  bodyHash: string | null;
}

const storedAnswerRows = rowsOf<StoredAnswer>()({ answer: answerRows.read, bodyHash: "body_hash" });

export async function findAnswer(on: Queryable, askId: AskId): Promise<StoredAnswer | undefined> {
  return storedAnswerRows.first(on, sql`SELECT * FROM answers WHERE ask_id = ${askId}`);
}

export async function findAnswers(on: Queryable, askIds: readonly AskId[]): Promise<Map<string, AskAnswer>> {
  if (askIds.length === 0) return new Map();
  const answers = await answerRows.all(on, sql`SELECT * FROM answers WHERE ask_id IN (${join([...askIds])})`);
  return new Map(answers.map((answer) => [answer.askId, answer]));
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
  const [text, value] = [late.text ?? null, jsonOrNull(late.json)];
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
