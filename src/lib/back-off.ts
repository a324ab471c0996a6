import type { Clock } from "./clock.ts";

/** Delays a new try after each failure; every further failure of the same key doubles the delay. */
export interface BackOff {
  /** Whether it may be tried now. */
  isDue(key: string): boolean;
  /** It failed; returns whether that is news: the first time in a row. */
  failed(key: string): boolean;
  /** Forgets a key that succeeded, or that no longer exists. */
  forget(key: string): void;
}

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** Returns how long to wait after a failure, in ms: a second, and twice as long after each, up to a minute. */
export function pauseAfter(previousMs: number | undefined): number {
  return previousMs === undefined ? FIRST_MS : Math.min(2 * previousMs, LONGEST_MS);
}

/** Opens a memory of failures, with a pause after each. */
export function openBackOff(clock: Clock): BackOff {
  const failures = new Map<string, { pauseMs: number; until: number }>();
  return {
    isDue: (key) => (failures.get(key)?.until ?? -Infinity) <= clock.monotonic(),
    failed(key) {
      const before = failures.get(key);
      const pauseMs = pauseAfter(before?.pauseMs);
      failures.set(key, { pauseMs, until: clock.monotonic() + pauseMs });
      return before === undefined;
    },
    forget: (key) => void failures.delete(key),
  };
}
