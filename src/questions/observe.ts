import type { Context } from "../context.ts";
import { type Activity, countActivity, countOpen, oldestOpenMs } from "./store/activity.ts";
import { storeNow } from "../core/store/db.ts";

/** Reads one span of time after another, without a gap or an overlap. */
export interface ActivityReader {
  /** Returns what happened since the last call, up to a few seconds ago, and what is open now. */
  next(): Promise<{ open: number; activity: Activity }>;
}

/** A question that expired is written down up to two seconds after its moment, and counted only when it surely is. */
const SETTLED_AFTER_MS = 5000;

/** Follows what happens in the store from now on, for the metrics: whole-store figures, the same on every server. */
export function followActivity(ctx: Pick<Context, "db">): ActivityReader {
  let from: number | undefined;

  return {
    async next() {
      const now = await storeNow(ctx.db);
      const start = from ?? now;
      const to = Math.max(start, now - SETTLED_AFTER_MS);
      from = to;
      return { open: await countOpen(ctx.db), activity: await countActivity(ctx.db, start, to) };
    },
  };
}

/** Resolves when the store answers. @throws when it does not */
export async function pingStore(ctx: Pick<Context, "db">): Promise<void> {
  await storeNow(ctx.db);
}

/** Returns how long the oldest open question has been waiting, in ms; 0 where none is open. */
export function readOldestOpenMs(ctx: Pick<Context, "db">): Promise<number> {
  return oldestOpenMs(ctx.db);
}
