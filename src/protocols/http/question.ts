import type { QuestionId } from "../../core/model/ids.ts";
import type { Question, Response } from "../../questions/model/question.ts";
import type { QuestionReading } from "../../questions/read.ts";
import type { QuestionType, WireQuestion, WireQuestionResponse, WireQuestionResults } from "../../wire/question.ts";

/** Returns a moment as RFC 3339 in UTC, cut to the second. */
export function wireTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** Returns the status a question shows; a cancelled one shows as expired. */
export function wireStatus(question: Question): WireQuestion["status"] {
  if (question.state === "open") return question.n === 0 ? "OPEN" : "PARTIAL";
  return question.state === "answered" ? "CLOSED" : "EXPIRED";
}

/** Returns the address at which the asker finds the question, without any key. */
export function pollUrl(questionId: QuestionId): string {
  return `/agent/questions/${questionId}`;
}

export function wireType(question: Question): QuestionType {
  return question.form.kind === "choice" ? "multiple_choice" : "text";
}

/** JSON text of a value of this type. */
type JsonText<T> = string & { readonly of?: T };

function json<T>(value: T): JsonText<T> {
  return JSON.stringify(value);
}

/** Returns an object as JSON text, its members in this order; an undefined one is left out. */
function toJson<T>(members: { readonly [Name in keyof T]: JsonText<T[Name]> | undefined }): JsonText<T> {
  const written = Object.entries<string | undefined>(members).filter(([, text]) => text !== undefined);
  return `{${written.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

/**
 * Returns the tally as JSON text, in the order of the options. It is written as text because an object would reorder
 * options such as `10` and `9`, and lose one called `__proto__`.
 */
function summaryJson(options: readonly string[], responses: readonly Response[]): JsonText<Record<string, number>> {
  const votes = options.map(() => 0);
  for (const { answer } of responses) {
    const option = answer.selectedOption ?? -1;
    if (votes[option] !== undefined) votes[option] += 1;
  }
  return `{${options.map((option, i) => `${JSON.stringify(option)}:${votes[i]}`).join(",")}}`;
}

/** Returns the poll body as JSON text (spec/ask-a-human 3.2). */
export function pollBody(
  { question, responses }: QuestionReading,
  expand: { meta: boolean } = { meta: false },
): JsonText<WireQuestion> {
  const status = wireStatus(question);
  const settledAt = json(wireTime(question.settledAt ?? question.expiresAt));
  const options = question.form.kind === "choice" ? question.form.options : undefined;
  return toJson<WireQuestion>({
    question_id: json(question.id),
    status: json(status),
    prompt: json(question.prompt),
    type: json(wireType(question)),
    options: options && json([...options]),
    audience: json([...question.audience]),
    required_responses: json(question.need),
    current_responses: json(question.n),
    created_at: json(wireTime(question.createdAt)),
    expires_at: json(wireTime(question.expiresAt)),
    closed_at: status === "CLOSED" ? settledAt : undefined,
    expired_at: status === "EXPIRED" ? settledAt : undefined,
    cancelled: question.state === "cancelled" ? json(true) : undefined,
    responses: json(responses.map((response) => responseWire(response, expand.meta))),
    summary: options && summaryJson(options, responses),
    integrity: json(integrityOf(responses)),
  });
}

function responseWire({ id, answer, at, tier }: Response, meta: boolean): WireQuestionResponse {
  return {
    ...(answer.text !== undefined && { answer: answer.text }),
    ...(answer.selectedOption !== undefined && { selected_option: answer.selectedOption }),
    ...(answer.confidence !== undefined && { confidence: answer.confidence }),
    ...(meta && { response_id: id, created_at: wireTime(at), tier }),
  };
}

function integrityOf(responses: readonly Response[]): WireQuestion["integrity"] {
  return { networks: new Set(responses.map(({ network }) => network)).size, participants: responses.length };
}

/** Returns what somebody who has answered may see of the others (spec/ask-a-human 4.8). */
export function resultsBody({ question, responses }: QuestionReading): JsonText<WireQuestionResults> {
  const shared = question.wire["share_results"] !== false;
  const options = shared && question.form.kind === "choice" ? question.form.options : undefined;
  return toJson<WireQuestionResults>({
    question_id: json(question.id),
    status: json(wireStatus(question)),
    required_responses: json(question.need),
    current_responses: json(question.n),
    summary: options && summaryJson(options, responses),
    responses: shared ? json(responses.map((response) => responseWire(response, false))) : undefined,
  });
}
