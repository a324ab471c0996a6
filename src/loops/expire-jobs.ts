import type { Context } from "../context.ts";
import { graceLeases } from "../store/job-claims.ts";
import { findLostLeases, findOutlivedJobs } from "../store/jobs.ts";
import { transact } from "../store/transact.ts";
import { expireJob, loseLease } from "../verbs/expire-job.ts";

const JOBS_PER_STEP = 100;
/** The clock has jumped when it went on so much further than time did. */
const JUMP_MS = 2000;

/**
 * Opens what puts jobs in line again whose holder was not heard of, and ends those whose time to live is over; each in a
 * transaction of its own. A step returns whether it found any.
 *
 * A clock that jumps, as when the computer has slept, takes no job away: its holders slept too (invariants.md, T3). Nor
 * does a time in which no server was there to be told that they live: a lease that ran out before the first step begins
 * anew, for a server that looked would have taken it long ago.
 */
export function openExpireJobs(
  ctx: Context,
  { onLost }: { onLost?: () => void } = {},
): (signal: AbortSignal) => Promise<boolean> {
  let last: { wall: number; monotonic: number } | null = null;

  return async (signal) => {
    const now = { wall: ctx.clock.now(), monotonic: ctx.clock.monotonic() };
    const unseenMs = last === null ? Number.MAX_SAFE_INTEGER : now.wall - last.wall;
    const jumpedMs = unseenMs - (now.monotonic - (last ?? now).monotonic);
    if (jumpedMs > JUMP_MS) await transact(ctx, (tx) => graceLeases(tx, unseenMs));
    last = now;

    const lost = await findLostLeases(ctx.db, JOBS_PER_STEP);
    const taken = await Promise.all(lost.map((id) => (signal.aborted ? undefined : loseLease(ctx, id))));
    for (const state of taken) if (state !== undefined) onLost?.();
    const outlived = await findOutlivedJobs(ctx.db, JOBS_PER_STEP);
    const ended = await Promise.all(outlived.map((id) => (signal.aborted ? undefined : expireJob(ctx, id))));
    return [...taken, ...ended].some((state) => state !== undefined);
  };
}
