import { DAY_MS, ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { endExpiredSubscriptions } from "../../access/store/bound-subscriptions.ts";
import { transact } from "../../core/store/transact.ts";
import { deleteOldNotices } from "../store/notices.ts";
import { deleteOldEvents } from "../store/webhooks.ts";

/** A question lives a day at most, a request to people a month unless it has no deadline at all. */
const NOTICES_KEPT = { crowdMs: 2 * DAY_MS, addressedMs: 32 * DAY_MS };

/** Deletes old notices to devices, and events of webhooks that have outlived their time; ends expired subscriptions. */
export const sweepNotices: Retention = async (ctx) => {
  const notices = await transact(ctx, (tx) => deleteOldNotices(tx, NOTICES_KEPT, ROWS_PER_STEP));
  await transact(ctx, endExpiredSubscriptions);
  const events = await transact(ctx, (tx) => deleteOldEvents(tx, ctx.addressed.keptMs, ROWS_PER_STEP));
  return notices || events;
};
