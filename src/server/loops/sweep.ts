import type { Context } from "../../context.ts";
import { deleteAddressed, findOutlivedAddressed } from "../../requests/store/requests.ts";
import { deleteOldConversations } from "../../conversations/store/conversations.ts";
import { deleteOldMarks } from "../../questions/store/marks.ts";
import { deleteStaleDecisions } from "../../asks/store/decision-cache.ts";
import { deleteOldHeard } from "../../requests/store/deliveries.ts";
import { deleteExpiredKeys } from "../../core/store/idempotency.ts";
import { deleteOldWindows } from "../../core/store/limit-windows.ts";
import { eraseParticipant, findForgotten, lockIfForgotten } from "../../questions/store/participants.ts";
import { deleteSettledAsks, findOutlivedAsks } from "../../questions/store/retention.ts";
import { deleteOldNotices } from "../../notices/store/notices.ts";
import { deleteOldApprovals } from "../../policy/store/learning.ts";
import { deleteOldStandings } from "../../questions/store/standings.ts";
import { trimOneStream } from "../../core/store/streams.ts";
import { transact } from "../../core/store/transact.ts";
import { deleteOldEvents } from "../../notices/store/webhooks.ts";
import { LEARNED_WITHIN_MS } from "../../policy/proposals.ts";

const DAY_MS = 86_400_000;
const ROWS_PER_STEP = 200;
const EVENTS_KEPT_MS = DAY_MS;
/** A view matters while its question can still be answered: at most a day. */
const VIEWS_KEPT_MS = 2 * DAY_MS;
/** A question lives a day at most, an ask to people a month unless it has no deadline at all. */
const NOTICES_KEPT = { crowdMs: 2 * DAY_MS, addressedMs: 32 * DAY_MS };
/** By then no provider says a thing again. */
const HEARD_KEPT_MS = 30 * DAY_MS;
const PARTICIPANTS_KEPT_MS = 400 * DAY_MS;
/** What no agent has taken waits for a month; a conversation goes on when its person writes again within a year. */
const SAID_KEPT = { untakenMs: 31 * DAY_MS, quietMs: 400 * DAY_MS };

/**
 * Deletes what has outlived its time, a batch of each kind (spec/ask-a-human 8); an unfinished question
 * never. Returns whether there may be more.
 */
export async function sweep(ctx: Context): Promise<boolean> {
  const { retention } = ctx.crowd;
  const asks = await findOutlivedAsks(
    ctx.db,
    { closedMs: retention.closedDays * DAY_MS, expiredMs: retention.expiredDays * DAY_MS },
    ROWS_PER_STEP,
  );
  if (asks.length > 0) await transact(ctx, (tx) => deleteSettledAsks(tx, asks));

  // point: sweep-between-kinds
  const keys = await transact(ctx, (tx) => deleteExpiredKeys(tx, ROWS_PER_STEP));
  const windows = await transact(ctx, (tx) => deleteOldWindows(tx, ROWS_PER_STEP));
  const marks = await transact(ctx, (tx) => deleteOldMarks(tx, VIEWS_KEPT_MS, ROWS_PER_STEP));
  const heard = await transact(ctx, (tx) => deleteOldHeard(tx, HEARD_KEPT_MS, ROWS_PER_STEP));
  const notices = await transact(ctx, (tx) => deleteOldNotices(tx, NOTICES_KEPT, ROWS_PER_STEP));
  const events = await transact(ctx, (tx) => trimOneStream(tx, EVENTS_KEPT_MS, ROWS_PER_STEP));
  const told = await transact(ctx, (tx) => deleteOldEvents(tx, ctx.addressed.keptMs, ROWS_PER_STEP));

  const standings = await transact(ctx, (tx) => deleteOldStandings(tx, ROWS_PER_STEP));

  const approvals = await transact(ctx, (tx) => deleteOldApprovals(tx, LEARNED_WITHIN_MS, ROWS_PER_STEP));

  const decisions = await transact(ctx, (tx) => deleteStaleDecisions(tx, ROWS_PER_STEP));

  const said = await transact(ctx, (tx) =>
    deleteOldConversations(tx, { ...SAID_KEPT, takenMs: ctx.addressed.keptMs }, ROWS_PER_STEP),
  );

  const addressed = await findOutlivedAddressed(ctx.db, ctx.addressed.keptMs, ROWS_PER_STEP);
  if (addressed.length > 0) await transact(ctx, (tx) => deleteAddressed(tx, addressed));

  const forgotten = await findForgotten(ctx.db, PARTICIPANTS_KEPT_MS, ROWS_PER_STEP);
  for (const name of forgotten) {
    await transact(ctx, async (tx) => {
      if (await lockIfForgotten(tx, name, PARTICIPANTS_KEPT_MS))
        await eraseParticipant(tx, [name], () => ctx.newId("gone"));
    });
  }

  return (
    [asks, addressed, forgotten].some((rows) => rows.length === ROWS_PER_STEP) ||
    keys ||
    windows ||
    marks ||
    heard ||
    notices ||
    events ||
    told ||
    standings ||
    approvals ||
    decisions ||
    said
  );
}
