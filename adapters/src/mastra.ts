import {
  type AskHumanDefaults,
  type AskHumanInput,
  type Asker,
  answerModel,
  DESCRIPTION,
  type HumanAnswers,
  type Refused,
  NAME,
} from "./ask-human.ts";
import { ASK_HUMAN_SCHEMA } from "./standard-schema.ts";

/** The part of Mastra's that is used; its `requestContext` is what tells the compiler that this is Mastra's. */
interface MastraContext {
  abortSignal?: AbortSignal | undefined;
  requestContext?: unknown;
}

/**
 * What Mastra's `createTool` makes a tool of that asks people and waits for their answers:
 * `tools: { ask_human: createTool(askHumanTool(parley)) }`.
 *
 * `abortSignal` of the run ends the wait, never the question.
 */
export function askHumanTool(parley: Asker, defaults: AskHumanDefaults = {}) {
  return {
    id: NAME,
    description: DESCRIPTION,
    inputSchema: ASK_HUMAN_SCHEMA,
    execute: (input: AskHumanInput, context?: MastraContext): Promise<HumanAnswers | Refused> =>
      answerModel(parley, { ...defaults, ...input }, { signal: context?.abortSignal }),
  };
}
