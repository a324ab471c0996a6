import { tellFact } from "./tell-fact.ts";
import { bumpsEpoch, mayBeJoined, mayMove } from "../model/job-rules.ts";
import { isOver, type Ask, type JobState, type AskAnswer, type StageRecord, type Stage } from "../model/ask.ts";
import { allowsCall } from "../model/people.ts";
import { CROWD } from "../../questions/model/participant.ts";
import { askerOf } from "../jobs/asker.ts";
import { MACHINE_MS } from "../model/rules.ts";
import { awaitedOutcome } from "../../requests/model/call-outcome.ts";
import { type Actor, type AuditNote } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import {
  appendJobEvents,
  recountPending,
  updateJobState,
  type JobAt,
  type JobMove,
  type NewJobEvent,
} from "../store/jobs.ts";
import { insertAnswer } from "../store/answers.ts";
import { endReportTimesOfJob, upsertAskOutcome } from "../store/ask-outcomes.ts";
import { endAsk, freeJoined, listJoined, listPendingOfJob, type AskAt } from "../store/asks.ts";
import { CLAIMS_TOPIC, INBOX_TOPIC, askTopic } from "../../core/store/wake.ts";

/** An answer, but for what follows from its ask. */
export type NewAskAnswer = Omit<AskAnswer, "askId" | "jobId" | "stepId" | "createdAt">;

/** How an ask ended: its last stage, and what each stage did. */
export interface EndedIn {
  stage: Stage;
  stages: readonly StageRecord[];
  /** Hash of the request that gave the answer, by which it is known when it comes again. */
  bodyHash?: string;
  /** Something is to be learned from it. */
  teaches?: boolean;
}

/**
 * Ends a pending ask with its one answer, and every ask that joined it; a job that waits for nothing more goes on. Where
 * nobody answered, because of its deadline or because it was withdrawn, those that joined it go on by themselves.
 *
 * The job is held and the ask was found pending under it. Entries of the record are returned, and not written, because
 * whoever holds the end of the record must lock nothing more.
 */
export async function settleAskIn(
  tx: Tx,
  held: { job: JobAt; ask: AskAt },
  given: NewAskAnswer,
  ended: EndedIn,
): Promise<{ answer: AskAnswer; job: JobAt; notes: AuditNote[] }> {
  const { ask } = held.ask;
  const at = held.job.now;
  const answer: AskAnswer = {
    ...traceOf(held.ask),
    ...given,
    askId: ask.id,
    jobId: ask.jobId,
    stepId: ask.stepId,
    createdAt: at,
  };
  const events: NewJobEvent[] = [];
  const notes: AuditNote[] = [];
  const isShared = given.source !== "server";
  const isJoinable = mayBeJoined(ask, held.job.job);
  if (isJoinable && !isShared) await freeJoined(tx, ask.id, MACHINE_MS);
  for (const one of [held.ask, ...(isJoinable && isShared ? await listJoined(tx, ask.id) : [])]) {
    const own: AskAnswer = { ...answer, askId: one.ask.id, stepId: one.ask.stepId };
    const { stage, stages, teaches = false } = ended;
    const consentDigest = given.consentDigest ?? null;
    const over = await endAsk(tx, one, {
      stage,
      stages,
      at,
      consentDigest,
      status: given.status,
      teaches: teaches && one === held.ask,
    });
    // point: relay-between-ask-and-answer
    await insertAnswer(tx, own, one === held.ask ? (ended.bodyHash ?? null) : null);
    if (awaitsReport(one.ask, own))
      await upsertAskOutcome(tx, one.ask.id, askerOf(one.ask, held.job.job), awaitedOutcome(at));
    tellFact(tx, { kind: "ended", ask: over.ask, job: held.job.job, answer: own });
    events.push(
      { event: "answer", body: { ask_id: own.askId } },
      logOf(held.job, "answer.recorded", one, { message: `${own.status} by ${own.source}` }),
    );
    notes.push({
      at,
      actor: actorOf(own),
      action: "relay.answered",
      agent: one.ask.principal,
      subjectId: one.ask.id,
      callId: ask.jobId,
      via: own.source,
      ...(own.consentDigest !== undefined && { digest: own.consentDigest }),
      data: { status: own.status, ...(own.policyTrace && { policy: own.policyTrace.policy }) },
    });
    tx.wake(askTopic(one.ask.id));
  }
  const moved = await recountIn(tx, held.job);
  await appendJobEvents(tx, moved.job, [...events, ...moved.events]);
  return { answer, job: moved.job, notes: [...notes, ...moved.notes] };
}

/** A call that people allowed has its outcome with their request, and an ask that joined another with that one. */
function awaitsReport(ask: Ask, answer: AskAnswer): boolean {
  return ask.reports !== undefined && ask.addressedId === null && ask.joinedTo === null && allowsCall(ask, answer);
}

/** Returns the policy's trace, which is part of every answer, from any source (spec/relay 4). */
function traceOf({ policyTrace }: AskAt): Pick<AskAnswer, "policyTrace"> {
  return policyTrace ? { policyTrace } : {};
}

