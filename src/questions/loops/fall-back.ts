import type { Context } from "../../context.ts";
import { findDueFallbacks } from "../store/fallbacks.ts";
import { stepFallback } from "../fall-back.ts";

const PER_STEP = 50;

/** Takes every due fallback one step further; returns whether there was any. */
export async function fallBack(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findDueFallbacks(ctx.db, PER_STEP);
  for (const one of due) if (!signal.aborted) await stepFallback(ctx, one);
  return due.length > 0;
}
