import type { QuestionId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { RELAY_DOOR } from "../model/people.ts";
import { lockQuestion } from "../../questions/store/questions.ts";
import { findQuestionOrphans } from "../store/ended.ts";
import { transact } from "../../core/store/transact.ts";
import { cancelHeld } from "../../questions/expire.ts";
import { isQuestionWanted } from "../respond/put-to-public.ts";

/** Returns questions to the public that are open though what they stand for is over. */
export async function findQuestionOrphanIds(ctx: Context, limit: number): Promise<string[]> {
  return findQuestionOrphans(ctx.db, RELAY_DOOR, limit);
}

/** Takes such a question out of the feed. */
export async function closeQuestionOrphan(ctx: Context, questionId: QuestionId): Promise<void> {
  await transact(ctx, async (tx) => {
    const held = await lockQuestion(tx, questionId);
    if (held?.question.state !== "open" || (await isQuestionWanted(tx, questionId))) return;
    await cancelHeld(ctx, tx, held, RELAY_DOOR);
  });
}
