import { systemClock } from "../lib/clock.ts";

const EVERY_MS = 250;

/** Reads again and again until `isOver`, or for `withinMs`, or until interrupted; returns what was read last. */
export async function lookUntil<T>(
  read: () => Promise<T>,
  isOver: (state: T) => boolean,
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<T> {
  const until = systemClock.monotonic() + withinMs;
  for (;;) {
    const state = await read();
    if (isOver(state) || signal.aborted || systemClock.monotonic() >= until) return state;
    await systemClock.sleep(EVERY_MS, signal);
  }
}
