import type { Context } from "../context.ts";
import type { Question } from "./model/question.ts";
import type { AnsweringIdentity } from "./model/participant.ts";
import { Refusal } from "../refusals.ts";
import { findQuestion } from "./store/questions.ts";
import { findFirstView, insertFirstView } from "./store/marks.ts";
import { findResponseOf, listResponses } from "./store/responses.ts";
import { transact } from "../core/store/transact.ts";
import { settleIfDue } from "./expire.ts";
import type { QuestionReading } from "./read.ts";

/**
 * Returns a question as one of the crowd may see it, and keeps when this person first saw it.
 *
 * @throws {Refusal} `ask_not_found`; `ask_settled` unless this person answered it
 */
export async function viewQuestion(
  ctx: Context,
  askId: string,
  identity: AnsweringIdentity | null,
  viewer: string,
): Promise<{ question: Question; answered: boolean }> {
  const found = await findQuestion(ctx.db, askId);
  if (!found) throw new Refusal("ask_not_found", { question_id: askId });
  const question = await settleIfDue(ctx, found);

  const answered = identity !== null && (await findResponseOf(ctx.db, askId, identity.names)) !== undefined;
  if (answered) return { question, answered };
  if (question.state !== "open") {
    await refuseIfGone(ctx, askId);
    throw new Refusal("ask_settled", {
      question_id: askId,
      status: question.state === "answered" ? "CLOSED" : "EXPIRED",
    });
  }
  ctx.readers.opened(askId, viewer);
  if (identity && (await findFirstView(ctx.db, askId, identity.names)) === null) {
    await transact(ctx, (tx) => insertFirstView(tx, askId, identity.person));
  }
  return { question, answered };
}

/**
 * Returns how a question has been answered so far, to somebody who has answered it.
 *
 * @throws {Refusal} `ask_not_found`, `answer_first`
 */
export async function readResults(
  ctx: Context,
  askId: string,
  identity: AnsweringIdentity | null,
): Promise<QuestionReading> {
  const found = await findQuestion(ctx.db, askId);
  if (!found) throw new Refusal("ask_not_found", { question_id: askId });
  const answered = identity !== null && (await findResponseOf(ctx.db, askId, identity.names)) !== undefined;
  const question = await settleIfDue(ctx, found);
  const responses = (await listResponses(ctx.db, [question])).get(askId) ?? [];
  await refuseIfGone(ctx, askId);
  if (!answered) throw new Refusal("answer_first");
  return { question, responses };
}

/**
 * Refuses a question that is gone. Retention deletes answers and their ask together: a reader that finds no answers
 * looks for the ask.
 */
async function refuseIfGone(ctx: Context, askId: string): Promise<void> {
  if (!(await findQuestion(ctx.db, askId))) throw new Refusal("ask_not_found", { question_id: askId });
}
