import { askHumanTool } from "@parley/adapters/ai";
import type { Parley } from "@parley/sdk";
import { generateText, isStepCount, type LanguageModel } from "ai";

export async function nameButton(parley: Parley, model: LanguageModel, abortSignal?: AbortSignal): Promise<string> {
  const { text } = await generateText({
    model,
    prompt: "Find a name for our export button. Ask people when in doubt.",
    tools: { ask_human: askHumanTool(parley, { min_responses: 2, timeout_seconds: 600 }) },
    stopWhen: isStepCount(5),
    abortSignal,
  });
  return text;
}
