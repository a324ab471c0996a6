import type { Context } from "../../context.ts";
import { giveUpCall } from "../end-call.ts";
import { findLapsed } from "../store/gate-calls.ts";

const CALLS_PER_STEP = 100;

/** Gives up the calls whose gates have shown no life for a minute: whether they ran is unknown. True when there were any. */
export async function giveUpLapsed(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const lapsed = await findLapsed(ctx.db, CALLS_PER_STEP);
  const given = await Promise.all(lapsed.map((requestId) => !signal.aborted && giveUpCall(ctx, requestId)));
  return given.includes(true);
}
