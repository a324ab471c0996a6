import type { Tag } from "../../questions/model/question.ts";
import type { QuestionInput } from "../../questions/create.ts";
import type { QuestionType } from "../../wire/question.ts";

/** A question as a door has checked it. */
export interface CheckedQuestion {
  type: QuestionType;
  options?: unknown;
  audience?: Tag[] | undefined;
  min_responses?: number | undefined;
  timeout_seconds?: number | undefined;
}

/** A normalized question, defaults filled in: two requests with the same one are the same. */
export interface NormalizedQuestion {
  prompt: string;
  type: QuestionType;
  options?: string[];
  audience: Tag[];
  min_responses: number;
  timeout_seconds: number;
}

/** Returns the normalized question. */
export function normalizeQuestion(prompt: string, given: CheckedQuestion): NormalizedQuestion {
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
export function askOf(normalized: NormalizedQuestion): Omit<QuestionInput, "door" | "asker" | "wire"> {
  return {
    prompt: normalized.prompt,
    form: normalized.options ? { kind: "choice", options: normalized.options } : { kind: "text" },
    audience: normalized.audience,
    need: normalized.min_responses,
    timeoutSeconds: normalized.timeout_seconds,
  };
}
