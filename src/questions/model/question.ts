import type { QuestionId } from "../../core/model/ids.ts";
/** The five audiences that a question may address; they order and notify, and bar nobody. */
export const TAGS = ["technical", "product", "ethics", "creative", "general"] as const;
export type Tag = (typeof TAGS)[number];

/** Why a question should not be asked. */
export const REPORT_REASONS = ["spam", "personal_data", "unsafe", "unclear", "other"] as const;
export type ReportReason = (typeof REPORT_REASONS)[number];

/** The form of a valid answer. */
export type QuestionForm = { kind: "text" } | { kind: "choice"; options: readonly string[] };

/** Terminal is every state except `open`. */
export type QuestionState = "open" | "answered" | "expired" | "cancelled";

/** The one noun: who asks, what, what a valid answer looks like, who may answer, how many are needed, until when. */
export interface Question {
  id: QuestionId;
  /** The door it came through; only that door reads `wire`. */
  door: string;
  /** The principal who asked. */
  asker: string;
  prompt: string;
  form: QuestionForm;
  /** In the asker's order; the first is the category. */
  audience: readonly Tag[];
  need: number;
  /** Responses stored. */
  n: number;
  state: QuestionState;
  /** 1 at creation, one more with every change. */
  version: number;
  /** Kept out of the feed after reports, until an operator decides. */
  held: boolean;
  createdAt: number;
  /** The deadline: from this moment on no answer counts. */
  expiresAt: number;
  lastAnswerAt: number | null;
  settledAt: number | null;
  /** Data that only the door understands. */
  wire: Readonly<Record<string, unknown>>;
}

export interface Answer {
  text?: string;
  selectedOption?: number;
  confidence?: number;
}

/** How much is known of who answered: nothing, a credential shown before, or a signed-in person. */
export type Tier = "anonymous" | "returning" | "named";

export interface Response {
  id: string;
  /** Its place among the answers, from 1. */
  ord: number;
  answer: Answer;
  tier: Tier;
  network: string;
  at: number;
}

/** True once the deadline has passed. While the asker is frozen, it stands still. */
export function isOverdue(at: { question: Pick<Question, "expiresAt">; now: number; isFrozen: boolean }): boolean {
  return !at.isFrozen && at.now >= at.question.expiresAt;
}

/**
 * Returns the question as it is at `now`: past its deadline an open question is expired, whether or not anything has written
 * that down yet (spec/invariants T2).
 */
export function asOf(question: Question, now: number): Question {
  if (question.state !== "open" || now < question.expiresAt) return question;
  return { ...question, state: "expired", settledAt: question.expiresAt, version: question.version + 1 };
}

/**
 * Returns the question as it was at one of its versions. A question changes by one response at a time and at most once by
 * expiry or cancelling, so every earlier state follows from the present one.
 */
export function atVersion(question: Question, version: number): Question {
  if (version >= question.version) return question;
  return { ...question, n: version - 1, state: "open", settledAt: null, version };
}

/** The category under which an answer is counted: the first audience tag. */
export function categoryOf(question: Pick<Question, "audience">): Tag {
  return question.audience[0] ?? "general";
}
