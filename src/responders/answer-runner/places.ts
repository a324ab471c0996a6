/** How many may work at a time, and how many may wait for it. */
export interface ConcurrencySlots {
  /** Resolves with true once there is a place, with false when the signal is aborted first; null: too many wait. */
  enter(signal: AbortSignal): Promise<boolean | null>;
  leave(): void;
  readonly busy: number;
  readonly queued: number;
}

/** Returns `most` places, with at most `mostQueued` waiting for one, who are let in by turns. */
export function openPlaces(most: number, mostQueued: number): ConcurrencySlots {
  const queue = new Set<() => void>();
  let busy = 0;

  return {
    async enter(signal) {
      if (signal.aborted) return false;
      if (busy < most) {
        busy += 1;
        return true;
      }
      if (queue.size >= mostQueued) return null;
      return new Promise<boolean>((resolve) => {
        const letIn = (): void => {
          signal.removeEventListener("abort", giveUp);
          resolve(true);
        };
        const giveUp = (): void => {
          queue.delete(letIn);
          resolve(false);
        };
        queue.add(letIn);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
    leave() {
      const [next] = queue;
      // The place is handed on, so that nobody who comes just now takes it.
      if (!next) busy -= 1;
      else {
        queue.delete(next);
        next();
      }
    },
    get busy() {
      return busy;
    },
    get queued() {
      return queue.size;
    },
  };
}
