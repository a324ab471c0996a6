import type { QuestionId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import type { Question } from "./model/question.ts";
import { Refusal } from "../refusals.ts";
import { lockQuestion } from "./store/questions.ts";
import { transact } from "../core/store/transact.ts";
import { cancelHeld } from "./expire.ts";

/**
 * Ends an asker's own question if it is open; one that is settled is returned unchanged.
 *
 * @throws {Refusal} `question_not_found` also for somebody else's
 */
export async function cancelQuestion(ctx: Context, questionId: QuestionId, asker: string): Promise<Question> {
  return transact(ctx, async (tx) => {
    const held = await lockQuestion(tx, questionId);
    if (!held || held.question.asker !== asker) throw new Refusal("question_not_found", { question_id: questionId });
    return held.question.state === "open" ? cancelHeld(ctx, tx, held, asker) : held.question;
  });
}
