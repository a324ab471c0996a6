import type { Context } from "../../context.ts";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { EXTERNAL_IDLE_MS } from "../model/job-rules.ts";
import { isOver, type Job } from "../model/ask.ts";
import { Refusal } from "../../refusals.ts";
import type { Actor } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import { hasHeld } from "../store/job-claims.ts";
import { appendJobEvents, extendExternal, lockJob, renewLease, type JobAt } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";
import { checkLease, fenced } from "./check-lease.ts";
import { refuseUnserved } from "./read-job.ts";
import { moveJobIn } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";

/** The writer in a job's name, and the lease token it shows. */
export interface Writer {
  principal: string;
  lease?: string | undefined;
}

/** How a job ended, in its executor's words. */
export interface Finish {
  state: "SUCCEEDED" | "FAILED";
  reason?: string;
  result?: unknown;
  artifacts?: readonly string[];
}

/**
 * Locks a job for its writer: the holder of its lease or, for an external job, its owner. A former holder learns that
 * it lost the job. For anybody else the job does not exist.
 *
 * @throws {Refusal} `job_not_found`, `feature_disabled`, `fenced`
 */
export async function holdForWriter(
  ctx: Pick<Context, "relay">,
  tx: Tx,
  id: string,
  { principal, lease }: Writer,
): Promise<JobAt> {
  const held = await lockJob(tx, id);
  if (!held) throw new Refusal("job_not_found");
  const { owner, holder, external } = held.job;
  const isKnown = owner === principal || (!external && (holder === principal || (await hasHeld(tx, id, principal))));
  if (!isKnown) throw new Refusal("job_not_found");
  refuseUnserved(ctx, held.job);
  if (!external) checkLease(held, lease);
  else await extendExternal(tx, id, EXTERNAL_IDLE_MS);
  return held;
}

/**
 * The lease is good for its whole time again, from now; what the holder has to say becomes a log event. An external job,
 * which has no lease, lives on for as long as after any other call.
 *
 * @throws {Refusal} `job_not_found`, `feature_disabled`, `fenced`, `job_closed`
 */
export async function heartbeat(ctx: Context, id: string, by: Writer, note?: string): Promise<Job> {
  const words = await withoutSecrets(ctx, note);
  return transact(ctx, async (tx) => {
    const held = await holdForWriter(ctx, tx, id, by);
    refuseOver(held);
    const job = held.job.external ? held.job : (await renewLease(tx, id, held.job.epoch))?.job;
    if (!job) throw fenced(held);
    if (words !== undefined) {
      const body = { job_id: id, level: "info", event: "job.heartbeat", message: words, at: held.now };
      await appendJobEvents(tx, held, [{ event: "log", body }]);
    }
    return job;
  });
}

/**
 * Extends the lease for a caller that waits for an answer under its epoch. Returns how long the lease still lasts, in
 * milliseconds; 0 where the job has no lease, or has moved on to another epoch.
 */
export async function renewByPoll(ctx: Context, id: string, epoch: number): Promise<number> {
  return transact(ctx, async (tx) => {
    const renewed = await renewLease(tx, id, epoch);
    return renewed ? (renewed.leaseMs ?? 0) : 0;
  });
}

/**
 * The job is in line again, and the attempt does not count. An external job stands in no line (spec/relay 2:
 * only a holder releases), and its owner holds it as before.
 *
 * @throws {Refusal} `job_not_found`, `feature_disabled`, `fenced`, `job_closed`, `job_external`
 */
export async function releaseJob(ctx: Context, id: string, by: Writer, reason?: string): Promise<Job> {
  const why = await withoutSecrets(ctx, reason);
  return transact(ctx, async (tx) => {
    const held = await holdForWriter(ctx, tx, id, by);
    refuseOver(held);
    if (held.job.external) throw new Refusal("job_external");
    const input = { by: actorOf(by), uncounted: true, ...(why !== undefined && { reason: why }) };
    const { job, notes } = await moveJobIn(tx, held, "QUEUED", input);
    await writeNotes(tx, notes);
    return job.job;
  });
}

/**
 * The job has ended as its executor says; the same once more changes nothing.
 *
 * @throws {Refusal} `job_not_found`, `feature_disabled`, `fenced`, `job_closed` when it ended in another way
 */
export async function finishJob(ctx: Context, id: string, by: Writer, input: Finish): Promise<Job> {
  const reason = await withoutSecrets(ctx, input.reason);
  const finish = { ...input, ...(reason !== undefined && { reason }) };
  return transact(ctx, async (tx) => {
    const held = await holdForWriter(ctx, tx, id, by);
    if (isOver(held.job.state) && isSame(held.job, finish)) return held.job;
    refuseOver(held);
    const { state, ...rest } = finish;
    const { job, notes } = await moveJobIn(tx, held, state, { by: actorOf(by), ...rest });
    await writeNotes(tx, notes);
    return job.job;
  });
}

/** @throws {Refusal} `job_closed` */
export function refuseOver({ job: { id, state } }: JobAt): void {
  if (isOver(state)) throw new Refusal("job_closed", { id, state });
}

function actorOf({ principal }: Writer): Actor {
  return { kind: "agent", id: principal };
}

function isSame(job: Job, { state, reason, result, artifacts }: Finish): boolean {
  return (
    job.state === state &&
    job.reason === (reason ?? null) &&
    canonicalExact(job.result) === canonicalExact(asStored(result)) &&
    canonicalExact(job.artifacts) === canonicalExact(artifacts)
  );
}

/** Returns a value as it is once it was written and read. */
function asStored(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
