import type { Context } from "../context.ts";
import type { Question } from "./model/question.ts";
import { Refusal } from "../refusals.ts";
import { countOpenQuestions, insertQuestion, type NewQuestion, type NewQuestionUntil } from "./store/questions.ts";
import type { Tx } from "../core/store/db.ts";
import { appendEvent, streamOfAsker } from "../core/store/streams.ts";
import { FEED_TOPIC } from "../core/store/wake.ts";
import { chargeLimit, type LimitReading } from "../core/limits.ts";

/**
 * Counts one question to the crowd against what its asker may ask in an hour and have open at a time, whichever door it
 * comes through. Returns where the asker stands, and the store's clock.
 *
 * @throws {Refusal} `rate_limited`, `quota_exceeded`
 */
export async function chargeQuestion(
  { crowd: { limits } }: Pick<Context, "crowd">,
  tx: Tx,
  asker: string,
): Promise<{ reading: LimitReading; now: number }> {
  const charged = chargeLimit(tx, "questions", asker, limits.questionsPerHour);
  const [reading, { open, nextEndsAt, now }] = await Promise.all([charged, countOpenQuestions(tx, asker)]);
  if (open >= limits.openQuestions) {
    const retryAfter = Math.max(1, Math.ceil(((nextEndsAt ?? now) - now) / 1000));
    throw new Refusal("quota_exceeded", { limit: limits.openQuestions, open, retry_after: retryAfter });
  }
  return { reading, now };
}

/** Stores a question to the crowd: it is in the feed, and its asker's stream says so, once this is committed. */
export async function storeQuestion(tx: Tx, ask: NewQuestion | NewQuestionUntil, now: number): Promise<Question> {
  const stored = await insertQuestion(tx, ask, now);
  const { id: questionId, version, createdAt: at } = stored;
  // point: create-ask-stored
  await appendEvent(tx, streamOfAsker(stored.asker), { kind: "ask.created", questionId, version, at });
  tx.wake(FEED_TOPIC);
  return stored;
}
