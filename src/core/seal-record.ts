import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { sealAudit } from "./store/audit.ts";

/** A reader waits for no more than this: whoever writes faster is caught up with by the loop. */
const STEPS_OF_A_READER = 10;

/**
 * Gives the oldest entries outside the chain their place in it (spec/invariants X5). Returns whether there may be more.
 *
 * @throws {Refusal} `store_unavailable` when the store takes no writes, or another server holds the head of the chain
 */
export async function sealRecord(ctx: Pick<Context, "db">): Promise<boolean> {
  return sealAudit(ctx.db);
}

/** What has committed is in the chain, so that whoever did something and then reads finds it; as far as that can be done. */
export async function sealForReader(ctx: Pick<Context, "db">): Promise<void> {
  try {
    for (let step = 0; step < STEPS_OF_A_READER; step += 1) if (!(await sealRecord(ctx))) return;
  } catch (error) {
    // The reader is told how much is missing.
    if (!(error instanceof Refusal)) throw error;
  }
}
