import { pause } from "./clock.ts";
import { ParleyError } from "./errors.ts";
import { type CallOptions, type Connection, jitter } from "./http.ts";
import { AWAY_MS, mayPass } from "./persist.ts";
import { isFinal, type Question } from "./wire.ts";

export interface WaitOptions extends CallOptions {
  /** Resolve as soon as there are this many answers; left out, when the question is final. */
  untilResponses?: number;
  /** Resolve with whatever there is after this time; left out, the question's own deadline ends the wait. */
  timeoutMs?: number;
  /** Called with the first state and with every change. */
  onProgress?: (question: Question) => void;
}

/** How long the server is asked to hold one long-poll. */
const HOLD_SECONDS = 25;

/** Waits for answers to a question; what `Parley.wait` promises. */
export async function wait(connection: Connection, id: string, options: WaitOptions): Promise<Question> {
  const { signal, onProgress } = options;
  const enough = options.untilResponses ?? Infinity;
  const { clock } = connection;
  const start = clock.now();
  const giveUpAt = options.timeoutMs === undefined ? Infinity : start + options.timeoutMs;

  let question = await connection.call<Question>("GET", questionPath(id), { signal });
  onProgress?.(question);
  for (let failures = 0; ;) {
    if (isFinal(question.status) || question.current_responses >= enough) return question;
    const now = clock.now();
    if (now >= giveUpAt) return question;
    try {
      const next = await longPoll(connection, question, Math.min(HOLD_SECONDS * 1000, giveUpAt - now), signal);
      failures = 0;
      const changed = next.current_responses > question.current_responses || next.status !== question.status;
      question = next;
      if (changed) onProgress?.(question);
      // A server that does not hold long-polls must not be asked in a tight loop.
      else if (clock.now() - now < 1000)
        await pause(clock, Math.min(2000, Math.max(0, giveUpAt - clock.now())), signal);
    } catch (error) {
      if (!(error instanceof ParleyError) || !mayPass(error)) throw error;
      const pauseMs = (error.retryAfterSeconds ?? 0) * 1000 || jitter(Math.min(500 * 2 ** failures++, 15_000));
      if (clock.now() + pauseMs > Date.parse(question.expires_at) + AWAY_MS) throw error;
      await pause(clock, Math.min(pauseMs, Math.max(0, giveUpAt - clock.now())), signal);
    }
  }
}

async function longPoll(
  connection: Connection,
  question: Question,
  holdMs: number,
  signal: AbortSignal | undefined,
): Promise<Question> {
  return connection.call("GET", questionPath(question.question_id), {
    signal,
    query: {
      wait: `${Math.max(0, Math.floor(holdMs))}ms`,
      after: question.current_responses,
    },
    timeoutMs: holdMs + 15_000,
  });
}

/** Returns the path of a question of this agent. */
export function questionPath(id: string): string {
  return `/agent/questions/${encodeURIComponent(id)}`;
}
