import { readFileSync } from "node:fs";
import { uptime as osUptime } from "node:os";

/**
 * Time as the rest of the program may know it: everything that waits or asks for the hour takes a Clock,
 * so that a whole server can run on a held or simulated one.
 */
export interface Clock {
  /** Wall time in epoch milliseconds. May step; rows are stamped by the store's own `parley_now()`. */
  now(): number;
  /** Milliseconds on a clock that never steps back; only differences mean something. */
  monotonic(): number;
  /**
   * Milliseconds on a clock that never steps, and that runs on while the machine sleeps; only differences mean
   * something, also those between two processes that name the same `boot`.
   */
  uptime(): number;
  /** Names the time from one start of the machine to its end; null where that cannot be known. */
  readonly boot: string | null;
  /** Resolves after `ms`, or at once when `signal` is aborted (it never rejects). */
  sleep(ms: number, signal?: SleepSignal): Promise<void>;
}

/** The part of an `AbortSignal` that ends a sleep. */
interface SleepSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options: { once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Wall and monotonic clock may drift apart so far before it is looked whether the machine has slept. */
const SLEPT_MS = 1000;

/** Both are looked for when they are first asked for: a hook asks for neither, and its start is waited for. */
let readUptime: (() => number) | undefined;
let boot: { name: string | null } | undefined;

/** Returns the milliseconds since this process was started, without `performance`, which Node loads when it is first used. */
function awakeMs(): number {
  return process.uptime() * 1000;
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: awakeMs,
  uptime: () => (readUptime ??= openUptime())(),
  get boot() {
    return (boot ??= { name: findBoot() }).name;
  },
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      // setTimeout takes 31 bits; a longer wait is cut and its caller looks again.
      const timer = setTimeout(done, Math.min(Math.max(0, ms), 2_147_483_647));
      signal?.addEventListener("abort", done, { once: true });
    });
  },
};

/** Returns a clock for waits: what it says is the time never steps, and only differences mean something. */
export const steady = (clock: Clock): Pick<Clock, "now" | "sleep"> => ({
  now: () => clock.monotonic(),
  sleep: (ms, signal) => clock.sleep(ms, signal),
});

/**
 * Milliseconds since the machine was started. Linux stops the clock that Node reads while the machine sleeps, and counts
 * on in its uptime, which is looked at when the wall clock says that time has passed.
 */
function openUptime(): () => number {
  const sinceStart = () => osUptime() * 1000 - awakeMs();
  let startedMs = sinceStart();
  let wallMs = Date.now() - awakeMs();
  return () => {
    const ms = awakeMs();
    if (process.platform === "linux" && Math.abs(Date.now() - ms - wallMs) > SLEPT_MS) {
      wallMs = Date.now() - ms;
      const longerMs = sinceStart() - startedMs;
      if (longerMs > SLEPT_MS / 2) startedMs += longerMs;
    }
    return ms + startedMs;
  };
}

/** A container with its own uptime shares the kernel's name for the boot, but not its count. */
function findBoot(): string | null {
  if (process.platform !== "linux") return null;
  const kernelMs = Number(process.hrtime.bigint() / 1_000_000n);
  if (osUptime() * 1000 < kernelMs - SLEPT_MS) return null;
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return null;
  }
}
