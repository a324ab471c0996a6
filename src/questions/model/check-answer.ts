import type { Answer, QuestionForm } from "./question.ts";
import { integerProblem, refuseFields, textProblem, type FieldProblem } from "../../core/model/field-problem.ts";

const ANSWER_MAX = 5000;

/** An answer as somebody sent it, before it is checked. */
export interface UncheckedAnswer {
  answer?: unknown;
  selectedOption?: unknown;
  confidence?: unknown;
}

/**
 * Returns the answer that was given, in the form the question wants; the field of the other form is ignored.
 *
 * @throws {Refusal} `invalid_input` naming the field (spec/ask-a-human 4.4 and 10)
 */
export function checkAnswer(form: QuestionForm, given: UncheckedAnswer): Answer {
  const problems: FieldProblem[] = [];
  const answer: Answer = {};

  if (form.kind === "text") {
    const problem = writtenProblem(given.answer);
    if (problem) problems.push(problem);
    else answer.text = given.answer as string;
  } else {
    const problem = choiceProblem(given.selectedOption, form.options.length);
    if (problem) problems.push(problem);
    else answer.selectedOption = given.selectedOption as number;
  }
  if (given.confidence !== undefined) {
    const problem = integerProblem("confidence", given.confidence, 1, 5);
    if (problem) problems.push(problem);
    else answer.confidence = given.confidence as number;
  }

  if (problems.length > 0) throw refuseFields(problems);
  return answer;
}

function writtenProblem(given: unknown): FieldProblem | null {
  const field = "answer";
  // An answer of white space alone says nothing: it counts as none.
  if (given === undefined || (typeof given === "string" && given.trim() === "")) {
    return { message: "answer is required when the question is text", field, constraint: "required" };
  }
  if (typeof given !== "string") return { message: "answer must be a string", field, constraint: "type" };
  return textProblem(field, given, 1, ANSWER_MAX);
}

function choiceProblem(given: unknown, options: number): FieldProblem | null {
  const field = "selected_option";
  if (given === undefined) {
    return {
      message: "selected_option is required when the question is multiple_choice",
      field,
      constraint: "required",
    };
  }
  return integerProblem(field, given, 0, options - 1);
}
