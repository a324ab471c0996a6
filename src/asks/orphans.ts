import type { Context } from "../context.ts";
import { RELAY_DOOR } from "./model/people.ts";
import { ASSIGNMENT_DOOR } from "../tasks/model/task-asks.ts";
import { findAttemptOrphans } from "../tasks/store/attempts.ts";
import { findTaskOrphans } from "../tasks/store/tasks.ts";
import { lockAddressed } from "../requests/store/requests.ts";
import { lockAsk } from "../questions/store/questions.ts";
import { findOrphans, findQuestionOrphans } from "./store/ended.ts";
import { transact } from "../core/store/transact.ts";
import { finishAddressed } from "../requests/end.ts";
import { cancelHeld } from "../questions/expire.ts";
import { isQuestionWanted } from "./public.ts";

/**
 * Returns asks to people that are open though what they stand for is over: an executor's whose job ended, or that was
 * withdrawn; one about a task that went on without it; or one of a coding agent whose attempt has ended.
 */
export async function findOrphanIds(ctx: Context, limit: number): Promise<string[]> {
  const [ofJobs, ofTasks, ofAttempts] = await Promise.all([
    findOrphans(ctx.db, RELAY_DOOR, limit),
    findTaskOrphans(ctx.db, ASSIGNMENT_DOOR, limit),
    findAttemptOrphans(ctx.db, limit),
  ]);
  return [...ofJobs, ...ofTasks, ...ofAttempts];
}

/** Closes such an ask everywhere. Nobody decided it. */
export async function closeOrphan(ctx: Context, addressedId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const held = await lockAddressed(tx, addressedId);
    if (held?.ask.state !== "open" || (await ctx.owners.ofRequest(held.ask).isWanted(tx, held.ask))) return;
    const approved = held.ask.form.kind === "approval" ? { approved: false } : {};
    const how = { by: { kind: "server", id: held.ask.door }, action: "cancelled" } as const;
    await finishAddressed(ctx, tx, held.ask, { outcome: { status: "cancelled", ...approved }, at: held.now, ...how });
  });
}

/** Returns questions to the public that are open though what they stand for is over. */
export async function findQuestionOrphanIds(ctx: Context, limit: number): Promise<string[]> {
  return findQuestionOrphans(ctx.db, RELAY_DOOR, limit);
}

/** Takes such a question out of the feed. */
export async function closeQuestionOrphan(ctx: Context, questionId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const held = await lockAsk(tx, questionId);
    if (held?.ask.state !== "open" || (await isQuestionWanted(tx, questionId))) return;
    await cancelHeld(ctx, tx, held, RELAY_DOOR);
  });
}
