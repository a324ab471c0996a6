import type { Context } from "../../context.ts";
import { EXTERNAL_IDLE_MS } from "../model/job-rules.ts";
import { isOver, type Job, type JobState } from "../model/ask.ts";
import { isServed } from "../model/rules.ts";
import { Refusal } from "../../refusals.ts";
import { extendExternal, findJob, listJobs, type JobAt } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";

/** The reader of jobs. It sees the jobs that it made or holds; an administrator sees every job. */
export interface JobReader {
  principal: string;
  isAdmin: boolean;
}

/** So much of an external job's week may pass before being read gives it a new one: reading seldom writes. */
const EXTEND_AFTER_MS = 3_600_000;

/** Returns whether somebody may see a job. */
function maySee({ owner, holder }: Job, { principal, isAdmin }: JobReader): boolean {
  return isAdmin || owner === principal || holder === principal;
}

/** @throws {Refusal} `feature_disabled` */
export function refuseUnserved({ relay }: Pick<Context, "relay">, job: Pick<Job, "id" | "labels">): void {
  if (!isServed(relay, job)) throw new Refusal("feature_disabled");
}

/**
 * Returns a job as it is now. An external one lives a week longer by being read.
 *
 * @throws {Refusal} `job_not_found` also for somebody else's, `feature_disabled`
 */
export async function readJob(ctx: Context, id: string, reader: JobReader): Promise<JobAt> {
  const found = await findJob(ctx.db, id);
  if (!found || !maySee(found.job, reader)) throw new Refusal("job_not_found");
  refuseUnserved(ctx, found.job);
  const { external, state, ttlUntil } = found.job;
  if (external && !isOver(state) && ttlUntil < found.now + EXTERNAL_IDLE_MS - EXTEND_AFTER_MS) {
    await transact(ctx, (tx) => extendExternal(tx, id, EXTERNAL_IDLE_MS));
  }
  return found;
}

export interface JobQuery {
  states?: readonly JobState[];
  kind?: string;
  after?: { at: number; id: string };
  limit: number;
}

/** Returns a page of the jobs somebody may see, the newest first, and the place where the next one begins. */
export async function readJobs(
  ctx: Context,
  reader: JobReader,
  { after, limit, ...filter }: JobQuery,
): Promise<{ jobs: Job[]; next?: { at: number; id: string } }> {
  const found = await listJobs(ctx.db, {
    ...filter,
    ...(after && { after: { createdAt: after.at, id: after.id } }),
    principal: reader.isAdmin ? null : reader.principal,
    limit: limit + 1,
  });
  const jobs = found.slice(0, limit);
  const last = jobs.at(-1);
  return { jobs, ...(last && found.length > limit && { next: { at: last.createdAt, id: last.id } }) };
}