function actorOf(answer: Pick<AskAnswer, "source" | "principal" | "policyTrace">): Actor {
  switch (answer.source) {
    case "person":
      return answer.principal === CROWD ? { kind: "crowd", id: CROWD } : { kind: "human", id: answer.principal };
    case "service":
      return { kind: "agent", id: answer.principal };
    case "policy":
      return { kind: "policy", id: answer.policyTrace?.policy ?? "policy" };
    case "cache":
    case "runner":
    case "server":
      return { kind: "server", id: answer.source };
  }
}

/**
 * Brings a held job's state into line with what it still waits for; a job that is over or waits in line stays so. The
 * event and the entry of the record that say so are returned, and not written.
 */
export async function recountIn(
  tx: Tx,
  held: JobAt,
): Promise<{ job: JobAt; events: NewJobEvent[]; notes: AuditNote[] }> {
  const { job: before } = held;
  const isActive = before.state === "RUNNING" || before.state === "WAITING_ON_ANSWER";
  const after = isActive ? await recountPending(tx, before) : held;
  if (after.job.state === before.state) return { job: after, events: [], notes: [] };
  const by = { kind: "server", id: "relay" } as const;
  return { job: after, events: [statusOf(after, before.state)], notes: [moveNote(after, before.state, by)] };
}

/** Why a job moves, and what that changes. */
export interface MoveInput extends Omit<JobMove, "from" | "to" | "epochStep"> {
  by: Actor;
}

/**
 * Moves a held job, and closes its pending asks where that ends it. Notes are returned, not written.
 *
 * @throws {Error} when the job may not move so: our bug
 */
export async function moveJobIn(
  tx: Tx,
  held: JobAt,
  to: JobState,
  { by, ...input }: MoveInput,
): Promise<{ job: JobAt; notes: AuditNote[] }> {
  const { id, state: from } = held.job;
  if (!mayMove(from, to)) throw new Error(`a job never goes from ${from} to ${to}`);
  const over = isOver(to);
  // A job that the clock fails is taken from its holder.
  const epochStep = bumpsEpoch(from, to) || by.kind === "clock" ? 1 : 0;
  const after = await updateJobState(tx, id, { ...input, from, to, epochStep });
  // point: job-between-state-and-asks
  const events: NewJobEvent[] = [];
  const notes: AuditNote[] = [];
  for (const ask of over ? await listPendingOfJob(tx, id) : []) {
    const answer: AskAnswer = {
      ...traceOf(ask),
      askId: ask.ask.id,
      jobId: id,
      stepId: ask.ask.stepId,
      status: "ERROR",
      cacheable: false,
      truncated: false,
      source: "server",
      principal: "",
      createdAt: after.now,
      errorCode: "E_CANCELED",
      error: `E_CANCELED: job ${id} ended (${to})`,
    };
    const { stage, stages } = ask.ask;
    const closed = await endAsk(tx, ask, { status: "ERROR", stage, stages, at: after.now, consentDigest: null });
    await insertAnswer(tx, answer, null);
    tellFact(tx, { kind: "ended", ask: closed.ask, job: after.job, answer });
    events.push({ event: "answer", body: { ask_id: ask.ask.id } });
    notes.push({ actor: by, action: "relay.closed", agent: ask.ask.principal, subjectId: ask.ask.id, callId: id });
    tx.wake(askTopic(ask.ask.id));
    tx.wake(INBOX_TOPIC);
  }
  await appendJobEvents(tx, after, [...events, statusOf(after, from)]);
  // The holder reports no more calls: the job is over, or is another holder's.
  if (after.job.awaitsReports && (over || to === "QUEUED"))
    await endReportTimesOfJob(tx, id, over ? ["awaited", "started"] : ["started"]);
  if (to === "QUEUED") tx.wake(CLAIMS_TOPIC);
  if (over) tellFact(tx, { kind: "job ended", job: after.job });
  return { job: after, notes: [...notes, moveNote(after, from, by)] };
}

/** Returns the event that says a job's new state. */
export function statusOf({ job, now }: JobAt, from: JobState | null): NewJobEvent {
  const { id, state, epoch, pendingAsks, reason } = job;
  return {
    event: "status",
    body: {
      job_id: id,
      state,
      ...(from !== null && { from }),
      epoch,
      pending_asks: pendingAsks,
      ...(reason !== null && { reason }),
      at: now,
    },
  };
}

/** Returns the entry of the record for a job's move. */
export function moveNote({ job, now }: JobAt, from: JobState | null, by: Actor): AuditNote {
  const { id, owner, state, epoch, reason } = job;
  const data = { from, epoch, ...(reason !== null && { reason }) };
  return { at: now, actor: by, action: `job.${state.toLowerCase()}`, agent: owner, callId: id, data };
}

/** Returns a log event about an ask; prompts and answers are never in it. */
export function logOf(
  job: JobAt,
  event: string,
  { ask }: AskAt,
  more: { message: string; level?: string; fields?: Readonly<Record<string, unknown>> },
): NewJobEvent {
  const { message, level = "info", fields } = more;
  return {
    event: "log",
    body: {
      job_id: job.job.id,
      step_id: ask.stepId,
      ask_id: ask.id,
      level,
      event,
      message,
      ...(fields && { fields }),
      at: job.now,
    },
  };
}
