import type { Context } from "../../context.ts";
import { expireRequest } from "../end.ts";
import { findDueRequests } from "../store/requests.ts";

const REQUESTS_PER_STEP = 100;

/** Settles requests to people whose deadline has passed, one transaction each; returns whether it found any. */
export async function expireDueRequests(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findDueRequests(ctx.db, REQUESTS_PER_STEP);
  // Those of one step share one commit; each is still a transaction of its own.
  const settled = await Promise.all(due.map((id) => (signal.aborted ? undefined : expireRequest(ctx, id))));
  return settled.some((request) => request?.state === "expired");
}
