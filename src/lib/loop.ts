import type { Clock } from "./clock.ts";

export interface Loop {
  /** Ends the loop after the step under way; safe to call twice, or before the first step. */
  stop(): Promise<void>;
}

/** The pause between two steps, of one loop. */
export interface Pause extends Disposable {
  /** Resolves after `ms`, when the loop is stopped, or earlier where there may be work. */
  next(ms: number): Promise<void>;
}

interface LoopOptions {
  clock: Clock;
  /** The pause after a step that found nothing, in milliseconds. A step that found work is followed by the next at once. */
  idleMs: number;
  /** Opens a pause that may end early; without it the pause takes its whole time. */
  openPause?: (stopping: AbortSignal) => Pause;
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
    // Open before the first step, so that what comes during a step ends the pause after it.
    using pause = options.openPause?.(stopping.signal);
    while (!stopping.signal.aborted) {
      let foundWork = false;
      try {
        foundWork = await step(stopping.signal);
      } catch (error) {
        if (!stopping.signal.aborted) options.onError(error);
      }
      if (foundWork) continue;
      await (pause ? pause.next(options.idleMs) : options.clock.sleep(options.idleMs, stopping.signal));
    }
  }

  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
