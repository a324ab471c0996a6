import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";
import { appendAudit, type Actor } from "../../core/store/audit.ts";
import {
  countDecisions,
  forgetDecisions as forget,
  listDecisions,
  type CachedDecision,
  type DecisionPosition,
} from "../store/decision-cache.ts";
import { transact } from "../../core/store/transact.ts";

export type { CachedDecision, DecisionPosition } from "../store/decision-cache.ts";

/**
 * Returns one page of the earlier decisions that may be repeated, the newest first, of one role, or of all; with where the
 * next page begins, and how many there are on all pages.
 */
export async function listCached(
  ctx: Pick<Context, "db">,
  which: { role?: string; after?: DecisionPosition; limit: number },
): Promise<{ decisions: CachedDecision[]; next: DecisionPosition | null; count: number }> {
  const { limit } = which;
  const found = await listDecisions(ctx.db, { ...which, limit: limit + 1 });
  const decisions = found.slice(0, limit);
  const last = found.length > limit ? decisions.at(-1) : undefined;
  return {
    decisions,
    next: last ? { at: last.createdAt, id: last.key } : null,
    count: await countDecisions(ctx.db, which.role),
  };
}

/**
 * Deletes cached decisions and returns how many there were. No server repeats them any more: the same ask is asked
 * anew. Earlier answers that repeated them stay. The audit record names who did it.
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
