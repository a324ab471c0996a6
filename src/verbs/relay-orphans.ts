import type { Context } from "../context.ts";
import { ASSIGNMENT_DOOR } from "../model/task-asks.ts";
import { findTaskOrphans } from "../store/aa-tasks.ts";
import { lockAddressed } from "../store/addressed-asks.ts";
import { findOrphans } from "../store/relay-asks.ts";
import { transact } from "../store/transact.ts";
import { finishAddressed } from "./end-addressed.ts";
import { RELAY_DOOR } from "./relay-people.ts";
import { isWanted } from "./settle-task-ask.ts";

/**
 * Returns asks to people that are open though what they stand for is over: an executor's whose job ended, or that was
 * withdrawn; or one about a task that went on without it.
 */
export async function findOrphanIds(ctx: Context, limit: number): Promise<string[]> {
  const [ofJobs, ofTasks] = await Promise.all([
    findOrphans(ctx.db, RELAY_DOOR, limit),
    findTaskOrphans(ctx.db, ASSIGNMENT_DOOR, limit),
  ]);
  return [...ofJobs, ...ofTasks];
}

/** Closes such an ask everywhere. Nobody decided it. */
export async function closeOrphan(ctx: Context, addressedId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const held = await lockAddressed(tx, addressedId);
    if (held?.ask.state !== "open" || (await isWanted(tx, held.ask))) return;
    const approved = held.ask.form.kind === "approval" ? { approved: false } : {};
    const how = { by: { kind: "server", id: held.ask.door }, action: "cancelled" } as const;
    await finishAddressed(ctx, tx, held.ask, { status: "cancelled", ...approved }, held.now, how);
  });
}
