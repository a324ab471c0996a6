import type { Context } from "../../context.ts";
import { giveUpOutcome } from "../outcome/report-outcome.ts";
import { findUnreported } from "../store/call-outcomes.ts";

const CALLS_PER_STEP = 100;

/** Ends the calls whose agents promised a report and sent none in time; returns whether it found any. */
export async function giveUpUnreported(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findUnreported(ctx.db, CALLS_PER_STEP);
  const ended = await Promise.all(due.map((id) => (signal.aborted ? false : giveUpOutcome(ctx, id))));
  return ended.includes(true);
}
