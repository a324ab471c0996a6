import type { QuestionId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import { asOf, isOverdue, type Question } from "./model/question.ts";
import { Refusal } from "../refusals.ts";
import { endQuestionIfOpen, insertOutcome, lockQuestion, type QuestionAt } from "./store/questions.ts";
import type { Tx } from "../core/store/db.ts";
import { appendEvent, streamOfAsker } from "../core/store/streams.ts";
import { transact } from "../core/store/transact.ts";
import { questionTopic, FEED_TOPIC } from "../core/store/wake.ts";
import { writeNotes } from "../core/store/audit.ts";

/**
 * Ends a question whose deadline has passed, once; a question that is settled, or still has time, is left as it is.
 *
 * @returns the question as it stands afterwards, or undefined when no question has that id
 */
export async function expireQuestion(ctx: Context, questionId: QuestionId): Promise<Question | undefined> {
  return transact(ctx, async (tx) => {
    const held = await lockQuestion(tx, questionId);
    if (!held || held.question.state !== "open" || !isOverdue(held)) return held?.question;
    // point: expire-held
    return endAsk(ctx, tx, held.question, { end: "expired", at: held.question.expiresAt, principal: "clock" });
  });
}

/** The time after a deadline, in ms, by which an answer that came in time has been committed or never will be. */
const COMMITS_WITHIN_MS = 10_000;

/**
 * Returns the question as it is now. One that is open in the store and past its deadline is first settled there, with its
 * row held: an answer that was in time may be committing at this very moment, and a reader must never see "expired" and
 * later "closed".
 *
 * @throws {Refusal} `store_unavailable` when the store takes no writes and the deadline has only just passed
 */
export async function settleIfDue(ctx: Context, held: QuestionAt): Promise<Question> {
  const { question, now } = held;
  if (question.state !== "open" || !isOverdue(held)) return question;
  try {
    return (await expireQuestion(ctx, question.id)) ?? asOf(question, now);
  } catch (error) {
    // With a full disk reads go on: once nothing that was in time can be on its way, the clock's word stands.
    const isSure = now - question.expiresAt >= COMMITS_WITHIN_MS;
    if (isSure && error instanceof Refusal && error.kind === "unavailable") return asOf(question, now);
    throw error;
  }
}

/** Settles a held, open question without an answer, with its outcome and event, and what it stands for with it. */
async function endAsk(
  ctx: Pick<Context, "requesters">,
  tx: Tx,
  held: Question,
  { end, at, principal }: { end: "expired" | "cancelled"; at: number; principal: string },
): Promise<Question> {
  const question = await endQuestionIfOpen(tx, held.id, end, at);
  if (!question) throw new Error("an ask changed while it was held");
  // point: end-between-state-and-outcome
  await insertOutcome(tx, {
    questionId: question.id,
    status: end,
    principal,
    source: end === "expired" ? "clock" : question.door,
  });
  const ended = await ctx.requesters.ofQuestion(question)?.ended(tx, question, { kind: end });
  await appendEvent(tx, streamOfAsker(question.asker), {
    kind: `ask.${end}`,
    questionId: question.id,
    version: question.version,
    at,
  });
  tx.wake(questionTopic(question.id));
  tx.wake(FEED_TOPIC);
  if (ended) await writeNotes(tx, ended.notes);
  return question;
}

/** Ends a held, open question for a requester that no longer wants it; at its deadline, where that has come. */
export async function cancelHeld(
  ctx: Pick<Context, "requesters">,
  tx: Tx,
  held: QuestionAt,
  principal: string,
): Promise<Question> {
  const { question, now } = held;
  if (isOverdue(held)) return endAsk(ctx, tx, question, { end: "expired", at: question.expiresAt, principal: "clock" });
  return endAsk(ctx, tx, question, { end: "cancelled", at: now, principal });
}
