import { DAY_MS, ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { transact } from "../../core/store/transact.ts";
import { deleteOldHeard } from "../store/deliveries.ts";
import { deleteAddressed, findOutlivedAddressed } from "../store/requests.ts";

/** By then no provider says a thing again. */
const HEARD_KEPT_MS = 30 * DAY_MS;

/** Deletes requests that have been over for long, and which messages of providers were heard. */
export const sweepRequests: Retention = async (ctx) => {
  const heard = await transact(ctx, (tx) => deleteOldHeard(tx, HEARD_KEPT_MS, ROWS_PER_STEP));
  const requests = await findOutlivedAddressed(ctx.db, ctx.addressed.keptMs, ROWS_PER_STEP);
  if (requests.length > 0) await transact(ctx, (tx) => deleteAddressed(tx, requests));
  return heard || requests.length === ROWS_PER_STEP;
};
