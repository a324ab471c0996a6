import type { Clock } from "../src/lib/clock.ts";

interface Sleeper {
  at: number;
  wake: () => void;
}

/** A clock that stands still until told to move; sleepers wake when it passes their time. */
export interface HeldClock extends Clock {
  /** Moves time forward by `ms`, waking sleepers in order. */
  advance(ms: number): void;
  /** Moves the wall clock alone, as an operator or a time server might; nobody wakes. */
  step(ms: number): void;
}

/** A Monday, 12:00 UTC. */
export const NOON = Date.UTC(2026, 1, 2, 12, 0, 0);

export function heldClock(start: number = NOON): HeldClock {
  let now = start;
  let monotonic = 0;
  const sleepers = new Set<Sleeper>();

  return {
    now: () => now,
    monotonic: () => monotonic,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted || ms <= 0) return resolve();
        const sleeper: Sleeper = { at: monotonic + ms, wake };
        function wake(): void {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        }
        signal?.addEventListener("abort", wake, { once: true });
        sleepers.add(sleeper);
      });
    },
    advance(ms) {
      now += ms;
      monotonic += ms;
      for (const sleeper of [...sleepers].sort((one, other) => one.at - other.at)) {
        if (sleeper.at <= monotonic) sleeper.wake();
      }
    },
    step(ms) {
      now += ms;
    },
  };
}
