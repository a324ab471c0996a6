/** Looking at so much text once takes a few milliseconds. */
const LARGE_CHARACTERS = 32_768;

/**
 * Resolves at once after work on a small text, and in the next turn of the event loop after work on a large one, so that
 * others are served between two steps that each look at all of it.
 */
export async function yieldAfterLarge(text: { readonly length: number }): Promise<void> {
  if (text.length > LARGE_CHARACTERS) await yieldToEventLoop();
}

/** Resolves in the next turn of the event loop, after whatever input is waiting now has been read. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Returns a function to be awaited after each step of long work: after every `steps` of them, others are served. */
export function yieldEvery(steps: number): () => Promise<void> | undefined {
  let done = 0;
  return () => {
    done += 1;
    return done % steps === 0 ? yieldToEventLoop() : undefined;
  };
}

/** Resolves when everything that can go on in this turn of the event loop has gone on, before further input is read. */
export function afterThisTurn(): Promise<void> {
  // A tick that is asked for in a microtask comes when no microtask is left.
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
