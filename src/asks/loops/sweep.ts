import type { Context } from "../../context.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { artifactFolder } from "../model/artifact-rules.ts";
import { deleteStaleDecisions } from "../store/decision-cache.ts";
import { deleteEndedJobs, findOldJobs, trimOneJob } from "../store/retention.ts";
import { transact } from "../../core/store/transact.ts";

const JOBS_PER_STEP = 50;
/** The most events kept of one job. Followers have had time to read the older ones. */
const MOST_EVENTS = 10_000;
const EVENTS_PER_STEP = 1000;
const DECISIONS_PER_STEP = 200;
/** Nothing takes so long to arrive. */
const LEFTOVERS_MS = 3_600_000;

/**
 * Deletes jobs that have been over for as long as they are kept, a batch at a time, with their files, and files that
 * never found their place; and decisions that may not be repeated any more (spec/relay 2, 9 and 14).
 * Returns whether there may be more.
 */
export async function sweepJobs(ctx: Context): Promise<boolean> {
  const old = await findOldJobs(ctx.db, ctx.relay.keptMs, JOBS_PER_STEP);
  // Files first: a row without its file is met again, a file without its row never.
  for (const id of old) await ctx.artifacts.remove([artifactFolder(id, sha256Hex)]);
  // point: sweep-between-files-and-rows
  if (old.length > 0) await transact(ctx, (tx) => deleteEndedJobs(tx, old));
  await ctx.artifacts.removeLeftovers(ctx.clock.now() - LEFTOVERS_MS);
  const trimmed = await transact(ctx, (tx) => trimOneJob(tx, MOST_EVENTS, EVENTS_PER_STEP));
  const forgotten = await transact(ctx, (tx) => deleteStaleDecisions(tx, DECISIONS_PER_STEP));
  return trimmed || forgotten || old.length === JOBS_PER_STEP;
}
