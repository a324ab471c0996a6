import type { Context } from "../context.ts";
import { stateOfWait, type Wait, type WaitState } from "./model/wait.ts";
import { questionTopic, watch } from "../core/store/wake.ts";
import { findWaits } from "./store/waits.ts";
import { readQuestions, readingAt, untilDeadline, type QuestionReading } from "./read.ts";

/** A wake-up from another server may be lost, and giving up a wait is no change of its question. */
const LOOK_AGAIN_MS = 10_000;

/** A wait and where it stands. */
export interface WaitReading {
  wait: Wait;
  state: WaitState;
}

/** Returns those of the waits that exist and are the asker's own, as they are now, in the order of `waitIds`. */
export async function readWaits(ctx: Context, waitIds: readonly string[], asker: string): Promise<WaitReading[]> {
  const found = await findOwn(ctx, waitIds, asker);
  return found.map(({ wait, reading }) => ({ wait, state: stateOfWait(wait, reading.question, reading.responses) }));
}

/**
 * Yields the asker's own waits as they are now and then every change of each, and ends when all are over or it is
 * aborted. No answer is skipped: earlier states follow from the present one.
 */
export async function* followWaits(
  ctx: Context,
  waitIds: readonly string[],
  asker: string,
  signal: AbortSignal,
): AsyncGenerator<WaitReading> {
  const questionIds = (await findWaits(ctx.db, waitIds, asker)).map(({ questionId }) => questionId);
  using changes = watch(ctx, questionIds.map(questionTopic), [ctx.stopping, signal]);
  const seen = new Map<string, number>();
  const over = new Set<string>();
  for (;;) {
    const found = await findOwn(ctx, waitIds, asker);
    const going = found.filter(({ wait }) => !over.has(wait.id));
    for (const { wait, reading } of going) {
      const { version } = reading.question;
      for (let at = seen.get(wait.id) ?? version - 1; at < version && !over.has(wait.id);) {
        at += 1;
        const { question, responses } = readingAt(reading, at);
        // Giving up has no version of its own: it is sent with the last.
        const asThen = at < version ? { ...wait, cancelledAt: null } : wait;
        const state = stateOfWait(asThen, question, responses);
        if (state.status !== "working") over.add(wait.id);
        yield { wait, state };
      }
      seen.set(wait.id, version);
      if (wait.cancelledAt !== null && !over.has(wait.id)) {
        over.add(wait.id);
        yield { wait, state: stateOfWait(wait, reading.question, reading.responses) };
      }
    }
    const left = found.filter(({ wait }) => !over.has(wait.id));
    if (left.length === 0 || ctx.stopping.aborted || signal.aborted) return;
    await changes.next(Math.min(LOOK_AGAIN_MS, ...left.map(({ reading }) => untilDeadline(ctx, reading.question))));
  }
}

async function findOwn(
  ctx: Context,
  waitIds: readonly string[],
  asker: string,
): Promise<{ wait: Wait; reading: QuestionReading }[]> {
  const waits = new Map((await findWaits(ctx.db, waitIds, asker)).map((wait) => [wait.id, wait]));
  const questionIds = [...new Set([...waits.values()].map(({ questionId }) => questionId))];
  const readings = new Map(
    (await readQuestions(ctx, questionIds, asker)).map((reading) => [reading.question.id, reading]),
  );
  return waitIds.flatMap((id) => {
    const wait = waits.get(id);
    const reading = wait && readings.get(wait.questionId);
    return wait && reading ? [{ wait, reading }] : [];
  });
}
