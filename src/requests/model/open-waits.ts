import type { RequestId } from "../../core/model/ids.ts";
/** The requests for which somebody waits at this process. */
export interface OpenWaits {
  /** Notes a wait for a request until it is disposed of. */
  add(requestId: RequestId): Disposable;
  has(requestId: RequestId): boolean;
  ids(): string[];
}

/** Returns the list of waits, empty at first. */
export function openWaitList(): OpenWaits {
  const counts = new Map<string, number>();
  return {
    add(requestId) {
      counts.set(requestId, (counts.get(requestId) ?? 0) + 1);
      return {
        [Symbol.dispose]() {
          const left = (counts.get(requestId) ?? 0) - 1;
          if (left > 0) counts.set(requestId, left);
          else counts.delete(requestId);
        },
      };
    },
    has: (requestId) => counts.has(requestId),
    ids: () => [...counts.keys()],
  };
}
