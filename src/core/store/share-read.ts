import type { Clock } from "../../lib/clock.ts";
import { afterThisTurn, yieldToEventLoop } from "../../lib/event-loop.ts";
import type { Db } from "./db.ts";

/** A read that has not ended after this time, in ms, holds up the next one no longer: its database may be away. */
const HOLDS_UP_MS = 100;

/**
 * Returns a read that its callers share: those who ask in one turn of the event loop, or while a read is under way, get
 * the result of one read, which begins after the last of them asked. It sees whatever was committed before they asked.
 */
export function shareRead<T>(clock: Pick<Clock, "sleep">, read: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | null = null;
  let underWay: Promise<void> | null = null;

  async function readNext(): Promise<T> {
    if (underWay) await endOf(underWay);
    await yieldToEventLoop();
    next = null;
    const result = read();
    const ended: Promise<void> = result
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (underWay === ended) underWay = null;
      });
    underWay = ended;
    return result;
  }

  async function endOf(ended: Promise<void>): Promise<void> {
    const over = new AbortController();
    await Promise.race([ended, clock.sleep(HOLDS_UP_MS, over.signal)]);
    over.abort();
  }

  return () => (next ??= readNext());
}

const runs = new WeakMap<Db, Map<string, Promise<unknown>>>();

/**
 * Returns the result of one run of `work` for all who ask for `key` in one turn of the event loop. It begins after the
 * last of them asked: ten thousand waiters whom one commit wakes read their row once. They must not change the result.
 */
export function shareRun<T>(db: Db, key: string, work: () => Promise<T>): Promise<T> {
  const open = runs.get(db) ?? new Map<string, Promise<unknown>>();
  runs.set(db, open);
  const endTurn = (): Promise<T> => (open.delete(key), work());
  const run = (open.get(key) as Promise<T> | undefined) ?? afterThisTurn().then(endTurn);
  open.set(key, run);
  return run;
}
