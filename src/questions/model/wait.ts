import type { QuestionId } from "../../core/model/ids.ts";
import { atVersion, type Question, type Response } from "./question.ts";

/** A wait for answers that stands in the store, so that it outlives the request that began it. */
export interface Wait {
  id: string;
  /** Whose it is: the principal who asked. */
  asker: string;
  questionId: QuestionId;
  /** It is over once so many answers are in. */
  wanted: number;
  createdAt: number;
  /** Until then it can be read, and with it the question. */
  keptUntil: number;
  /** When its asker gave it up; the question went on. */
  cancelledAt: number | null;
}

export type WaitStatus = "working" | "completed" | "cancelled";

/** Where a wait stands, with the question as the wait saw it last. */
export interface WaitState {
  status: WaitStatus;
  question: Question;
  responses: readonly Response[];
  /** When it last changed. */
  at: number;
}

/**
 * Returns the state of a wait. Once it is over nothing changes it any more: answers beyond those it wanted do not
 * belong to it, so it shows the question as it was when the last of its answers came.
 */
export function stateOfWait(wait: Wait, question: Question, responses: readonly Response[]): WaitState {
  if (wait.cancelledAt !== null) return { status: "cancelled", question, responses, at: wait.cancelledAt };
  const last = responses[wait.wanted - 1];
  if (last && question.n >= wait.wanted) {
    const then = wait.wanted < question.need ? atVersion(question, wait.wanted + 1) : question;
    return { status: "completed", question: then, responses: responses.slice(0, wait.wanted), at: last.at };
  }
  if (question.state !== "open")
    return { status: "completed", question, responses, at: question.settledAt ?? question.expiresAt };
  return { status: "working", question, responses, at: Math.max(wait.createdAt, responses.at(-1)?.at ?? 0) };
}
