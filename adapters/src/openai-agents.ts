import { tool } from "@openai/agents";
import {
  type AskHumanDefaults,
  type Asker,
  answerModel,
  DESCRIPTION,
  INPUT_SCHEMA,
  isQuestion,
  NAME,
  NO_QUESTION,
} from "./ask-human.ts";

/**
 * A tool of the OpenAI Agents SDK that asks people and waits for their answers; `tools: [askHumanTool(parley)]`.
 *
 * `signal` of the run ends the wait, never the question.
 */
export function askHumanTool(parley: Asker, defaults: AskHumanDefaults = {}) {
  return tool({
    name: NAME,
    description: DESCRIPTION,
    // Strict mode would have the model fill in every value, also those that the developer has settled.
    strict: false,
    parameters: { ...INPUT_SCHEMA, required: [...INPUT_SCHEMA.required], additionalProperties: true },
    async execute(input, _context, details) {
      if (!isQuestion(input)) throw new TypeError(NO_QUESTION);
      return answerModel(parley, { ...defaults, ...input }, { signal: details?.signal });
    },
  });
}
