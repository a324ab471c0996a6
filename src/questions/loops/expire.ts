import type { Context } from "../../context.ts";
import { expireAsk } from "../expire.ts";
import { findDueAsks } from "../store/questions.ts";

const QUESTIONS_PER_STEP = 100;

/** Settles questions whose deadline has passed, one transaction each; returns whether it found any. */
export async function expireDueAsks(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findDueAsks(ctx.db, QUESTIONS_PER_STEP);
  // Those of one step share one commit; each is still a transaction of its own.
  const settled = await Promise.all(due.map((id) => (signal.aborted ? undefined : expireAsk(ctx, id))));
  return settled.some((ask) => ask?.state === "expired");
}
