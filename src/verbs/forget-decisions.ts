import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../store/audit.ts";
import { forgetDecisions as forget, listDecisions, type CachedDecision } from "../store/decision-cache.ts";
import { transact } from "../store/transact.ts";

export type { CachedDecision } from "../store/decision-cache.ts";

/** Returns earlier decisions that may be repeated, the newest first; of one role, or of all. */
export async function listCached(
  ctx: Pick<Context, "db">,
  which: { role?: string; limit: number },
): Promise<CachedDecision[]> {
  return listDecisions(ctx.db, which);
}

/**
 * What is forgotten is repeated by no server any more, and is asked anew; answers that repeated it before stay. Returns how
 * many decisions there were. The record says who did it.
 *
 * @throws {Refusal} `policy_entry_not_found` for one that is not there
 */
export async function forgetCached(
  ctx: Pick<Context, "db" | "wake">,
  which: { key: string } | { role: string } | "all",
  by: Actor,
): Promise<number> {
  return transact(ctx, async (tx) => {
    const count = await forget(tx, which);
    if (which !== "all" && "key" in which && count === 0) {
      throw new Refusal("policy_entry_not_found", {}, "There is no such decision.");
    }
    const data = { ...(which !== "all" && which), count };
    if (count > 0) await appendAudit(tx, { actor: by, action: "decision.forgotten", data });
    return count;
  });
}
