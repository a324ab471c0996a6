import { z } from "zod";
import { TAGS, type Tag } from "../../questions/model/question.ts";
import { textProblem, type FieldProblem } from "../../core/model/field-problem.ts";
import type { QuestionInput } from "../../questions/create.ts";
import { integerField, laterField, optional, textField, wordField, wordsField } from "../../wire/fields.ts";

export const QUESTION_TYPES = ["text", "multiple_choice"] as const;
const OPTION_MAX = 200;

/** The text of a question, under the name that a door gives it. */
export function promptField(name: string): z.ZodType<string, string> {
  return textField(name, 10, 2000, { description: "The question. Be specific and provide context." });
}

export const typeField = wordField("type", QUESTION_TYPES);

/** What every door takes beside a question's text and type (spec/ask-a-human 3.1). */
export const questionFields = {
  options: laterField({
    type: "array",
    items: { type: "string", minLength: 1, maxLength: OPTION_MAX },
    minItems: 2,
    maxItems: 10,
    description: "Required for multiple_choice; ignored for text.",
  }),
  audience: optional(wordsField("audience", TAGS, { default: ["general"] })),
  min_responses: optional(integerField("min_responses", 1, 50, { default: 5 })),
  timeout_seconds: optional(integerField("timeout_seconds", 60, 86_400, { default: 3600 })),
};

/** A question as a door has checked it. */
export interface CheckedQuestion {
  type: (typeof QUESTION_TYPES)[number];
  options?: unknown;
  audience?: Tag[] | undefined;
  min_responses?: number | undefined;
  timeout_seconds?: number | undefined;
}

/** Adds what is wrong with the options, which only a choice needs. */
export function checkOptions(question: { type?: unknown; options?: unknown }, context: z.RefinementCtx): void {
  if (question.type !== "multiple_choice") return;
  for (const problem of optionsProblems(question.options)) {
    context.addIssue({ code: "custom", message: problem.message, params: { problem } });
  }
}

function optionsProblems(options: unknown): FieldProblem[] {
  const field = "options";
  if (options === undefined) {
    return [{ message: "options is required when type is multiple_choice", field, constraint: "required" }];
  }
  if (!Array.isArray(options)) return [{ message: "options must be a list of texts", field, constraint: "type" }];
  if (options.length < 2 || options.length > 10) {
    return [{ message: "options must have between 2 and 10 items", field, constraint: "length", min: 2, max: 10 }];
  }
  const problems = options.flatMap((option: unknown, i): FieldProblem[] => {
    const at = `options[${i}]`;
    if (typeof option !== "string") return [{ message: `${at} must be a string`, field: at, constraint: "type" }];
    return [textProblem(at, option, 1, OPTION_MAX)].filter((problem) => problem !== null);
  });
  if (problems.length > 0) return problems;
  const distinct = new Set(options.map((option: string) => option.trim()));
  return distinct.size === options.length
    ? []
    : [{ message: "options must all be different", field, constraint: "unique" }];
}

/** A question as it is meant, defaults filled in: what two requests must share to be the same. */
export interface MeantQuestion {
  prompt: string;
  type: (typeof QUESTION_TYPES)[number];
  options?: string[];
  audience: Tag[];
  min_responses: number;
  timeout_seconds: number;
}

/** Returns the question as it is meant. */
export function meantBy(prompt: string, given: CheckedQuestion): MeantQuestion {
  const audience = [...new Set(given.audience ?? [])];
  return {
    prompt,
    type: given.type,
    ...(given.type === "multiple_choice" && { options: given.options as string[] }),
    audience: audience.length > 0 ? audience : ["general"],
    min_responses: given.min_responses ?? 5,
    timeout_seconds: given.timeout_seconds ?? 3600,
  };
}

/** Returns the ask that a question becomes, but for what only its door knows. */
export function askOf(meant: MeantQuestion): Omit<QuestionInput, "door" | "asker" | "wire"> {
  return {
    prompt: meant.prompt,
    form: meant.options ? { kind: "choice", options: meant.options } : { kind: "text" },
    audience: meant.audience,
    need: meant.min_responses,
    timeoutSeconds: meant.timeout_seconds,
  };
}
