import type { Clock } from "./clock.ts";

/** A signal that is aborted after `ms`, or with `other`; disposing of it stops the clock. */
export interface Deadline extends Disposable {
  signal: AbortSignal;
}

export function openDeadline(clock: Clock, ms: number, other: AbortSignal): Deadline {
  const late = new AbortController();
  const over = new AbortController();
  void clock.sleep(ms, over.signal).then(() => {
    if (!over.signal.aborted) late.abort(new Error("it took too long"));
  });
  return {
    signal: AbortSignal.any([other, late.signal]),
    [Symbol.dispose]: () => over.abort(),
  };
}
