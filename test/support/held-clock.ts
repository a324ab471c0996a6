import type { Clock } from "../../src/lib/clock.ts";

interface Sleeper {
  since: number;
  /** The pause of a loop, which begins whenever a step of it is over. */
  isPause: boolean;
  at: number;
  wake: () => void;
}

/** A clock that stands still until it is moved; sleepers wake when it passes their time. */
export interface HeldClock extends Clock {
  /** Moves time forward by `ms`, waking sleepers in order. */
  advance(ms: number): void;
  /** Whether somebody sleeps who wakes in exactly so many milliseconds: what they wait for has begun. */
  isAwaited(ms: number): boolean;
  /** How many began at this very moment to sleep for so many milliseconds. */
  begun(ms: number): number;
  /** The same without the pauses of loops: a loop that starts late may begin one at any moment. */
  begunByRequests(ms: number): number;
  /** Moves the wall clock alone, as an operator or a time server might; nobody wakes. */
  step(ms: number): void;
  /** The machine sleeps: the wall clock and the uptime go on, and nobody wakes. */
  oversleep(ms: number): void;
  /** The machine was off in between: nothing but the wall clock says for how long. */
  reboot(): void;
}

/** A Monday, 12:00 UTC. */
export const NOON = Date.UTC(2026, 1, 2, 12, 0, 0);

const isPauseOfLoop = (): boolean => (new Error().stack ?? "").includes("/src/lib/loop.ts");

let boots = 0;
const nextBoot = (): string => `held ${(boots += 1)}`;

export function heldClock(start: number = NOON): HeldClock {
  let now = start;
  let monotonic = 0;
  let uptime = 0;
  let boot = nextBoot();
  const sleepers = new Set<Sleeper>();
  const begunNow = (ms: number) =>
    [...sleepers].filter(({ since, at }) => since === monotonic && at === monotonic + ms);

  return {
    now: () => now,
    monotonic: () => monotonic,
    uptime: () => uptime,
    get boot() {
      return boot;
    },
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted || ms <= 0) return resolve();
        const sleeper: Sleeper = { since: monotonic, isPause: isPauseOfLoop(), at: monotonic + ms, wake };
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
      uptime += ms;
      monotonic += ms;
      for (const sleeper of [...sleepers].sort((one, other) => one.at - other.at)) {
        if (sleeper.at <= monotonic) sleeper.wake();
      }
    },
    isAwaited: (ms) => [...sleepers].some(({ at }) => at === monotonic + ms),
    begun: (ms) => begunNow(ms).length,
    begunByRequests: (ms) => begunNow(ms).filter(({ isPause }) => !isPause).length,
    step(ms) {
      now += ms;
    },
    oversleep(ms) {
      now += ms;
      uptime += ms;
    },
    reboot() {
      boot = nextBoot();
      uptime = 0;
    },
  };
}
