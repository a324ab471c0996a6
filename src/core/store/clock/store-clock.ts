import type { Clock } from "../../../lib/clock.ts";

/**
 * The clock that decides on SQLite: `parley_now()`. It runs by the machine's uptime, so that a wall clock that
 * steps ends no deadline early and stops none, and is drawn towards the wall clock no faster than a clock is ever set
 * right by slewing. It never runs backwards, except when it is set.
 */
export interface StoreClock {
  /** The store's time, epoch ms. */
  now(): number;
  /** How far the wall clock is ahead of the store's, in ms; negative when it is behind. */
  wallAheadMs(): number;
  /** Goes on from what a database remembers. Returns whether the time since then is known by the machine's uptime. */
  goOnFrom(kept: ClockMark): boolean;
  /** The state of the clock, for the next process that opens the database. */
  mark(): Omit<ClockMark, "lastMs">;
  /** The store's time is the wall clock's from here on, even if it was later before. */
  takeWall(): void;
}

/** The state of the clock that a database remembers. */
export interface ClockMark {
  /** The boot to which `zeroMs` belongs; null when the boot is unknown. */
  boot: string | null;
  /** The store's time at which the uptime of that boot was zero. */
  zeroMs: number;
  /** The store's time at the last commit. */
  lastMs: number;
}

/** A wall clock that is further off than this is not followed: it was stepped, and nobody can say which is right. */
const FOLLOWED_MS = 60_000;
/** The fraction of a second per second, as kernels slew a clock; a deadline of an hour moves by less than a second. */
const SLEW = 1 / 4000;
/** A clock that was not looked at for longer is drawn no further for it. */
const SLEWED_AT_ONCE_MS = 10_000;

export function openStoreClock(clock: Clock): StoreClock {
  let zeroMs = clock.now() - clock.uptime();
  let lookedAt = clock.uptime();
  let given = 0;

  const aheadMs = (uptime: number) => clock.now() - uptime - zeroMs;

  return {
    now() {
      const uptime = clock.uptime();
      const ahead = aheadMs(uptime);
      const most = Math.min(uptime - lookedAt, SLEWED_AT_ONCE_MS) * SLEW;
      if (Math.abs(ahead) <= FOLLOWED_MS) zeroMs += Math.max(-most, Math.min(most, ahead));
      lookedAt = uptime;
      return (given = Math.max(given, Math.floor(zeroMs + uptime)));
    },
    wallAheadMs: () => Math.round(aheadMs(clock.uptime())),
    goOnFrom(kept) {
      const uptime = clock.uptime();
      const isKnown = kept.boot !== null && kept.boot === clock.boot && kept.zeroMs + uptime >= kept.lastMs - 1000;
      zeroMs = isKnown ? kept.zeroMs : Math.max(clock.now(), kept.lastMs) - uptime;
      given = Math.max(given, kept.lastMs);
      return isKnown;
    },
    mark: () => ({ boot: clock.boot, zeroMs: Math.round(zeroMs) }),
    takeWall() {
      given = Math.floor(clock.now());
      zeroMs = given - clock.uptime();
    },
  };
}
