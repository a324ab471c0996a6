/** Resolves in the next turn of the event loop, after whatever input is waiting now has been read. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
