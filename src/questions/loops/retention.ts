import { DAY_MS, ROWS_PER_STEP, type Retention } from "../../core/loops/retention.ts";
import { transact } from "../../core/store/transact.ts";
import { deleteOldMarks } from "../store/marks.ts";
import { eraseParticipant, findForgotten, lockIfForgotten } from "../store/participants.ts";
import { deleteSettledQuestions, findOutlivedQuestions } from "../store/retention.ts";
import { deleteOldScores } from "../store/scores.ts";

/** A view matters while its question can still be answered: at most a day. */
const VIEWS_KEPT_MS = 2 * DAY_MS;
const PARTICIPANTS_KEPT_MS = 400 * DAY_MS;

/**
 * Deletes questions that have been over for long (spec/ask-a-human 8), an unfinished one never. Deletes views and
 * skips, the scores of past periods, and the names of people who have not come for more than a year.
 */
export const sweepQuestions: Retention = async (ctx) => {
  const { closedDays, expiredDays } = ctx.crowd.retention;
  const kept = { closedMs: closedDays * DAY_MS, expiredMs: expiredDays * DAY_MS };
  const questions = await findOutlivedQuestions(ctx.db, kept, ROWS_PER_STEP);
  if (questions.length > 0) await transact(ctx, (tx) => deleteSettledQuestions(tx, questions));
  // point: sweep-between-kinds
  const marks = await transact(ctx, (tx) => deleteOldMarks(tx, VIEWS_KEPT_MS, ROWS_PER_STEP));
  const scores = await transact(ctx, (tx) => deleteOldScores(tx, ROWS_PER_STEP));

  const forgotten = await findForgotten(ctx.db, PARTICIPANTS_KEPT_MS, ROWS_PER_STEP);
  for (const name of forgotten) {
    await transact(ctx, async (tx) => {
      if (await lockIfForgotten(tx, name, PARTICIPANTS_KEPT_MS))
        await eraseParticipant(tx, [name], () => ctx.newId("gone"));
    });
  }
  return marks || scores || [questions, forgotten].some((rows) => rows.length === ROWS_PER_STEP);
};
