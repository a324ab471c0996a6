import type { AskId, QuestionId } from "../../core/model/ids.ts";
import type { AskType } from "../../core/model/ask-type.ts";
import type { AskStatus, Ask, Stage, StageRecord } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import { ALL_READERS } from "../../requests/model/audience.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import {
  constraintsText,
  FROZEN,
  HAS_OWN_DEADLINE,
  toAt,
  wireWith,
  type AskRow,
  type AskWire,
  type AskAt,
} from "./ask-rows.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { empty, join, raw, sql } from "../../core/store/sql.ts";
import { isFrozen } from "../../policy/store/freezes.ts";
import { hasReader } from "../../requests/store/tables.ts";

export type { AskAt } from "./ask-rows.ts";

/** A new ask; its times follow from its insertion. */
export type NewAskRow = Omit<
  Ask,
  | "status"
  | "stage"
  | "stages"
  | "createdAt"
  | "expiresAt"
  | "addressedId"
  | "questionId"
  | "decisionKey"
  | "consentDigest"
> &
  Pick<AskAt, "bodyHash" | "sameHash" | "options" | "warnings" | "mismatch" | "sealedCall"> & {
    timeoutMs: number;
    /** The ask whose answer it shares, where that is still pending: it stands where that one does. */
    leader: Pick<Ask, "stage" | "expiresAt"> | null;
    /** When whoever answers first takes it, if the one who stores it does not; null for one that joined another. */
    respondInMs: number | null;
  };

/** Stores an ask unless there is one of this id; returns nothing then. */
export async function insertAskIfNew(tx: Tx, ask: NewAskRow): Promise<AskAt | undefined> {
  const { envelope, bodyHash, options, warnings, mismatch, leader, traceparent, reports } = ask;
  const call = ask.sealedCall;
  const wire: AskWire = { envelope, bodyHash, options, stages: [], warnings, mismatch, traceparent, reports, call };
  const sharedDeadline = ask.constraints.timeoutS === undefined ? (leader?.expiresAt ?? null) : null;
  const row = await first<AskRow>(
    tx,
    sql`INSERT INTO asks (ask_id, job_id, step_id, ask_type, prompt, context_hash, constraints_json, role_id, meta_json,
        created_at, status, epoch, principal, stage, expires_at, same_hash, joined_to, respond_at, tries, wire)
      VALUES (${ask.id}, ${ask.jobId}, ${ask.stepId}, ${ask.type}, ${ask.prompt}, ${ask.contextHash},
        ${constraintsText(ask.constraints)}, ${ask.roleId}, ${JSON.stringify(ask.meta)}, (SELECT parley_now()), 'PENDING',
        ${ask.epoch}, ${ask.principal}, ${leader?.stage ?? "intake"},
        coalesce(${sharedDeadline}, (SELECT parley_now()) + ${ask.timeoutMs}), ${ask.sameHash},
        ${ask.joinedTo}, (SELECT parley_now()) + ${ask.respondInMs}, 0, ${JSON.stringify(wire)})
      ON CONFLICT (ask_id) DO NOTHING RETURNING *, created_at AS now, ${FROZEN}`,
  );
  return row && toAt(row);
}

export async function findAsk(on: Queryable, id: string): Promise<AskAt | undefined> {
  const row = await first<AskRow>(on, sql`SELECT *, parley_now() AS now, ${FROZEN} FROM asks WHERE ask_id = ${id}`);
  return row && toAt(row);
}

/** Returns the ask that an ask to people stands for. */
export async function findAskOfRequest(on: Queryable, addressedId: string): Promise<AskAt | undefined> {
  const row = await first<AskRow>(
    on,
    sql`SELECT *, parley_now() AS now, ${FROZEN} FROM asks WHERE addressed_id = ${addressedId}`,
  );
  return row && toAt(row);
}

/** Returns the ask that a question to the crowd stands for. */
export async function findByQuestion(on: Queryable, questionId: QuestionId): Promise<AskAt | undefined> {
  const row = await first<AskRow>(
    on,
    sql`SELECT *, parley_now() AS now, ${FROZEN} FROM asks WHERE question_id = ${questionId}`,
  );
  return row && toAt(row);
}

/** Holds an ask to the end of the transaction; its job is held before it. */
export async function lockAsk(tx: Tx, id: string): Promise<AskAt | undefined> {
  const row = await first<AskRow>(tx, lockedRows(tx, "asks", sql`ask_id = ${id}`, sql`, ${FROZEN}`));
  return row && toAt(row);
}

