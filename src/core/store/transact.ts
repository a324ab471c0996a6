import type { Db, Fact, TransactionOptions, Tx } from "./db.ts";
import type { Wake } from "./wake.ts";

/**
 * Runs `work` as one transaction: state, responses, points, events and idempotency rows commit together or not at all.
 *
 * Resolves after the commit is on disk; only then are waiters woken and facts passed on.
 */
export async function transact<T>(
  ctx: { db: Db; wake: Wake; tell?: (fact: Fact) => void },
  work: (tx: Tx) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> {
  const { value, topics, facts } = await ctx.db.transact(work, options);
  // point: committed-before-waking
  ctx.wake.publish(topics);
  for (const fact of facts) ctx.tell?.(fact);
  return value;
}
