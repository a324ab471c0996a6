import { type Agent, type RunState, type RunToolApprovalItem, tool } from "@openai/agents";
import { type Approver, type GateOptions, type ToolRun, verdictOn } from "./approvals.ts";
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

/** The part of a run's state that is interrupted and goes on. */
export type Interrupted = Pick<RunState<unknown, Agent>, "getInterruptions" | "approve" | "reject">;

export interface InterruptionOptions extends GateOptions {
  /**
   * A name that no other run has: what was asked under it is asked once, also where a state that was kept is answered
   * again after a crash. Left out, every call of `answerInterruptions` asks anew.
   */
  runName?: string;
}

/**
 * Every interruption of the state is approved or rejected, as people decided, all asked at once; run the agent with the
 * state again, and tools that were approved run, and of the others the model reads why.
 *
 * The tools are those with `needsApproval`. `signal` ends the wait, never a request.
 *
 * @throws {ParleyError} and {ApprovalMismatch} as `Parley.approve`, or the signal's reason; the state is as it was then
 */
export async function answerInterruptions(
  parley: Approver,
  state: Interrupted,
  { runName = crypto.randomUUID(), ...options }: InterruptionOptions = {},
): Promise<void> {
  const answers = await Promise.all(
    state.getInterruptions().map(async (item) => {
      const wanted = wantedIn(item);
      if (!wanted) return { item, why: "The arguments are no JSON object: nobody could be shown them." };
      const asked = ["openai-agents", runName, wanted.id];
      const verdict = await verdictOn(parley, wanted.run, { ...options, asked });
      return { item, why: verdict.isApproved ? undefined : verdict.why };
    }),
  );
  for (const { item, why } of answers) {
    if (why === undefined) state.approve(item);
    else state.reject(item, { message: why });
  }
}

/** Returns what would run, and the id of its call; null where its arguments are no object. */
function wantedIn({ name, arguments: text, rawItem }: RunToolApprovalItem): { id: string; run: ToolRun } | null {
  const { type, id, callId, status: _status, providerData: _providerData, ...rest } = { callId: undefined, ...rawItem };
  const args = text === undefined ? rest : objectIn(text);
  return args && { id: callId ?? id ?? "", run: { fn: name ?? type, args } };
}

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
