import { type Clock, pause, platformClock } from "./clock.ts";
import { ParleyError } from "./errors.ts";

/** How long a server that was there is tried again while it is away. */
export const AWAY_MS = 60_000;

/** A random time from 1 to 4 seconds, so that those who failed together do not come back together. */
export const backOffMs = (): number => 1000 + Math.random() * 3000;

/** True for the status of a server that is stopping, failing or asking for patience. */
export const isPassingStatus = (status: number): boolean => status === 429 || status >= 500;

/** True for what the same request may not meet again a little later. */
export function mayPass(error: unknown): boolean {
  return error instanceof ParleyError && (error.isPassing || isPassingStatus(error.status));
}

/** How long and how often something is tried again. */
export interface Patience {
  signal: AbortSignal | undefined;
  /** Nothing is tried again after this time of the clock. */
  giveUpAt?: number;
  /** Nothing is tried again so long after the first failure. */
  patienceMs?: number;
  /** The pause after so many failures; left out, 1 to 4 seconds. A server that asks for a longer one gets it. */
  pauseMs?: (failures: number) => number;
  /** Replaces the platform's clock. */
  clock?: Clock;
}

/**
 * Resolves with what `send` does, which is tried again while the server is away, failing or asking for patience.
 *
 * @throws {ParleyError} the last refusal, or the signal's reason
 */
export async function persist<T>(
  send: () => Promise<T>,
  { signal, giveUpAt = Infinity, patienceMs = Infinity, pauseMs = backOffMs, clock = platformClock }: Patience,
): Promise<T> {
  let latest = giveUpAt;
  for (let failures = 1; ; failures += 1) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ParleyError) || !mayPass(error)) throw error;
      signal?.throwIfAborted();
      if (failures === 1) latest = Math.min(giveUpAt, clock.now() + patienceMs);
      const ms = Math.max((error.retryAfterSeconds ?? 0) * 1000, pauseMs(failures));
      if (clock.now() + ms > latest) throw error;
      await pause(clock, ms, signal);
    }
  }
}
