import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { sealAudit } from "./store/audit.ts";

/** A reader waits for no more steps than this: if entries are written faster, the loop catches up with them. */
const STEPS_OF_A_READER = 10;

/**
 * Gives the oldest entries outside the chain their place in it (spec/invariants X5). Returns whether there may be more.
 *
 * @throws {Refusal} `store_unavailable` when the store takes no writes, or another server holds the head of the chain
 */
export async function sealRecord(ctx: Pick<Context, "db">): Promise<boolean> {
  return sealAudit(ctx.db);
}

/** Adds committed entries to the chain, as far as possible, so that a caller finds its own actions when it reads. */
export async function sealForReader(ctx: Pick<Context, "db">): Promise<void> {
  try {
    for (let step = 0; step < STEPS_OF_A_READER; step += 1) if (!(await sealRecord(ctx))) return;
  } catch (error) {
    // The reader sees how much is missing.
    if (!(error instanceof Refusal)) throw error;
  }
}