/** Ends a held ask. @throws {Error} when it was over: our bug. */
export async function endAsk(
  tx: Tx,
  held: AskAt,
  end: {
    status: AskStatus;
    stage: Stage;
    stages: readonly StageRecord[];
    at: number;
    consentDigest: string | null;
    /** Something is to be learned from how it ended. */
    teaches?: boolean;
  },
): Promise<AskAt> {
  const row = await one<AskRow>(
    tx,
    sql`UPDATE asks SET status = ${end.status}, stage = ${end.stage}, ended_at = ${end.at},
        respond_at = CASE WHEN ${end.teaches ? 1 : 0} = 1 THEN parley_now() ELSE NULL END, consent_digest = coalesce(consent_digest, ${end.consentDigest}), wire = ${wireWith(held, end.stages, null)}
      WHERE ask_id = ${held.ask.id} AND status = ${"PENDING"} RETURNING *, parley_now() AS now, ${FROZEN}`,
  );
  return toAt(row);
}

/** Where a pending ask goes next. */
export interface Advance {
  stage: Stage;
  stages: readonly StageRecord[];
  decisionKey?: string | null;
  consentDigest?: string | null;
  addressedId?: string;
  /** The policy's decision and its reasons, where it is new. */
  policyTrace?: PolicyTrace;
  questionId?: QuestionId;
  /** When its present stage is offered it again, if nobody has finished by then; null where nobody is to. */
  respondInMs: number | null;
  /** Moves the deadline to so long from now. */
  expiresInMs?: number;
}

/** Moves a pending ask to its next stage; returns nothing when it is over. */
export async function advanceAsk(tx: Tx, held: AskAt, to: Advance): Promise<AskAt | undefined> {
  const deadline = to.expiresInMs === undefined ? sql`expires_at` : sql`parley_now() + ${to.expiresInMs}`;
  const row = await first<AskRow>(
    tx,
    sql`UPDATE asks SET stage = ${to.stage}, expires_at = ${deadline}, respond_at = parley_now() + ${to.respondInMs},
        decision_key = coalesce(${to.decisionKey ?? null}, decision_key),
        consent_digest = coalesce(${to.consentDigest ?? null}, consent_digest),
        addressed_id = coalesce(${to.addressedId ?? null}, addressed_id),
        question_id = coalesce(${to.questionId ?? null}, question_id),
        wire = ${wireWith(held, to.stages, to.policyTrace ?? null)}
      WHERE ask_id = ${held.ask.id} AND status = ${"PENDING"} RETURNING *, parley_now() AS now, ${FROZEN}`,
  );
  return row && toAt(row);
}

/** Takes an ask that nobody has finished with, for so long; returns nothing when somebody else has taken it. */
export async function claimAsk(tx: Tx, id: string, forMs: number): Promise<AskAt | undefined> {
  // A plain comparison proves that the time is not null, and a kept plan could walk the index of such times.
  const isDue = sql`CASE WHEN respond_at <= parley_now() THEN 1 ELSE 0 END = 1`;
  const row = await first<AskRow>(
    tx,
    sql`UPDATE asks SET respond_at = parley_now() + ${forMs}, tries = tries + 1
      WHERE ask_id = ${id} AND ${isDue} RETURNING *, parley_now() AS now, ${FROZEN}`,
  );
  return row && toAt(row);
}

