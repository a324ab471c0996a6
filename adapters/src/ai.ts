import type { EndReports } from "@parley/sdk";
import type { ModelMessage, Tool, ToolModelMessage } from "ai";
import {
  claimAll,
  type PlanGateOptions,
  type Planner,
  useAll,
  type Verdict,
  verdictOn,
  verdictsOnPlan,
} from "./approvals.ts";
import {
  type AskHumanDefaults,
  type AskHumanInput,
  type Asker,
  answerModel,
  DESCRIPTION,
  type HumanAnswers,
  type Refused,
} from "./ask-human.ts";
import { quietly } from "./reports.ts";
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

/**
 * Resolves with the message that answers every approval that these messages request and do not answer: what people
 * decided, all asked at once; undefined where none is requested. Push it, and generate again: tools that were approved
 * run then, and of the others the model reads why. With `asPlan` they are one plan.
 *
 * The tools are those of `toolApproval: { name: "user-approval" }` or `needsApproval: true`. Messages that were kept go
 * on after a crash: an approval is asked for once, under its id, and one process gets the message. `signal` ends the wait, never a request.
 *
 * The end of an approved call is reported to people by the next call of this function in the same process, in whose
 * messages its result stands.
 *
 * @throws {ParleyError} and {ApprovalMismatch} as `Parley.approve`, or the signal's reason
 */
export async function answerApprovals(
  parley: Planner,
  messages: readonly ModelMessage[],
  { asPlan = false, ...options }: PlanGateOptions = {},
): Promise<ToolModelMessage | undefined> {
  await reportEnds(parley, messages);
  // Where ids of calls come twice, the SDK runs the last call of that id: that one is asked about.
  const calls = new Map(partsOf(messages, isCall).map((call) => [call.toolCallId, call]));
  const answered = new Set(partsOf(messages, isResponse).map(({ approvalId }) => approvalId));
  const open = partsOf(messages, isRequest).filter(
    ({ approvalId, isAutomatic }) => !isAutomatic && !answered.has(approvalId),
  );
  if (open.length === 0) return undefined;
  const held = open.map(({ approvalId, toolCallId }) => {
    const call = calls.get(toolCallId);
    if (!call) throw new TypeError(`No call ${toolCallId} is in the messages that request its approval.`);
    return { names: [approvalId, toolCallId], run: { fn: call.toolName, args: call.input as object } };
  });
  const verdicts = await (asPlan && held.length > 1 ? byPlan() : oneByOne());
  const content = open.map(({ approvalId }, i) => {
    const verdict = verdicts[i] as Verdict;
    const reason = verdict.isApproved ? {} : { reason: verdict.why };
    return { type: "tool-approval-response", approvalId, approved: verdict.isApproved, ...reason } as const;
  });
  return { role: "tool", content };

  async function byPlan(): Promise<Verdict[]> {
    const asked = ["ai", "plan", ...held.flatMap(({ names }) => names)];
    const runs = held.map(({ run }) => run);
    const planned = await verdictsOnPlan(parley, runs, { ...options, asPlan, asked });
    follow(await useAll(planned, options.signal));
    return planned.map(({ verdict }) => verdict);
  }

  async function oneByOne(): Promise<Verdict[]> {
    const deciding = held.map(({ names, run }) => verdictOn(parley, run, { ...options, asked: ["ai", ...names] }));
    const decisions = await Promise.all(deciding);
    await claimAll(parley, decisions, options.signal);
    follow(decisions.map(({ reports }) => reports));
    return decisions.map(({ verdict }) => verdict);
  }

  /** Keeps the reports about the calls with which the SDK goes on. */
  function follow(reports: readonly (EndReports | undefined)[]): void {
    const calls = running.get(parley) ?? new Map<string, RunningCall>();
    running.set(parley, calls);
    for (const [i, { approvalId, toolCallId }] of open.entries()) {
      const report = reports[i];
      if (report)
        calls.set(approvalId, { toolCallId, results: resultsIn(messages, toolCallId).length, reports: report });
    }
    for (const [oldest] of calls) if (calls.size > MOST_RUNNING) calls.delete(oldest);
  }
}

/** An approved call with which the SDK goes on. */
interface RunningCall {
  toolCallId: string;
  /** The number of results under this id before, since a model may use an id again. */
  results: number;
  reports: EndReports;
}

/** The calls whose result no messages have shown yet, by the ids of their approvals, for each client. */
const running = new WeakMap<Planner, Map<string, RunningCall>>();
/** So many calls are kept for a client. */
const MOST_RUNNING = 1000;

/** Reports the end of each call whose result these messages show. What a failed tool said may hold a secret. */
async function reportEnds(parley: Planner, messages: readonly ModelMessage[]): Promise<void> {
  const calls = running.get(parley);
  if (!calls || calls.size === 0) return;
  const ends = partsOf(messages, isRequest).map(async ({ approvalId }) => {
    const call = calls.get(approvalId);
    const end = call && resultsIn(messages, call.toolCallId)[call.results];
    if (!end) return;
    calls.delete(approvalId);
    const { output } = end;
    const isError = output.type === "error-text" || output.type === "error-json";
    const result = "value" in output ? output.value : undefined;
    await quietly(isError ? call.reports.failed() : call.reports.done({ result }));
  });
  await Promise.all(ends);
}

const resultsIn = (messages: readonly ModelMessage[], id: string) =>
  partsOf(messages, isResult).filter(({ toolCallId }) => toolCallId === id);

type Part = Exclude<ModelMessage["content"], string>[number];

const isCall = (part: Part) => part.type === "tool-call";
const isRequest = (part: Part) => part.type === "tool-approval-request";
const isResult = (part: Part) => part.type === "tool-result";
const isResponse = (part: Part) => part.type === "tool-approval-response";

function partsOf<Wanted extends Part>(
  messages: readonly ModelMessage[],
  isWanted: (part: Part) => part is Wanted,
): Wanted[] {
  return messages.flatMap(({ content }) => (typeof content === "string" ? [] : (content as Part[]).filter(isWanted)));
}
