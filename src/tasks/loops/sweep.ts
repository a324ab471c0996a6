import type { Context } from "../../context.ts";
import { deleteOldTaskKeys } from "../store/idempotency.ts";
import { findOldTasks, sweepTask } from "../store/retention.ts";
import { transact } from "../../core/store/transact.ts";

const TASKS_PER_STEP = 50;
const KEYS_PER_STEP = 200;

/**
 * Deletes the logs of tasks that have been over for as long as jobs are kept, a batch at a time, and keys of submissions
 * that stand for nothing any more. Returns whether there may be more.
 */
export async function sweepTasks(ctx: Context): Promise<boolean> {
  const old = await findOldTasks(ctx.db, ctx.relay.keptMs, TASKS_PER_STEP);
  for (const task of old) await transact(ctx, (tx) => sweepTask(tx, task));
  const more = await transact(ctx, (tx) => deleteOldTaskKeys(tx, KEYS_PER_STEP));
  return more || old.length === TASKS_PER_STEP;
}
