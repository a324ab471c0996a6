import { tool } from "@langchain/core/tools";
import {
  type AskHumanDefaults,
  type AskHumanInput,
  type Asker,
  answerModel,
  DESCRIPTION,
  INPUT_SCHEMA,
  NAME,
} from "./ask-human.ts";

/**
 * A tool of LangChain.js that asks people and waits for their answers; `model.bindTools([askHumanTool(parley)])`.
 *
 * `signal` of the run ends the wait, never the question.
 */
export function askHumanTool(parley: Asker, defaults: AskHumanDefaults = {}) {
  return tool(
    async (input: AskHumanInput, { signal }: { signal?: AbortSignal }) =>
      JSON.stringify(await answerModel(parley, { ...defaults, ...input }, { signal })),
    { name: NAME, description: DESCRIPTION, schema: INPUT_SCHEMA },
  );
}
