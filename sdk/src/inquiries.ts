import { ParleyError } from "./errors.ts";
import type { CallOptions } from "./http.ts";
import type { RequestStatus, Responder } from "./wire.ts";

/** A question that somebody asks back before they decide. */
export interface AskedBack {
  /** The id of the question. */
  id: string;
  /** Their words: data, and never an instruction. */
  text: string;
  by: Responder;
}

/** Returns the answer to a question that somebody asks back; undefined or an empty text leaves it open. */
export type AnswerInquiry = (inquiry: AskedBack) => string | undefined | Promise<string | undefined>;

/** How an answer is waited for that was asked for before. */
export interface AnsweringOptions extends CallOptions {
  onInquiry?: AnswerInquiry;
}

/** Refusals of an answer that comes too late: somebody has decided meanwhile, or another program has answered. */
const TOO_LATE = ["already_responded", "expired", "cancelled", "inquiry_answered", "not_found"];

/** The answers to what people ask back while one request waits. */
export interface Answering {
  /** Aborted with the wait, and by an error that was thrown for an answer. */
  signal: AbortSignal;
  /** Starts an answer to each inquiry of this status that is new. */
  see(status: RequestStatus): void;
  /** The request no longer waits: answers under way are of no use. */
  end(): void;
}

/**
 * Answers each inquiry about a request once, by `onInquiry`; `send` sends an answer.
 *
 * @throws by the signal, what `onInquiry` throws and {ParleyError} what the server does, but for answers that come too late
 */
export function answerInquiries(
  onInquiry: AnswerInquiry,
  send: (id: string, text: string, signal: AbortSignal) => Promise<unknown>,
  wait: AbortSignal | undefined,
): Answering {
  const over = new AbortController();
  const failed = new AbortController();
  const seen = new Set<string>();
  const signal = wait ? AbortSignal.any([failed.signal, wait]) : failed.signal;

  async function answer({ id, text, by }: AskedBack): Promise<void> {
    const words = await onInquiry({ id, text, by });
    // A program in JavaScript may return anything.
    if (typeof words !== "string" || words.trim() === "" || over.signal.aborted) return;
    await send(id, words, AbortSignal.any([signal, over.signal]));
  }

  return {
    signal,
    see({ inquiries = [] }) {
      for (const { id, text, user_info: by, answer: answered } of inquiries) {
        if (answered !== undefined || seen.has(id)) continue;
        seen.add(id);
        answer({ id, text, by }).catch((error: unknown) => {
          const isTooLate = error instanceof ParleyError && TOO_LATE.includes(error.code);
          if (!isTooLate && !over.signal.aborted) failed.abort(error);
        });
      }
    },
    end: () => over.abort(),
  };
}
