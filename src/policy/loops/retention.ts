import { ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { transact } from "../../core/store/transact.ts";
import { LEARNED_WITHIN_MS } from "../proposals.ts";
import { deleteOldApprovals } from "../store/learning.ts";

/** Deletes decisions from which no rule is learned any more. */
export const sweepPolicy: Retention = (ctx) =>
  transact(ctx, (tx) => deleteOldApprovals(tx, LEARNED_WITHIN_MS, ROWS_PER_STEP));
