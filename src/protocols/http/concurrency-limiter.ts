import type { Clock } from "../../lib/clock.ts";
import { LimitRefusal } from "../../core/limits.ts";

/** How many waits are under way, for each caller; kept in memory, because a wait lives in this process. */
export interface ConcurrencyLimiter {
  /** Takes a place until disposed. @throws {LimitRefusal} when the caller holds `limit` already */
  enter(kind: string, subject: string, limit: number): Disposable;
  /** How many waits of a kind there are in all. */
  count(kind: string): number;
}

const RETRY_MS = 5000;

export function openConcurrencyLimiter(clock: Clock): ConcurrencyLimiter {
  const held = new Map<string, number>();
  const totals = new Map<string, number>();

  return {
    enter(kind, subject, limit) {
      const id = `${kind} ${subject}`;
      const count = held.get(id) ?? 0;
      if (count >= limit) {
        const now = clock.now();
        throw new LimitRefusal(limit, { used: count, now, resetsAt: now + RETRY_MS }, RETRY_MS);
      }
      held.set(id, count + 1);
      totals.set(kind, (totals.get(kind) ?? 0) + 1);
      let over = false;
      return {
        [Symbol.dispose]() {
          if (over) return;
          over = true;
          const left = (held.get(id) ?? 1) - 1;
          if (left > 0) held.set(id, left);
          else held.delete(id);
          totals.set(kind, (totals.get(kind) ?? 1) - 1);
        },
      };
    },
    count: (kind) => totals.get(kind) ?? 0,
  };
}
