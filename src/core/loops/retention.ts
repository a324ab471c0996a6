import type { Context } from "../../context.ts";
import { deleteExpiredKeys } from "../store/idempotency.ts";
import { deleteOldWindows } from "../store/limit-windows.ts";
import { trimOneStream } from "../store/streams.ts";
import { transact } from "../store/transact.ts";

/** The number of rows of a kind that one step of a deletion takes, so that nobody waits for it long. */
export const ROWS_PER_STEP = 200;
export const DAY_MS = 86_400_000;
const EVENTS_KEPT_MS = DAY_MS;

/** Deletes a batch of what a room keeps beyond its time; true when there may be more. */
export type Retention = (ctx: Context) => Promise<boolean>;

/** Deletes idempotency keys, counts of limits and events of streams that have outlived their time. */
export const sweepCore: Retention = async (ctx) => {
  const keys = await transact(ctx, (tx) => deleteExpiredKeys(tx, ROWS_PER_STEP));
  const windows = await transact(ctx, (tx) => deleteOldWindows(tx, ROWS_PER_STEP));
  const events = await transact(ctx, (tx) => trimOneStream(tx, EVENTS_KEPT_MS, ROWS_PER_STEP));
  return keys || windows || events;
};
