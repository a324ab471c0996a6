import { Refusal } from "../refusals.ts";
import type { Context } from "../context.ts";
import type { Tx } from "./store/db.ts";
import { countUpTo, readWindow, WINDOW_MS, type LimitState } from "./store/limit-windows.ts";
import { transact } from "./store/transact.ts";

/** The values of a caller's limit headers. */
export interface LimitReading {
  limit: number;
  remaining: number;
  resetsAt: number;
}

/** A bucket is empty; `reading` is that bucket's. */
export class LimitRefusal extends Refusal {
  readonly reading: LimitReading;

  constructor(limit: number, state: LimitState, windowMs: number = WINDOW_MS) {
    super("rate_limited", {
      limit,
      window_seconds: windowMs / 1000,
      retry_after: Math.max(1, Math.ceil((state.resetsAt - state.now) / 1000)),
    });
    this.reading = readingOf(limit, { ...state, used: limit });
  }
}

/** Returns what a state means to the caller. */
export function readingOf(limit: number, state: LimitState): LimitReading {
  return { limit, remaining: Math.max(0, limit - state.used), resetsAt: state.resetsAt };
}

/**
 * Counts one unit of a write limit in the transaction; a refused or failed command burns nothing.
 *
 * @throws {LimitRefusal} when the window holds `limit` already
 */
export async function chargeLimit(tx: Tx, bucket: string, subject: string, limit: number): Promise<LimitReading> {
  const state = await countUpTo(tx, bucket, subject, { most: limit });
  if (!state || state.used > limit) throw new LimitRefusal(limit, state ?? (await readWindow(tx, bucket, subject)));
  return readingOf(limit, state);
}

/** Counts one unit in a transaction of its own, whatever becomes of the request. @throws {LimitRefusal} */
export function chargeOnce(ctx: Context, bucket: string, subject: string, limit: number): Promise<LimitReading> {
  return transact(ctx, (tx) => chargeLimit(tx, bucket, subject, limit));
}

/** Returns where a caller stands, counting nothing. */
export async function peekLimit(ctx: Context, bucket: string, subject: string, limit: number): Promise<LimitReading> {
  return readingOf(limit, await readWindow(ctx.db, bucket, subject));
}
