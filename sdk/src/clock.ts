/** Time as a client knows it. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. */
  now(): number;
  /** Resolves after that time, or at once when the signal is aborted; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of the platform. */
export const platformClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(done, signal?.aborted ? 0 : ms);
      signal?.addEventListener("abort", done);
      function done(): void {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      }
    }),
};

/** Resolves after that time, or rejects with the signal's reason. */
export async function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal);
  signal?.throwIfAborted();
}
