import type { Clock } from "./clock.ts";

/** Attempts that end: so many pauses, each before a further attempt, in ms. */
export interface Retries {
  pausesMs: readonly number[];
  /** The part of a pause by which chance makes it longer, at most. */
  jitter: number;
  /** The longest pause that the other side may ask for. */
  longestMs: number;
}

/**
 * Returns the pause after so many failures, in ms, or null after the last; `luck` is between 0 and 1. Where the other side
 * asks for a longer pause it gets that.
 */
export function pauseBeforeRetry(
  { pausesMs, jitter, longestMs }: Retries,
  failures: number,
  { luck = 0, askedMs = 0 } = {},
): number | null {
  const pauseMs = pausesMs[failures - 1];
  if (pauseMs === undefined) return null;
  return Math.round(Math.max(pauseMs * (1 + jitter * luck), Math.min(askedMs, longestMs)));
}

/** Attempts that do not end: the first pause, and the longest. */
interface Doubling {
  firstMs: number;
  longestMs: number;
}

/** The back-off of work that may fail for long. */
const PATIENT: Doubling = { firstMs: 1000, longestMs: 60_000 };
/** The back-off of a client whose server is away, as it is while it restarts. */
export const RESTARTING: Doubling = { firstMs: 250, longestMs: 3000 };

/** Returns the pause after so many failures in a row, in ms: twice as long after each, up to the longest. */
export function pauseAfter(failures: number, { firstMs, longestMs }: Doubling = PATIENT): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}

/** Delays a new try after each failure; every further failure of the same key doubles the delay. */
export interface BackOff {
  /** Whether it may be tried now. */
  isDue(key: string): boolean;
  /** It failed; returns whether that is news: the first time in a row. */
  failed(key: string): boolean;
  /** Forgets a key that succeeded, or that no longer exists. */
  forget(key: string): void;
}

/** Opens a memory of failures, with a pause after each. */
export function openBackOff(clock: Clock): BackOff {
  const failures = new Map<string, { count: number; until: number }>();
  return {
    isDue: (key) => (failures.get(key)?.until ?? -Infinity) <= clock.monotonic(),
    failed(key) {
      const count = (failures.get(key)?.count ?? 0) + 1;
      failures.set(key, { count, until: clock.monotonic() + pauseAfter(count) });
      return count === 1;
    },
    forget: (key) => void failures.delete(key),
  };
}
