import type { Context } from "../../context.ts";
import { findDueAsks, expireAsk } from "../read/read-ask.ts";
import { closeUnwanted } from "../../requests/end/close-unwanted.ts";
import { closeQuestionOrphan, findQuestionOrphanIds } from "../end/orphans.ts";

const ASKS_PER_STEP = 100;

/** Ends what executors asked and nobody answered by their deadline; returns whether there was any. */
export async function expireDueAsks(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findDueAsks(ctx, ASKS_PER_STEP);
  const ended = await Promise.all(due.map((id) => (signal.aborted ? false : expireAsk(ctx, id))));
  return ended.includes(true);
}

/** Closes what people and the public still see though nobody waits for its answer any more; returns whether there was any. */
export async function closeOrphans(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const [orphans, questions] = await Promise.all([
    ctx.requesters.listUnwanted(ctx.db, ASKS_PER_STEP),
    findQuestionOrphanIds(ctx, ASKS_PER_STEP),
  ]);
  await Promise.all([
    ...orphans.map((id) => (signal.aborted ? undefined : closeUnwanted(ctx, id))),
    ...questions.map((id) => (signal.aborted ? undefined : closeQuestionOrphan(ctx, id))),
  ]);
  return orphans.length + questions.length > 0;
}
