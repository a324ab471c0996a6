import type { Clock } from "../lib/clock.ts";
import type { Db } from "./store/db.ts";
import { countInWindow, readWindow, WINDOW_MS, type LimitState } from "./store/limit-windows.ts";
import { LimitRefusal, readingOf, type LimitReading } from "./limits.ts";

/**
 * Limits on reading, counted in memory and merged into the store every second: on several nodes they overshoot by at
 * most that second's traffic (spec/ask-a-human 7).
 */
export interface ReadLimits {
  /** Counts one read. @throws {LimitRefusal} when the window is full */
  charge(bucket: string, subject: string, limit: number): Promise<LimitReading>;
  /** Writes what was counted since the last merge, and learns what other nodes have; returns whether there was any. */
  merge(): Promise<boolean>;
}

interface Window {
  bucket: string;
  subject: string;
  /** The store's last count, this node's merged reads included. */
  known: number;
  /** Counted here since the last merge. */
  unmerged: number;
  /** On the store's clock, as the store gave it. */
  resetsAt: number;
  /** The same moment on this machine's clock that never steps: its wall clock may be hours from the store's. */
  endsAt: number;
}

const WINDOWS_PER_MERGE = 500;

/** Opens the read limits of one node. */
export function openReadLimits(ctx: { db: Db; clock: Clock }): ReadLimits {
  const windows = new Map<string, Window>();
  const leftMs = (window: Window) => window.endsAt - ctx.clock.monotonic();
  const endOf = ({ resetsAt, now }: LimitState) => ({ resetsAt, endsAt: ctx.clock.monotonic() + resetsAt - now });

  async function windowOf(bucket: string, subject: string): Promise<Window> {
    const id = `${bucket} ${subject}`;
    const held = windows.get(id);
    if (held && leftMs(held) > 0) return held;

    const stored = await readWindow(ctx.db, bucket, subject);
    const other = windows.get(id);
    // Somebody else may have opened it while this one was reading.
    if (other && other !== held) return other;
    const opened = { bucket, subject, known: stored.used, unmerged: 0, ...endOf(stored) };
    windows.set(id, opened);
    return opened;
  }

  return {
    async charge(bucket, subject, limit) {
      const window = await windowOf(bucket, subject);
      const { known, unmerged, resetsAt } = window;
      const state = { used: known + unmerged + 1, resetsAt, now: resetsAt - leftMs(window) };
      if (state.used > limit) throw new LimitRefusal(limit, state);
      window.unmerged += 1;
      return readingOf(limit, state);
    },

    async merge() {
      for (const [id, window] of windows) if (leftMs(window) <= 0) windows.delete(id);
      const dirty = [...windows]
        .filter(([, window]) => window.unmerged > 0)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .slice(0, WINDOWS_PER_MERGE)
        .map(([, window]) => ({ window, count: window.unmerged }));
      if (dirty.length === 0) return false;

      const { value: states } = await ctx.db.transact(async (tx) => {
        const merged = [];
        for (const { window, count } of dirty) {
          const { bucket, subject, resetsAt } = window;
          merged.push(await countInWindow(tx, bucket, subject, { cost: count, openedAt: resetsAt - WINDOW_MS }));
        }
        return merged;
      });
      dirty.forEach(({ window, count }, i) => {
        window.unmerged -= count;
        const state = states[i];
        if (!state) return;
        Object.assign(window, { known: state.used, ...endOf(state) });
      });
      return dirty.length === WINDOWS_PER_MERGE;
    },
  };
}
