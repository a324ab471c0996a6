import type { QuestionId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import { atVersion, type Question, type Response } from "./model/question.ts";
import { Refusal } from "../refusals.ts";
import {
  findQuestion,
  findQuestions,
  listQuestionsOf,
  type QuestionAt,
  type QuestionPosition,
} from "./store/questions.ts";
import { listResponses } from "./store/responses.ts";
import { readWhenBack } from "../core/read-when-back.ts";
import { questionTopic, watch } from "../core/store/wake.ts";
import { settleIfDue } from "./expire.ts";

export type { QuestionPosition } from "./store/questions.ts";

/** A question with exactly the responses it counts. */
export interface QuestionReading {
  question: Question;
  responses: readonly Response[];
}

/**
 * Returns an asker's own question as it is now.
 *
 * @throws {Refusal} `question_not_found` also for somebody else's
 */
export async function readQuestion(ctx: Context, questionId: QuestionId, asker: string): Promise<QuestionReading> {
  const found = await findQuestion(ctx.db, questionId);
  if (!found || found.question.asker !== asker) throw new Refusal("question_not_found", { question_id: questionId });
  const [reading] = await withResponses(ctx, [found]);
  if (!reading) throw new Refusal("question_not_found", { question_id: questionId });
  return reading;
}

/** Returns those of the questions that exist and are the asker's own, in the order of `questionIds`. */
export async function readQuestions(
  ctx: Context,
  questionIds: readonly QuestionId[],
  asker: string,
): Promise<QuestionReading[]> {
  const found = (await findQuestions(ctx.db, questionIds)).filter(({ question }) => question.asker === asker);
  const place = new Map(questionIds.map((id, i) => [id, i]));
  found.sort((one, other) => (place.get(one.question.id) ?? 0) - (place.get(other.question.id) ?? 0));
  return withResponses(ctx, found);
}

/** Returns one page of the asker's own questions, newest first, and after which place the list goes on; null at its end. */
export async function listOwnQuestions(
  ctx: Context,
  asker: string,
  { limit, ...options }: Parameters<typeof listQuestionsOf>[2],
): Promise<{ readings: QuestionReading[]; next: QuestionPosition | null }> {
  const found = await listQuestionsOf(ctx.db, asker, { ...options, limit: limit + 1 });
  const shown = found.slice(0, limit);
  return {
    readings: await withResponses(ctx, shown),
    next: found.length > limit ? (shown.at(-1)?.place ?? null) : null,
  };
}

/** Returns the questions as they are now; one that retention deleted meanwhile is left out, never shown without its answers. */
async function withResponses(ctx: Context, found: readonly QuestionAt[]): Promise<QuestionReading[]> {
  const asks = await Promise.all(found.map((one) => settleIfDue(ctx, one)));
  const responses = await listResponses(ctx.db, asks);
  const readings = asks.map((question) => ({ question, responses: responses.get(question.id) ?? [] }));
  return readings.filter((reading) => reading.responses.length === reading.question.n);
}

/** True when the question will not change any more. */
export function isFinal(question: Question): boolean {
  return question.state !== "open";
}

/**
 * Returns the question as soon as it is final or has more than `after` responses, else as it is when `waitMs` is over.
 *
 * Subscribes, then reads, then waits, then reads again, so that no answer falls between (spec/invariants T4).
 */
export async function waitForQuestion(
  ctx: Context,
  questionId: QuestionId,
  asker: string,
  options: { waitMs: number; after?: number; signal: AbortSignal },
): Promise<QuestionReading> {
  const until = ctx.clock.monotonic() + options.waitMs;
  using changes = watch(ctx, [questionTopic(questionId)], [ctx.stopping, options.signal]);
  for (;;) {
    const again = { waitMs: until - ctx.clock.monotonic(), signal: options.signal };
    const reading = await readWhenBack(ctx, () => readQuestion(ctx, questionId, asker), again);
    const leftMs = until - ctx.clock.monotonic();
    const enough = options.after !== undefined && reading.question.n > options.after;
    if (isFinal(reading.question) || enough || leftMs <= 0 || ctx.stopping.aborted || options.signal.aborted)
      return reading;
    await changes.next(Math.min(leftMs, untilDeadline(ctx, reading.question)));
  }
}

/**
 * Yields an asker's own question at every version after `since`, and ends after its final one. Without `since` it begins
 * with the present version. A version is never skipped: earlier states follow from the present one.
 *
 * @throws {Refusal} `question_not_found`, also once the question has been deleted
 */
export async function* followQuestion(
  ctx: Context,
  questionId: QuestionId,
  asker: string,
  options: { since?: number; signal: AbortSignal },
): AsyncGenerator<QuestionReading> {
  using changes = watch(ctx, [questionTopic(questionId)], [ctx.stopping, options.signal]);
  let since = options.since;
  for (;;) {
    const reading = await readQuestion(ctx, questionId, asker);
    const { version } = reading.question;
    if (since === undefined || since > version) since = version - 1;
    for (let next = since + 1; next <= version; next += 1) yield readingAt(reading, next);
    since = version;
    if (isFinal(reading.question) || ctx.stopping.aborted || options.signal.aborted) return;
    await changes.next(untilDeadline(ctx, reading.question));
  }
}

/** Returns the reading as it was at one of the question's versions. */
export function readingAt({ question, responses }: QuestionReading, version: number): QuestionReading {
  const earlier = atVersion(question, version);
  return { question: earlier, responses: responses.slice(0, earlier.n) };
}

/** Until when to wait without being woken: the deadline, and a little so that the store's clock has passed it too. */
export function untilDeadline(ctx: Context, question: Question): number {
  const leftMs = question.expiresAt - ctx.clock.now();
  // One that is open long after its deadline stands still.
  return leftMs < -1000 ? 1000 : Math.max(20, leftMs + 5);
}
