import { DAY_MS, ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { transact } from "../../core/store/transact.ts";
import { deleteOldNotes } from "../store/agent-notes.ts";
import { deleteOldInbound } from "../store/deliveries.ts";
import { deleteRequest, findOutlivedRequests } from "../store/outlived.ts";

/** By then no provider says a thing again. */
const INBOUND_KEPT_MS = 30 * DAY_MS;

/** Deletes requests that have been over for long, old notes to agents, and old ids of messages received from providers. */
export const sweepRequests: Retention = async (ctx) => {
  const hasMore = await transact(ctx, (tx) => deleteOldInbound(tx, INBOUND_KEPT_MS, ROWS_PER_STEP));
  const hasMoreNotes = await transact(ctx, (tx) => deleteOldNotes(tx, ctx.addressed.keptMs, ROWS_PER_STEP));
  const requests = await findOutlivedRequests(ctx.db, ctx.addressed.keptMs, ROWS_PER_STEP);
  if (requests.length > 0) await transact(ctx, (tx) => deleteRequest(tx, requests));
  return hasMore || hasMoreNotes || requests.length === ROWS_PER_STEP;
};
