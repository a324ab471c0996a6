import type { Context } from "../../context.ts";
import { storeNow } from "../../core/store/db.ts";
import { countJobs, countPendingByStage, listEnded, oldestPendingMs, type EndedAsk } from "../store/activity.ts";

export type { EndedAsk } from "../store/activity.ts";

/** The data of the relay's metrics: the asks that ended since the last read, and those that are open now. */
export interface RelayActivity {
  ended: readonly EndedAsk[];
  pending: Awaited<ReturnType<typeof countPendingByStage>>;
  jobs: Awaited<ReturnType<typeof countJobs>>;
}

/** The age after which an ended ask is surely committed. */
const SETTLED_AFTER_MS = 1000;

/** Follows what executors ask and how it ends from now on: whole-store figures, the same on every server. */
export function followRelay(ctx: Pick<Context, "db">): { next(): Promise<RelayActivity> } {
  let from: number | undefined;
  return {
    async next() {
      const now = await storeNow(ctx.db);
      const start = from ?? now;
      const to = Math.max(start, now - SETTLED_AFTER_MS);
      from = to;
      const [ended, pending, jobs] = await Promise.all([
        listEnded(ctx.db, start, to),
        countPendingByStage(ctx.db),
        countJobs(ctx.db),
      ]);
      return { ended, pending, jobs };
    },
  };
}

/** Returns how long the oldest pending ask has been waiting, in ms; 0 where none is pending. */
export function readOldestPendingMs(ctx: Pick<Context, "db">): Promise<number> {
  return oldestPendingMs(ctx.db);
}