/** Takes it upon itself to learn from an ask that is over; returns false when there is nothing to be learned, or no more. */
export async function claimLesson(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE asks SET respond_at = NULL
      WHERE ask_id = ${id} AND status <> 'PENDING' AND respond_at IS NOT NULL RETURNING ask_id`,
  );
  return rows.length > 0;
}

/** Returns asks that somebody should see to who has not. */
export async function findUnresponded(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM asks WHERE respond_at IS NOT NULL AND respond_at <= (SELECT parley_now())
        AND NOT (status = 'PENDING' AND ${isFrozen(raw("principal"))})
      ORDER BY respond_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Returns pending asks whose own deadline has passed and that no ask to people and no question stands for. */
export async function findDueAsks(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM asks WHERE status = 'PENDING' AND expires_at <= (SELECT parley_now()) AND addressed_id IS NULL
      AND question_id IS NULL AND ${HAS_OWN_DEADLINE}
        AND NOT ${isFrozen(raw("principal"))} ORDER BY expires_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Returns a job's pending asks, of every epoch, or of one. */
export async function listPendingOfJob(on: Queryable, jobId: string, epoch?: number): Promise<AskAt[]> {
  const rows = await on.all<AskRow>(
    sql`SELECT *, (SELECT parley_now()) AS now, ${FROZEN} FROM asks WHERE job_id = ${jobId} AND status = 'PENDING'
      ${epoch === undefined ? empty : sql`AND epoch = ${epoch}`} ORDER BY created_at, ask_id`,
  );
  return rows.map(toAt);
}

/** Returns pending asks that share the answer of another, the newest first. */
export async function listJoined(on: Queryable, askId: AskId): Promise<AskAt[]> {
  const rows = await on.all<AskRow>(
    sql`SELECT *, (SELECT parley_now()) AS now, ${FROZEN} FROM asks WHERE joined_to = ${askId} AND status = 'PENDING'
      ORDER BY epoch DESC, created_at DESC, ask_id DESC`,
  );
  return rows.map(toAt);
}

/** Pending asks that share the answer of another stand where that one does; deadlines of their own stay. */
export async function moveJoined(tx: Tx, { ask }: AskAt): Promise<void> {
  await tx.all(
    sql`UPDATE asks SET stage = ${ask.stage},
        expires_at = CASE WHEN ${HAS_OWN_DEADLINE} THEN expires_at ELSE ${ask.expiresAt} END
      WHERE joined_to = ${ask.id} AND status = 'PENDING'`,
  );
}

/**
 * Asks that shared the answer of one that ended without any go on by themselves: the newest is offered from the beginning
 * and the others share its answer. One without a deadline of its own has so long for it.
 */
export async function freeJoined(tx: Tx, askId: AskId, machineMs: number): Promise<void> {
  const [newest] = await listJoined(tx, askId);
  if (!newest) return;
  const { id } = newest.ask;
  await tx.all(
    sql`UPDATE asks SET stage = 'intake',
        expires_at = CASE WHEN ${HAS_OWN_DEADLINE} THEN expires_at ELSE parley_now() + ${machineMs} END,
        respond_at = CASE WHEN ask_id = ${id} THEN parley_now() ELSE NULL END,
        joined_to = CASE WHEN ask_id = ${id} THEN NULL ELSE ${id} END
      WHERE joined_to = ${askId} AND status = 'PENDING'`,
  );
}

/** Returns a job's newest ask of an earlier epoch that asked the same, and joined no other. */
export async function findSameOfEarlierEpoch(
  on: Queryable,
  jobId: string,
  epoch: number,
  sameHash: string,
): Promise<AskAt | undefined> {
  // The first epoch is 0.
  if (epoch === 0) return undefined;
  const row = await first<AskRow>(
    on,
    sql`SELECT *, (SELECT parley_now()) AS now, ${FROZEN} FROM asks
      WHERE job_id = ${jobId} AND same_hash = ${sameHash} AND epoch < ${epoch} AND joined_to IS NULL
      ORDER BY created_at DESC, ask_id DESC LIMIT 1`,
  );
  return row && toAt(row);
}

/** Returns how many asks of one job and of one principal are pending. */
export async function countPending(
  on: Queryable,
  jobId: string,
  principal: string,
): Promise<{ ofJob: number; ofPrincipal: number }> {
  const row = await one<{ of_job: number; of_principal: number }>(
    on,
    sql`SELECT (SELECT count(*) FROM asks WHERE job_id = ${jobId} AND status = 'PENDING') AS of_job,
      (SELECT count(*) FROM asks WHERE principal = ${principal} AND status = 'PENDING') AS of_principal`,
  );
  return { ofJob: row.of_job, ofPrincipal: row.of_principal };
}

/** A place between two pages of asks. */
export interface AskPosition {
  at: number;
  id: string;
}

/** Returns a job's asks of every epoch, oldest first. */
export async function listAsksOfJob(
  on: Queryable,
  jobId: string,
  { after, limit }: { after?: AskPosition; limit: number },
): Promise<AskAt[]> {
  const rows = await on.all<AskRow>(
    sql`SELECT *, (SELECT parley_now()) AS now, ${FROZEN} FROM asks WHERE job_id = ${jobId}
      ${after === undefined ? empty : sql`AND (created_at > ${after.at} OR created_at = ${after.at} AND ask_id > ${after.id})`}
      ORDER BY created_at, ask_id LIMIT ${limit}`,
  );
  return rows.map(toAt);
}

/** Returns pending asks, the one that ends first first: of some types, or those that are in somebody's inbox. */
export async function listPendingAsks(
  on: Queryable,
  page: { types: readonly AskType[]; readers: readonly string[] | null; after?: AskPosition; limit: number },
): Promise<AskAt[]> {
  const { types, readers, after, limit } = page;
  if (types.length === 0 || readers?.length === 0) return [];
  const shown = !readers
    ? empty
    : readers.includes(ALL_READERS)
      ? sql`AND addressed_id IS NOT NULL`
      : sql`AND ${hasReader(sql`asks.addressed_id`, readers)}`;
  const rows = await on.all<AskRow>(
    sql`SELECT *, (SELECT parley_now()) AS now, ${FROZEN} FROM asks
      WHERE status = 'PENDING' AND joined_to IS NULL AND ask_type IN (${join([...types])}) ${shown}
      ${after === undefined ? empty : sql`AND (expires_at > ${after.at} OR expires_at = ${after.at} AND ask_id > ${after.id})`}
      ORDER BY expires_at, ask_id LIMIT ${limit}`,
  );
  return rows.map(toAt);
}

/** Returns those of the asks whose decision allows something, and whose asker is frozen. */
export async function findHeldBack(on: Queryable, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM asks WHERE ask_id IN (${join([...ids])}) AND status = 'ANSWERED'
      AND ask_type IN ('APPROVAL', 'POLICY_DECISION') AND ${isFrozen(raw("principal"))}`,
  );
  return rows.map((row) => row.ask_id);
}
