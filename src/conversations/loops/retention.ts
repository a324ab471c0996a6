import { DAY_MS, ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { transact } from "../../core/store/transact.ts";
import { deleteOldConversations } from "../store/conversations.ts";

/**
 * Words that no agent has taken wait for a month. A conversation goes on when its person writes again within a year.
 */
const KEPT = { untakenMs: 31 * DAY_MS, quietMs: 400 * DAY_MS };

/** Deletes what agents have taken, or will not take any more, and conversations in which nobody speaks. */
export const sweepConversations: Retention = (ctx) =>
  transact(ctx, (tx) => deleteOldConversations(tx, { ...KEPT, takenMs: ctx.addressed.keptMs }, ROWS_PER_STEP));
