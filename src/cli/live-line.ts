import { systemClock } from "../lib/clock.ts";
import type { Io } from "./command.ts";

/**
 * Waits, and meanwhile shows a line that is written anew every second and whenever `show` is called. Returns null when
 * interrupted before that.
 */
export async function withLiveLine<T>(
  io: Io,
  line: () => string | undefined,
  wait: (show: () => void) => Promise<T>,
): Promise<T | null> {
  const show = () => {
    const text = line();
    if (text !== undefined) io.progress(text);
  };
  const over = new AbortController();
  const ticking = (async () => {
    while (!over.signal.aborted) {
      show();
      await systemClock.sleep(1000, over.signal);
    }
  })();

  try {
    return await wait(show);
  } catch (error) {
    if (io.interrupted.aborted) return null;
    throw error;
  } finally {
    over.abort();
    await ticking;
    io.progress("");
  }
}
