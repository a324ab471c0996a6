import type { Context } from "../../context.ts";
import { giveUpAskOutcome } from "../outcome/report-ask-outcome.ts";
import { findUnreportedAsks } from "../store/ask-outcomes.ts";

const ASKS_PER_STEP = 100;

/** Ends the calls of asks whose executors promised a report and sent none in time; returns whether it found any. */
export async function giveUpUnreportedAsks(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findUnreportedAsks(ctx.db, ASKS_PER_STEP);
  const ended = await Promise.all(due.map((id) => (signal.aborted ? false : giveUpAskOutcome(ctx, id))));
  return ended.includes(true);
}
