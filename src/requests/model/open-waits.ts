/** The requests for which somebody waits at this process. */
export interface OpenWaits {
  /** Notes a wait for a request until it is disposed of. */
  add(askId: string): Disposable;
  has(askId: string): boolean;
  ids(): string[];
}

/** Returns the list of waits, empty at first. */
export function openWaitList(): OpenWaits {
  const counts = new Map<string, number>();
  return {
    add(askId) {
      counts.set(askId, (counts.get(askId) ?? 0) + 1);
      return {
        [Symbol.dispose]() {
          const left = (counts.get(askId) ?? 0) - 1;
          if (left > 0) counts.set(askId, left);
          else counts.delete(askId);
        },
      };
    },
    has: (askId) => counts.has(askId),
    ids: () => [...counts.keys()],
  };
}
