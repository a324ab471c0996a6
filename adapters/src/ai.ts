import type { Tool } from "ai";
import {
  type AskHumanDefaults,
  type AskHumanInput,
  type Asker,
  answerModel,
  DESCRIPTION,
  type HumanAnswers,
  type Refused,
} from "./ask-human.ts";
import { ASK_HUMAN_SCHEMA } from "./standard-schema.ts";

/**
 * A tool of the Vercel AI SDK that asks people and waits for their answers; `tools: { ask_human: askHumanTool(parley) }`.
 *
 * `abortSignal` of the call ends the wait, never the question.
 */
export function askHumanTool(parley: Asker, defaults: AskHumanDefaults = {}) {
  return {
    description: DESCRIPTION,
    inputSchema: ASK_HUMAN_SCHEMA,
    execute: (input, { abortSignal }) => answerModel(parley, { ...defaults, ...input }, { signal: abortSignal }),
  } satisfies Tool<AskHumanInput, HumanAnswers | Refused>;
}
