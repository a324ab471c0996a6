import type { Context } from "../../context.ts";
import { listUnclaimed, listUnknownAskCalls, type UnclaimedJob, type UnknownAskCall } from "../store/stuck.ts";
import type { CallsWithoutEnd } from "../../requests/read/stuck-requests.ts";

/** A job is claimed late after so long. */
const UNCLAIMED_MS = 600_000;

/** Returns up to `limit` jobs that no executor has claimed within ten minutes, and how many there are. */
export async function readUnclaimedJobs(
  ctx: Pick<Context, "db">,
  limit: number,
): Promise<{ jobs: UnclaimedJob[]; count: number }> {
  return listUnclaimed(ctx.db, { afterMs: UNCLAIMED_MS, limit });
}

/** Returns up to `limit` calls of executors that began and have no known end, and how many run or are so. */
export async function readUnknownAskCalls(
  ctx: Pick<Context, "db">,
  limit: number,
): Promise<{ calls: UnknownAskCall[]; count: CallsWithoutEnd }> {
  return listUnknownAskCalls(ctx.db, limit);
}
