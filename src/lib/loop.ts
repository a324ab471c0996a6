import type { Clock } from "./clock.ts";

export interface Loop {
  /** Ends the loop after the step under way; safe to call twice, or before the first step. */
  stop(): Promise<void>;
}

interface LoopOptions {
  clock: Clock;
  /** The pause after a step that found nothing, in milliseconds. A step that found work is followed by the next at once. */
  idleMs: number;
  /** Called for every step that threw; the loop pauses and goes on. */
  onError: (error: unknown) => void;
}

/**
 * Runs `step` again and again until stopped, one at a time.
 *
 * A step says whether it found work. One that throws is reported and tried again after a pause,
 * because whatever it works on is a row that is still there.
 */
export function startLoop(step: (signal: AbortSignal) => Promise<boolean>, options: LoopOptions): Loop {
  const stopping = new AbortController();
  const ended = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let foundWork = false;
      try {
        foundWork = await step(stopping.signal);
      } catch (error) {
        if (!stopping.signal.aborted) options.onError(error);
      }
      if (!foundWork) await options.clock.sleep(options.idleMs, stopping.signal);
    }
  }

  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
