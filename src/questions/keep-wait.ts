import type { QuestionId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import type { Wait } from "./model/wait.ts";
import { Refusal } from "../refusals.ts";
import { findQuestion } from "./store/questions.ts";
import { transact } from "../core/store/transact.ts";
import { insertWait } from "./store/waits.ts";

const DAY_MS = 86_400_000;

/**
 * The wait stands in the store and can be read for the question's whole lifetime and its retention after that, whatever
 * becomes of the request that began it.
 *
 * @throws {Refusal} `question_not_found` also for somebody else's
 */
export async function keepWait(
  ctx: Context,
  input: { questionId: QuestionId; asker: string; wanted: number },
): Promise<Wait> {
  const { closedDays, expiredDays } = ctx.crowd.retention;
  const id = ctx.newId("t");
  return transact(ctx, async (tx) => {
    const found = await findQuestion(tx, input.questionId);
    if (found?.question.asker !== input.asker)
      throw new Refusal("question_not_found", { question_id: input.questionId });
    const lifetimeMs = found.question.expiresAt - found.question.createdAt;
    return insertWait(tx, { id, ...input, keptMs: lifetimeMs + Math.min(closedDays, expiredDays) * DAY_MS });
  });
}
