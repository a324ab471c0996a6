import { ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { transact } from "../../core/store/transact.ts";
import { deleteStaleDecisions } from "../store/decision-cache.ts";

/** Deletes decisions of the cache that are given to nobody any more. */
export const sweepAsks: Retention = (ctx) => transact(ctx, (tx) => deleteStaleDecisions(tx, ROWS_PER_STEP));
