import type { PromptQuestion } from "./agent.ts";
import { isObject, textOf } from "./prompt-json.ts";

/**
 * Returns the questions of an agent's tool that asks its user; nothing where they are not as they are known to be.
 * `several` is the agent's name of the member that says that several options may be chosen.
 */
export function questionsIn(questions: unknown, several: string): PromptQuestion[] | null {
  if (!Array.isArray(questions) || questions.length === 0) return null;
  const asked = questions.map((one: unknown): PromptQuestion | null => {
    if (!isObject(one) || typeof one["question"] !== "string") return null;
    const options = Array.isArray(one["options"]) ? (one["options"] as unknown[]) : [];
    const labelled = options.filter(isObject).filter(({ label }) => typeof label === "string" && label !== "");
    return {
      question: one["question"],
      header: textOf(one["header"]) ?? "",
      multiSelect: one[several] === true,
      options: labelled.map(({ label, description }) => ({
        label: label as string,
        description: textOf(description) ?? "",
      })),
    };
  });
  return asked.every((one) => one !== null) ? asked : null;
}
