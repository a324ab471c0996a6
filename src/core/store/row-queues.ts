import { WAIT_OVER } from "../../lib/abort-hub.ts";
import type { Clock } from "../../lib/clock.ts";
import { Refusal } from "../../refusals.ts";

/** Lets those that want one row of the database have it one after another, in the order in which they came. */
export interface RowQueues {
  /**
   * Runs `work` when everything before it in the queue named `row` has ended. `work` is given the moment (`monotonic`
   * of the clock, in ms) from which its own time counts: the last time that something before it got done, and at the
   * earliest `cameMs`, the moment it came.
   *
   * @throws {Refusal} `store_unavailable` when nothing before it got done for `stallMs`, or when `MOST_WAITING` wait
   */
  run<T>(row: string, work: (sinceMs: number) => Promise<T>, cameMs?: number): Promise<T>;
}

/** As many wait for one row at one time (docs/reference/limits.md). */
export const MOST_WAITING = 1000;

interface Queue {
  waiting: Set<() => void>;
  /** When the last piece of work got done. */
  progressMs: number;
}

/**
 * Opens the queues of one server. Work that ends with a result or with a refusal got done; work that found the store
 * unavailable did not, so that a row that nobody can have holds everybody up for `stallMs` in all, and not each in turn.
 */
export function openRowQueues(clock: Clock, stallMs: number): RowQueues {
  const queues = new Map<string, Queue>();

  /** Resolves when it is this caller's turn. */
  function turn(queue: Queue, cameMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      const start = (): void => {
        over.abort(WAIT_OVER);
        resolve();
      };
      const giveUpWhenStalled = async (): Promise<void> => {
        for (;;) {
          const leftMs = Math.max(cameMs, queue.progressMs) + stallMs - clock.monotonic();
          if (leftMs <= 0) break;
          await clock.sleep(leftMs, over.signal);
          if (over.signal.aborted) return;
        }
        queue.waiting.delete(start);
        reject(new Refusal("store_unavailable"));
      };
      queue.waiting.add(start);
      void giveUpWhenStalled();
    });
  }

  return {
    async run(row, work, cameMs = clock.monotonic()) {
      const queue = queues.get(row);
      if (queue && queue.waiting.size >= MOST_WAITING) throw new Refusal("store_unavailable");
      const own = queue ?? { waiting: new Set(), progressMs: -Infinity };
      if (queue) await turn(queue, cameMs);
      else queues.set(row, own);
      let gotDone = true;
      try {
        return await work(Math.max(cameMs, own.progressMs));
      } catch (error) {
        gotDone = !(error instanceof Refusal && error.code === "store_unavailable");
        throw error;
      } finally {
        if (gotDone) own.progressMs = clock.monotonic();
        const [next] = own.waiting;
        if (next) {
          own.waiting.delete(next);
          next();
        } else {
          queues.delete(row);
        }
      }
    },
  };
}
