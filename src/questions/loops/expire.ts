import type { Context } from "../../context.ts";
import { expireQuestion } from "../expire.ts";
import { findDueQuestions } from "../store/questions.ts";

const QUESTIONS_PER_STEP = 100;

/** Settles questions whose deadline has passed, one transaction each; returns whether it found any. */
export async function expireDueQuestions(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findDueQuestions(ctx.db, QUESTIONS_PER_STEP);
  // Those of one step share one commit; each is still a transaction of its own.
  const settled = await Promise.all(due.map((id) => (signal.aborted ? undefined : expireQuestion(ctx, id))));
  return settled.some((question) => question?.state === "expired");
}
