import type { Context } from "../../context.ts";
import type { AskId, RequestId } from "../../core/model/ids.ts";
import { appendAudit, type Actor } from "../../core/store/audit.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { askTopic } from "../../core/store/wake.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";
import { frozenRefusal } from "../../policy/freezes.ts";
import { Refusal } from "../../refusals.ts";
import {
  type CallOutcome,
  type NotRunReport,
  outcomeAt,
  type OutcomeReport,
  reported,
} from "../../requests/model/call-outcome.ts";
import { reportOutcomeIn, type Reported } from "../../requests/outcome/report-outcome.ts";
import { findCallOutcome } from "../../requests/store/call-outcomes.ts";
import { findRequest, lockRequest } from "../../requests/store/requests.ts";
import { holdForWriter, type Writer } from "../jobs/hold-job.ts";
import { askerOf, mayNotAllow } from "../jobs/asker.ts";
import type { Ask, Job } from "../model/ask.ts";
import { ownOutcomeAt } from "../model/ask-outcome.ts";
import { findAnswer } from "../store/answers.ts";
import { findAskOutcome, lockAskOutcome, upsertAskOutcome } from "../store/ask-outcomes.ts";
import { findAsk, type AskAt } from "../store/asks.ts";
import { lockJob, noteReports, type JobAt } from "../store/jobs.ts";

type Reporting = Pick<Context, "db" | "wake" | "secrets" | "relay">;

/**
 * Stores what became of the call that an ask allowed, as whoever holds its job reports it; `by` is null for this server's
 * own executors. The run that starts
 * a call is the job under its present number. Where people allowed it, the outcome is that of the request to them: nothing else is stored. An ask that
 * shares the answer of another one shares its outcome.
 *
 * @throws {Refusal} `ask_not_found`, `feature_disabled`, `fenced`, `not_approved`, `outcome_known`, `outcome_started`;
 *   `frozen` for a start
 */
export async function reportAskOutcome(
  ctx: Reporting,
  askId: AskId,
  by: Writer | null,
  report: OutcomeReport | NotRunReport | { state: "started" },
): Promise<Reported> {
  const clean = await withoutSecrets(ctx, report);
  return transact(ctx, async (tx) => {
    const found = await findAsk(tx, askId);
    if (!found) throw new Refusal("ask_not_found");
    const { ask } = await leaderOf(tx, found);
    // A decision takes the rows in the same order.
    const request = ask.addressedId === null ? undefined : await lockRequest(tx, ask.addressedId);
    if (ask.addressedId !== null && !request) throw new Refusal("ask_not_found");
    const job = await holdJob(ctx, tx, ask, by);
    const said = clean.state === "started" ? { ...clean, run: `${job.job.id}#${job.job.epoch}` } : clean;
    if (said.state === "started" && (await mayNotAllow(tx, found, job.job)))
      throw await frozenRefusal(tx, askerOf(ask, job.job));
    if (said.state === "started") await noteReports(tx, job.job);
    if (request) return reportOutcomeIn(tx, request, said);
    const former = await ownOutcome(tx, ask, await lockAskOutcome(tx, ask.id), job.now);
    if (!former) throw new Refusal("not_approved");
    const outcome = reported(former, said, job.now);
    if (outcome === former) return { outcome, repeated: true };
    await storeOutcome(tx, { ask, job: job.job }, outcome, { kind: "agent", id: ask.principal });
    return { outcome, repeated: false };
  });
}

async function holdJob(ctx: Pick<Context, "relay">, tx: Tx, { jobId }: Ask, by: Writer | null): Promise<JobAt> {
  const held = by === null ? await lockJob(tx, jobId) : await holdForWriter(ctx, tx, jobId, by).catch(asMissingAsk);
  if (!held) throw new Refusal("ask_not_found");
  return held;
}

function asMissingAsk(error: unknown): never {
  throw error instanceof Refusal && error.code === "job_not_found" ? new Refusal("ask_not_found") : error;
}

/** Returns the ask whose answer an ask has: its own, or the one of an earlier holder that it joined. */
async function leaderOf(on: Queryable, held: Pick<AskAt, "ask" | "now">): Promise<Pick<AskAt, "ask" | "now">> {
  const { joinedTo } = held.ask;
  return joinedTo === null ? held : ((await findAsk(on, joinedTo)) ?? held);
}

async function ownOutcome(
  on: Queryable,
  ask: Ask,
  stored: Awaited<ReturnType<typeof findAskOutcome>>,
  now: number,
): Promise<CallOutcome | null> {
  const answer = ask.status === "ANSWERED" ? (await findAnswer(on, ask.id))?.answer : undefined;
  return answer ? ownOutcomeAt(ask, answer, stored, { now, isFrozen: stored?.isFrozen ?? false }) : null;
}

async function storeOutcome(
  tx: Tx,
  { ask, job }: { ask: Ask; job: Job },
  outcome: CallOutcome,
  actor: Actor,
): Promise<void> {
  await upsertAskOutcome(tx, ask.id, askerOf(ask, job), outcome);
  const { state, run, resultDigest } = outcome;
  await appendAudit(tx, {
    actor,
    action: "relay.outcome",
    agent: ask.principal,
    subjectId: ask.id,
    callId: ask.jobId,
    data: { state, ...(run !== null && { run }), ...(resultDigest !== null && { result_digest: resultDigest }) },
  });
  tx.wake(askTopic(ask.id));
}

/** Ends the call of an ask whose report is overdue. Returns whether it did. */
export async function giveUpAskOutcome(ctx: Pick<Context, "db" | "wake">, askId: AskId): Promise<boolean> {
  return transact(ctx, async (tx) => {
    const found = await findAsk(tx, askId);
    const job = found && (await lockJob(tx, found.ask.jobId));
    const stored = job && (await lockAskOutcome(tx, askId));
    if (!stored) return false;
    const outcome = await ownOutcome(tx, found.ask, stored, job.now);
    if (!outcome || outcome === stored) return false;
    await storeOutcome(tx, { ask: found.ask, job: job.job }, outcome, { kind: "clock", id: "clock" });
    return true;
  });
}

/**
 * Returns what became of the call that an ask allowed; null for an ask that allows none, and where nothing was promised
 * or reported.
 */
export async function readAskOutcome(
  { db }: Pick<Context, "db">,
  held: Pick<AskAt, "ask" | "now">,
): Promise<CallOutcome | null> {
  if (held.ask.status !== "ANSWERED") return null;
  const { ask, now } = await leaderOf(db, held);
  const outcome =
    ask.addressedId === null
      ? await ownOutcome(db, ask, await findAskOutcome(db, ask.id), now)
      : await outcomeOfRequest(db, ask.addressedId);
  return outcome?.state === "not_reported" ? null : outcome;
}

async function outcomeOfRequest(on: Queryable, requestId: RequestId): Promise<CallOutcome | null> {
  const found = await findRequest(on, requestId);
  return found ? outcomeAt(found.request, await findCallOutcome(on, requestId), found) : null;
}
