import { type Agent, type RunState, type RunToolApprovalItem, tool } from "@openai/agents";
import {
  claimAll,
  type Decided,
  decideOnce,
  type PlanGateOptions,
  type Planner,
  type ToolRun,
  useAll,
  verdictOn,
  verdictOnce,
  verdictsOnPlan,
} from "./approvals.ts";
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
export type Interrupted = Pick<RunState<unknown, Agent>, "getInterruptions" | "approve" | "reject"> &
  Partial<Pick<RunState<unknown, Agent>, "history">>;

export interface InterruptionOptions extends PlanGateOptions {
  /**
   * A name that no other run has: what was asked under it is asked once, also where a state that was kept is answered
   * again after a crash. Left out, every call of `answerInterruptions` asks anew.
   */
  runName?: string;
}

/**
 * Every interruption of the state is approved or rejected, as people decided, all asked at once; run the agent with the
 * state again, and tools that were approved run, and of the others the model reads why. With `asPlan`, several calls are one
 * plan.
 *
 * The tools are those with `needsApproval`. `signal` ends the wait, never a request.
 *
 * @throws {ParleyError} and {ApprovalMismatch} as `Parley.approve`, or the signal's reason; the state is as it was then
 */
export async function answerInterruptions(
  parley: Planner,
  state: Interrupted,
  { runName = crypto.randomUUID(), asPlan = false, ...options }: InterruptionOptions = {},
): Promise<void> {
  if (asPlan && (await isAnsweredByPlan(parley, state, { runName, asPlan, ...options }))) return;
  const items = state.getInterruptions().map((item) => ({ item, wanted: wantedIn(item) }));
  const ids = items.map(({ wanted }) => wanted?.id);
  const answers = await Promise.all(
    items.map(async ({ item, wanted }, at): Promise<{ item: RunToolApprovalItem; decision?: Decided }> => {
      if (!wanted) return { item };
      const { id, run } = wanted;
      // Some models count their calls anew in each turn, so that an id comes again.
      const earlier = resultsIn(state, id);
      const alike = ids.slice(0, at).filter((other) => other === id).length;
      const asked = ["openai-agents", runName, id, String(alike)];
      const decision =
        earlier === null
          ? await verdictOnce(parley, run, { ...options, asked })
          : await verdictOn(parley, run, { ...options, asked: [...asked, String(earlier), JSON.stringify(run.args)] });
      return { item, decision };
    }),
  );
  const decisions = answers.flatMap(({ decision }) => decision ?? []);
  await claimAll(parley, decisions, options.signal);
  for (const { item, decision } of answers) {
    const verdict = decision?.verdict ?? { isApproved: false, why: NO_OBJECT };
    if (verdict.isApproved) state.approve(item);
    else state.reject(item, { message: verdict.why });
  }
}

/** Answers every interruption by one plan, where there are several calls to ask about. */
async function isAnsweredByPlan(
  parley: Planner,
  state: Interrupted,
  { runName = "", ...options }: InterruptionOptions,
): Promise<boolean> {
  const items = state.getInterruptions().map((item) => ({ item, wanted: wantedIn(item) }));
  const held = items.flatMap(({ item, wanted }) => (wanted ? [{ item, ...wanted }] : []));
  if (held.length < 2) return false;
  const names = held.flatMap(({ id, run }) => [id, String(resultsIn(state, id)), run.fn, JSON.stringify(run.args)]);
  const runs = held.map(({ run }) => run);
  const decide = (asked: readonly string[]) => verdictsOnPlan(parley, runs, { ...options, asked });
  const asked = ["openai-agents", runName, "plan", ...names];
  const planned = await (state.history === undefined ? decideOnce(parley, asked, decide) : decide(asked));
  await useAll(planned, options.signal);
  for (const { item, wanted } of items) if (!wanted) state.reject(item, { message: NO_OBJECT });
  for (const [i, { verdict }] of planned.entries()) {
    const item = held[i]?.item as RunToolApprovalItem;
    if (verdict.isApproved) state.approve(item);
    else state.reject(item, { message: verdict.why });
  }
  return true;
}

const NO_OBJECT = "The arguments are no JSON object: nobody could be shown them.";

/** Returns how many calls of this id have their result already; null for a state that keeps no history. */
function resultsIn({ history }: Interrupted, id: string): number | null {
  if (history === undefined) return null;
  return history.filter((item) => item.type === "function_call_result" && item.callId === id).length;
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
