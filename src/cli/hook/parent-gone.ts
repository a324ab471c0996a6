import type { Clock } from "../../lib/clock.ts";

const LOOK_EVERY_MS = 1000;

/**
 * Returns a signal that is aborted, within about a second, once the process that started this one is gone: the system
 * then gives this one another parent. On Windows it does not, and the signal is never aborted.
 */
export function openParentGone(clock: Clock): { signal: AbortSignal } & Disposable {
  const parent = process.ppid;
  const [gone, over] = [new AbortController(), new AbortController()];
  const look = async (): Promise<void> => {
    while (!over.signal.aborted && process.ppid === parent) await clock.sleep(LOOK_EVERY_MS, over.signal);
    if (!over.signal.aborted) gone.abort();
  };
  void look();
  return { signal: gone.signal, [Symbol.dispose]: () => over.abort() };
}
