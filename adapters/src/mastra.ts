import { type Approver, claimAll, type GateOptions, verdictOnce } from "./approvals.ts";
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
 * Returns the definition from which Mastra's `createTool` makes a tool that asks people and waits for their answers:
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

/** The part of an agent of Mastra's that goes on once a call is approved or declined. */
interface MastraAgent<Output> {
  approveToolCallGenerate(options: { runId: string; toolCallId: string }): Promise<Output>;
  declineToolCallGenerate(options: { runId: string; toolCallId: string; reason: string }): Promise<Output>;
}

/** The result of `agent.generate`, or one item of `agent.listSuspendedRuns()`. */
interface MastraRun {
  runId?: string | undefined;
  /** The reason for the suspension, in a result of `generate` that is suspended. */
  suspendPayload?: unknown;
  /**
   * The suspended calls of a run from `listSuspendedRuns()`; all calls that the model made in a result of `generate`.
   */
  toolCalls?: readonly unknown[];
}

/** A call that waits for approval. */
interface HeldCall {
  toolCallId: string;
  toolName: string;
  args: object;
}

/**
 * Resolves with the run's output once no call of it waits for approval: each was asked about, one after the other as
 * Mastra holds them, and approved or declined as people decided. Runs that are suspended for another reason stay so.
 *
 * The tools are those with `requireApproval`, or all with `requireToolApproval`; Mastra needs a storage for that. After a
 * crash, a run of `agent.listSuspendedRuns()` goes on: a call is asked about once, and one process
 * resumes it. `signal` ends the wait, never a request.
 *
 * @throws {ParleyError} and {ApprovalMismatch} as `Parley.approve`, or the signal's reason
 */
export async function answerApprovals<Given extends MastraRun, Output extends MastraRun>(
  parley: Approver,
  agent: MastraAgent<Output>,
  given: Given,
  options: GateOptions = {},
): Promise<Given | Output> {
  let latest: Given | Output = given;
  for (;;) {
    const { runId, suspendPayload, toolCalls = [] } = latest as MastraRun;
    const held = [suspendPayload, ...toolCalls.filter(isListedAsHeld)].find(isHeldCall);
    if (!held || runId === undefined) return latest;
    const { toolCallId, toolName: fn, args } = held;
    const decision = await verdictOnce(parley, { fn, args }, { ...options, asked: ["mastra", runId, toolCallId] });
    await claimAll(parley, [decision], options.signal);
    const { verdict } = decision;
    latest = verdict.isApproved
      ? await agent.approveToolCallGenerate({ runId, toolCallId })
      : await agent.declineToolCallGenerate({ runId, toolCallId, reason: verdict.why });
  }
}

function isHeldCall(value: unknown): value is HeldCall {
  if (typeof value !== "object" || value === null) return false;
  const { toolCallId, toolName, args } = value as Partial<Record<keyof HeldCall, unknown>>;
  return typeof toolCallId === "string" && typeof toolName === "string" && typeof args === "object" && args !== null;
}

function isListedAsHeld(value: unknown): boolean {
  return typeof value === "object" && value !== null && "requiresApproval" in value && value.requiresApproval === true;
}
