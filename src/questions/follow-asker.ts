import type { Context } from "../context.ts";
import { findStream, listEvents, streamOfAsker } from "../core/store/streams.ts";
import { streamTopic, watch } from "../core/store/wake.ts";
import { readQuestions, readingAt, type QuestionReading } from "./read.ts";

/** One numbered change of one of an asker's questions, or word that numbering cannot be resumed where the caller was. */
export type AskerEvent = { kind: "change"; seq: number; reading: QuestionReading } | { kind: "reset"; seq: number };

const EVENTS_PER_READ = 200;
const LONGEST_WAIT_MS = 60_000;

/**
 * Yields everything that happens to an asker's questions after number `since`, in commit order, until aborted. Without
 * `since` it begins with what happens next. A number that is too old or unknown yields one `reset`, then what is new
 * (spec/ask-a-human 3.3; spec/invariants S4).
 */
export async function* followAsker(
  ctx: Context,
  asker: string,
  options: { since?: number; signal: AbortSignal },
): AsyncGenerator<AskerEvent> {
  const stream = streamOfAsker(asker);
  using changes = watch(ctx, [streamTopic(stream)], [ctx.stopping, options.signal]);

  const start = await findStream(ctx.db, stream);
  let after = options.since ?? start.seq;
  if (after > start.seq || after < start.keptFrom - 1) {
    after = start.seq;
    yield { kind: "reset", seq: after };
  }

  while (!ctx.stopping.aborted && !options.signal.aborted) {
    const { seq: newest } = await findStream(ctx.db, stream);
    const events = await listEvents(ctx.db, stream, after, EVENTS_PER_READ);
    const next = events[0]?.seq;
    if (next === undefined ? after < newest : next !== after + 1) {
      // Retention overtook a reader who was slow, or came at that very moment.
      const { seq } = await findStream(ctx.db, stream);
      after = seq;
      yield { kind: "reset", seq };
      continue;
    }
    const readings = new Map(
      (await readQuestions(ctx, [...new Set(events.map((event) => event.questionId))], asker)).map((one) => [
        one.question.id,
        one,
      ]),
    );
    for (const event of events) {
      after = event.seq;
      const reading = readings.get(event.questionId);
      if (reading) yield { kind: "change", seq: event.seq, reading: readingAt(reading, event.version) };
    }
    if (events.length === 0) await changes.next(LONGEST_WAIT_MS);
  }
}
