import { ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { transact } from "../../core/store/transact.ts";
import { LEARNED_WITHIN_MS } from "../proposals.ts";
import { deleteOldAllowances } from "../store/allowances.ts";
import { deleteOldApprovals } from "../store/learning.ts";

/** Deletes decisions from which no rule is learned any more, and counts of allowances whose period is over. */
export const sweepPolicy: Retention = (ctx) =>
  transact(ctx, async (tx) => {
    const hasApprovals = await deleteOldApprovals(tx, LEARNED_WITHIN_MS, ROWS_PER_STEP);
    return (await deleteOldAllowances(tx, ROWS_PER_STEP)) || hasApprovals;
  });
