import type { Context } from "../../context.ts";
import { isOver, type JobState } from "../model/ask.ts";
import type { Actor } from "../../core/store/audit.ts";
import { lockJob } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";
import { moveJobIn } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";

const CLOCK: Actor = { kind: "clock", id: "clock" };
const LEASE_LOST = "LEASE_LOST";

/**
 * Takes a job from a holder whose lease has run out: it is in line again, or has failed where it has no attempts left.
 * Returns its new state; nothing when the lease was renewed meanwhile, or is gone.
 */
export async function loseLease(ctx: Context, id: string): Promise<JobState | undefined> {
  return transact(ctx, async (tx) => {
    const held = await lockJob(tx, id);
    if (!held || held.job.leaseUntil === null || held.job.leaseUntil > held.now) return undefined;
    const { attempts, maxAttempts } = held.job;
    const to = attempts < maxAttempts ? "QUEUED" : "FAILED";
    // point: lease-lost
    const { job, notes } = await moveJobIn(tx, held, to, { by: CLOCK, reason: LEASE_LOST });
    await writeNotes(tx, notes);
    return job.job.state;
  });
}

/** Ends a job whose time to live is over, once; one that has ended or has time is left as it is. Returns its new state. */
export async function expireJob(ctx: Context, id: string): Promise<JobState | undefined> {
  return transact(ctx, async (tx) => {
    const held = await lockJob(tx, id);
    if (!held || isOver(held.job.state) || held.job.ttlUntil > held.now) return undefined;
    const { job, notes } = await moveJobIn(tx, held, "EXPIRED", { by: CLOCK });
    await writeNotes(tx, notes);
    return job.job.state;
  });
}
