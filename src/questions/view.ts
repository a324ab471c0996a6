import type { QuestionId } from "../core/model/ids.ts";
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
 * @throws {Refusal} `question_not_found`; `question_closed` unless this person answered it
 */
export async function viewQuestion(
  ctx: Context,
  questionId: QuestionId,
  identity: AnsweringIdentity | null,
  viewer: string,
): Promise<{ question: Question; answered: boolean }> {
  const found = await findQuestion(ctx.db, questionId);
  if (!found) throw new Refusal("question_not_found", { question_id: questionId });
  const question = await settleIfDue(ctx, found);

  const answered = identity !== null && (await findResponseOf(ctx.db, questionId, identity.names)) !== undefined;
  if (answered) return { question, answered };
  if (question.state !== "open") {
    await refuseIfGone(ctx, questionId);
    throw new Refusal("question_closed", {
      question_id: questionId,
      status: question.state === "answered" ? "CLOSED" : "EXPIRED",
    });
  }
  ctx.readers.opened(questionId, viewer);
  if (identity && (await findFirstView(ctx.db, questionId, identity.names)) === null) {
    await transact(ctx, (tx) => insertFirstView(tx, questionId, identity.person));
  }
  return { question, answered };
}

/**
 * Returns how a question has been answered so far, to somebody who has answered it.
 *
 * @throws {Refusal} `question_not_found`, `answer_first`
 */
export async function readResults(
  ctx: Context,
  questionId: QuestionId,
  identity: AnsweringIdentity | null,
): Promise<QuestionReading> {
  const found = await findQuestion(ctx.db, questionId);
  if (!found) throw new Refusal("question_not_found", { question_id: questionId });
  const answered = identity !== null && (await findResponseOf(ctx.db, questionId, identity.names)) !== undefined;
  const question = await settleIfDue(ctx, found);
  const responses = (await listResponses(ctx.db, [question])).get(questionId) ?? [];
  await refuseIfGone(ctx, questionId);
  if (!answered) throw new Refusal("answer_first");
  return { question, responses };
}

/**
 * Refuses a question that is gone. Retention deletes answers and their question together: a reader that finds no answers
 * looks for the question.
 */
async function refuseIfGone(ctx: Context, questionId: QuestionId): Promise<void> {
  if (!(await findQuestion(ctx.db, questionId))) throw new Refusal("question_not_found", { question_id: questionId });
}
