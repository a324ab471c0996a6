/**
 * The reason of an abort that only ends a wait. Without a reason, each abort makes an error with its stack, which costs
 * more than the wait itself.
 */
export const WAIT_OVER = new DOMException("The wait is over.", "AbortError");

const hubs = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` once the signal is aborted, until the returned function is called.
 *
 * A signal that thousands of waiters share gets one listener of its own: an `AbortSignal` looks through all of its
 * listeners whenever one is added.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let listeners = hubs.get(signal);
  if (!listeners) {
    const opened = new Set<() => void>();
    hubs.set(signal, (listeners = opened));
    signal.addEventListener(
      "abort",
      () => {
        for (const one of [...opened]) one();
      },
      { once: true },
    );
  }
  const shared = listeners;
  // Two waiters may pass the same function.
  const own = () => listener();
  shared.add(own);
  return () => void shared.delete(own);
}
