/**
 * Time as the rest of the program may know it: everything that waits or asks for the hour takes a Clock,
 * so that a whole server can run on a held or simulated one.
 */
export interface Clock {
  /** Wall time in epoch milliseconds. May step; rows are stamped by the store's own `parley_now()`. */
  now(): number;
  /** Milliseconds on a clock that never steps back; only differences mean something. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when `signal` is aborted (it never rejects). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
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
