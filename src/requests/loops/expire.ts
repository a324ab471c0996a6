import type { Context } from "../../context.ts";
import { expireRequest } from "../end/end.ts";
import { findDuePresses, findDueRequests, findUnwaited } from "../store/due.ts";
import { renewLeases } from "../wait/waits.ts";

const REQUESTS_PER_STEP = 100;

/**
 * Settles requests to people whose deadline has passed, for which nobody waits any more, or whose pressed decision can be
 * undone no longer, one transaction each; returns whether it found any.
 */
export async function expireDueRequests(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const unwaited = (await findUnwaited(ctx.db, REQUESTS_PER_STEP)).filter((id) => !ctx.openWaits.has(id));
  const [ended, pressed] = await Promise.all([
    findDueRequests(ctx.db, REQUESTS_PER_STEP),
    findDuePresses(ctx.db, REQUESTS_PER_STEP),
  ]);
  const due = [...new Set([...ended, ...pressed, ...unwaited])];
  // Those of one step share one commit; each is still a transaction of its own.
  const settled = await Promise.all(due.map((id) => (signal.aborted ? undefined : expireRequest(ctx, id))));
  return settled.some((request) => request !== undefined && request.state !== "open");
}

/** Keeps the requests open for which somebody waits at this process. */
export async function renewWaits(ctx: Context): Promise<boolean> {
  const waits = ctx.openWaits.ids();
  for (let at = 0; at < waits.length; at += REQUESTS_PER_STEP) {
    await renewLeases(ctx, waits.slice(at, at + REQUESTS_PER_STEP));
  }
  return false;
}
