import type { Context } from "../context.ts";
import type { Request, RequestForm } from "../requests/model/request.ts";
import { isOverdue, type Question } from "./model/question.ts";
import { titleOf } from "../core/model/title.ts";
import { Refusal } from "../refusals.ts";
import { findRequest } from "../requests/store/requests.ts";
import { findQuestion } from "./store/questions.ts";
import { setFallbackAsked, setFallbackOver, type Fallback } from "./store/fallbacks.ts";
import { transact } from "../core/store/transact.ts";
import { createRequest } from "../requests/create/create-request.ts";
import { answerQuestion } from "./answer.ts";
import { cancelRequest } from "../requests/end/end.ts";

/**
 * Takes a fallback one step further: asks its person while the question has no answer, gives the person's answer to the
 * question, or withdraws what the person was asked when the question is over. Each step can be taken twice.
 */
export async function stepFallback(ctx: Context, fallback: Fallback): Promise<void> {
  const found = await findQuestion(ctx.db, fallback.questionId);
  const isOpen = found?.question.state === "open" && !isOverdue(found);
  if (fallback.addressedId === null) {
    if (!found || !isOpen || found.question.n > 0) return over(ctx, fallback);
    const leftSeconds = Math.floor((found.question.expiresAt - found.now) / 1000);
    if (found.isFrozen) return;
    if (leftSeconds < 1) return over(ctx, fallback);
    return askPerson(ctx, fallback, found.question, leftSeconds);
  }
  const addressed = (await findRequest(ctx.db, fallback.addressedId))?.request;
  if (addressed?.state === "open") {
    if (isOpen) return;
    await cancelRequest(ctx, addressed.id, { kind: "server", id: "parley" }, "The question is over.");
  } else if (addressed?.state === "answered" && found && isOpen) {
    await giveAnswer(ctx, fallback, found.question, addressed);
  }
  await over(ctx, fallback);
}

async function over(ctx: Context, { questionId }: Fallback): Promise<void> {
  await transact(ctx, (tx) => setFallbackOver(tx, questionId));
}

async function askPerson(
  ctx: Context,
  { questionId, person }: Fallback,
  question: Question,
  timeoutSeconds: number,
): Promise<void> {
  const form: RequestForm =
    question.form.kind === "choice"
      ? { kind: "value", schema: { type: "string", enum: [...question.form.options] } }
      : { kind: "reply", options: [] };
  const { request: addressed } = await createRequest(ctx, {
    door: question.door,
    asker: question.asker,
    ref: `fallback:${questionId}`,
    sameHash: questionId,
    title: titleOf(question.prompt),
    words: question.prompt,
    form,
    audience: { kind: "leaf", target: { via: "person", person } },
    digest: null,
    timeoutSeconds,
    remindAfterMs: null,
    wire: { question_id: questionId },
  });
  await transact(ctx, (tx) => setFallbackAsked(tx, questionId, addressed.id));
}

/** The person's answer counts like any other signed-in person's. */
async function giveAnswer(
  ctx: Context,
  { questionId, person }: Fallback,
  question: Question,
  { outcome }: Request,
): Promise<void> {
  const text = outcome?.value === undefined ? outcome?.text : (JSON.parse(outcome.value) as string);
  const given =
    question.form.kind === "choice" ? { selectedOption: question.form.options.indexOf(text ?? "") } : { answer: text };
  try {
    await answerQuestion(ctx, {
      questionId,
      given,
      caller: { person, network: ctx.keyring.mac("network", `person ${person}`) },
      asAgent: { withKey: false, names: [] },
    });
  } catch (error) {
    // Answered meanwhile, or over. An answer that does not fit was refused when it was given.
    if (!(error instanceof Refusal) || error.kind === "unavailable") throw error;
    ctx.log.info({ question: questionId, code: error.code }, "a fallback's answer was not taken");
  }
}
