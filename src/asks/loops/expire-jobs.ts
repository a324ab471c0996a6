import type { Context } from "../../context.ts";
import { graceLeases } from "../store/job-claims.ts";
import { findLostLeases, findOutlivedJobs } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";
import { expireJob, loseLease } from "../jobs/expire-job.ts";
import { storeNow } from "../../core/store-now.ts";

const JOBS_PER_STEP = 100;
/** The store's clock has jumped when it went on so much further than time did. */
const JUMP_MS = 2000;

/**
 * Opens what puts jobs in line again whose holder is silent, and ends those whose time to live is over; each in a
 * transaction of its own. A step returns whether it found any.
 *
 * A clock that jumps, as when the computer has slept, takes no job away, for its holders slept too
 * (spec/invariants T3). Nor does a time in which no server was there to take their sign of life: a lease that ran out
 * before the first step begins anew, for a server that looked would have taken it long ago.
 */
export function openExpireJobs(
  ctx: Context,
  { onLost }: { onLost?: () => void } = {},
): (signal: AbortSignal) => Promise<boolean> {
  let last: { store: number; monotonic: number } | null = null;

  return async (signal) => {
    // Leases run out by the store's clock: a wall clock that is set at the same moment hides no jump of that.
    const now = { store: await storeNow(ctx.db), monotonic: ctx.clock.monotonic() };
    const unseenMs = last === null ? Number.MAX_SAFE_INTEGER : now.store - last.store;
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
