import { isOverdue } from "./model/question.ts";
import type { Context } from "../context.ts";
import { stateOfWait } from "./model/wait.ts";
import { lockQuestion } from "./store/questions.ts";
import { listResponses } from "./store/responses.ts";
import { transact } from "../core/store/transact.ts";
import { questionTopic } from "../core/store/wake.ts";
import { cancelWaitIfOpen, findWaits } from "./store/waits.ts";

/**
 * Ends an asker's own wait if it is not over; its question goes on. The question is held meanwhile: the answer that ends the wait
 * and the asker who gives it up leave one outcome.
 *
 * @returns whether there is such a wait
 */
export async function cancelWait(ctx: Context, waitId: string, asker: string): Promise<boolean> {
  return transact(ctx, async (tx) => {
    const [wait] = await findWaits(tx, [waitId], asker);
    const held = wait && (await lockQuestion(tx, wait.questionId));
    if (!held) return false;
    const responses = (await listResponses(tx, [held.question])).get(held.question.id) ?? [];
    const isDue = held.question.state === "open" && isOverdue(held);
    if (isDue || stateOfWait(wait, held.question, responses).status !== "working") return true;
    if (await cancelWaitIfOpen(tx, waitId)) tx.wake(questionTopic(wait.questionId));
    return true;
  });
}
