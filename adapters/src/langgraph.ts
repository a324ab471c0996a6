import { Command, type CompiledStateGraph, interrupt, isGraphBubbleUp } from "@langchain/langgraph";
import type { EndReports } from "@parley/sdk";
import {
  type Approver,
  claimAll,
  type Decided,
  type GateOptions,
  keyOf,
  type ToolRun,
  type Verdict,
  verdictOn,
} from "./approvals.ts";
import { type AskHumanInput, type Asker, askHuman, type HumanAnswers, isQuestion } from "./ask-human.ts";
import { decisionsOn, isReview, type ReviewAnswer } from "./langchain-review.ts";
import { quietly, reportedRun } from "./reports.ts";

/** Tells one interrupt of a node from an equal one: LangGraph 1.4 gives all of a node one id. */
interface Occurrence {
  occurrence: string;
}

/** A question that waits for answers, as an interrupt's value. */
type HeldQuestion = AskHumanInput & Occurrence;

/** Answers and the question they are to. */
type GivenAnswers = HumanAnswers & { on: string };

/**
 * Pauses a node of a graph until people have answered; `answerInterrupts` asks them and goes on.
 *
 * @throws {TypeError} for answers to something else
 */
export function askInNode(question: AskHumanInput): HumanAnswers {
  const held = { ...question, occurrence: crypto.randomUUID() };
  const { on, ...answers } = interrupt<HeldQuestion, GivenAnswers>(held);
  if (on !== JSON.stringify(question)) throw new TypeError(`The answers are not to "${question.question}".`);
  return answers;
}

/** A call that waits for approval, as an interrupt's value. */
interface HeldRun extends Partial<Occurrence> {
  approve: ToolRun;
}

/** A decision, its id, and the call it is on. */
type GivenVerdict = Verdict & { on: string; id?: string };

/** The reports about the calls with which graphs of this process go on, by the ids of the decisions. */
const running = new Map<string, EndReports>();

/**
 * Pauses a node of a graph until somebody has decided whether exactly this may run; `answerInterrupts` asks and goes on.
 *
 * @throws {TypeError} for a verdict on something else
 */
export function approveInNode(run: ToolRun): Verdict {
  return decidedInNode(run).verdict;
}

function decidedInNode(run: ToolRun): Pick<Decided, "verdict" | "reports"> {
  const held = { approve: run, occurrence: crypto.randomUUID() };
  const { on, id = "", ...verdict } = interrupt<HeldRun, GivenVerdict>(held);
  if (on !== JSON.stringify(run)) throw new TypeError(`What was approved is not what would run as ${run.fn}.`);
  return { verdict, reports: running.get(id) };
}

/**
 * Returns a function behind an approval, for a tool of a graph: `tool(requireApproval("issue_refund", run), {...})`.
 * Each call pauses the graph, and runs once with exactly the arguments that were approved; for one that was not, the
 * result says why, for the model. The end of a call is reported to the people who approved it.
 */
export function requireApproval<Args extends object, More extends unknown[], Result>(
  name: string,
  run: (args: Args, ...more: More) => Result | Promise<Result>,
): (args: Args, ...more: More) => Promise<Result | string> {
  return async (args, ...more) => {
    const { verdict, reports } = decidedInNode({ fn: name, args });
    return verdict.isApproved ? reportedRun(reports, () => run(args, ...more), isGraphBubbleUp) : verdict.why;
  };
}

/** The part of a compiled graph that is paused and resumed. */
export type Resumable = Pick<CompiledStateGraph<unknown, unknown, string>, "getState" | "invoke">;

/**
 * Runs the graph as far as people's answers take it, until no interrupt is left to ask about. Interrupts whose value is a
 * question (`question`, and the other fields of `ask_human`) are resumed with the `HumanAnswers`. Calls that wait for
 * approval, by `approveInNode`, `requireApproval` or LangChain's `humanInTheLoopMiddleware`, are resumed with the
 * decision; of the middleware's calls that may only be responded to, with the words of the people whom `options` name.
 *
 * It starts from the checkpoint, so that after a crash the same call goes on. An interrupt is asked once, however often
 * that happens within 24 hours, and of any number of processes one resumes the graph with a decision. Interrupts of
 * another kind are left as they are. `config.signal` ends the wait, never the request. `options` name the people to ask
 * for approvals.
 *
 * @throws {ParleyError} as `askHuman`, `already_claimed` where another process goes on with a decision, and
 *   {ApprovalMismatch} as `Parley.approve`
 * @throws {TypeError} for an interrupt of a node's own that equals its last one, which LangGraph 1.4 cannot tell apart
 */
export async function answerInterrupts(
  parley: Asker & Approver,
  graph: Resumable,
  config: { configurable: { thread_id: string }; signal?: AbortSignal },
  options: GateOptions = {},
): Promise<void> {
  const more = { signal: config.signal, ...options };
  // A branch that was resumed is still shown as interrupted until every branch beside it is done.
  const resumed = new Set<string>();
  const decided: Decided[] = [];
  for (;;) {
    const waiting = await interruptsOf(parley, graph, config, more);
    const asked = waiting.flatMap(({ answer, ...one }) => (answer && !resumed.has(one.name) ? { ...one, answer } : []));
    if (asked.length === 0) {
      if (waiting.length > 0 && waiting.every(({ name }) => resumed.has(name))) throw new TypeError(ASKED_TWICE);
      return;
    }
    const answers = await Promise.all(asked.map(async ({ id, answer }) => ({ id, ...(await answer()) })));
    const now = answers.flatMap((one) => one.decided);
    await claimAll(parley, now, more.signal);
    decided.push(...now);
    await Promise.all(
      now.map(({ reports, notRun: text }) => quietly(text === undefined ? text : reports?.failed({ text }))),
    );
    // Answers of the crowd have no claim: whoever waited for them longest finds the graph further on.
    const still = new Set((await interruptsOf(parley, graph, config, more)).map(({ name }) => name));
    if (!asked.every(({ name }) => still.has(name))) throw new TypeError(GONE_ON);
    for (const { name } of asked) resumed.add(name);
    const resume = Object.fromEntries(answers.map(({ id, value }) => [id, value]));
    await reporting(decided, () => graph.invoke(new Command({ resume }), config));
  }
}

/** Does the work of a graph that goes on with these decisions, in which its tools find their reports. */
async function reporting(decided: readonly Decided[], work: () => Promise<unknown>): Promise<void> {
  const reported = decided.flatMap(({ id, reports }) => (reports ? [[id, reports] as const] : []));
  for (const [id, reports] of reported) running.set(id, reports);
  try {
    await work();
  } finally {
    for (const [id] of reported) running.delete(id);
  }
}

const ASKED_TWICE =
  "The graph waits for an interrupt that equals the last one of its node, which this version of LangGraph cannot tell apart: ask by askInNode or approveInNode, or give each a word of its own.";

const GONE_ON = "Another process has gone on with this thread meanwhile.";

/** An answer to an interrupt, and the decisions that it rests on. */
interface Answer {
  value: GivenAnswers | HumanAnswers | GivenVerdict | ReviewAnswer;
  decided: readonly Decided[];
}

/** Returns the interrupts of a thread, and for those of ours the way to their answer. */
async function interruptsOf(
  parley: Asker & Approver,
  graph: Resumable,
  config: { configurable: { thread_id: string } },
  options: GateOptions,
): Promise<{ id: string; name: string; answer: (() => Promise<Answer>) | undefined }[]> {
  const { tasks } = await graph.getState(config);
  return tasks
    .flatMap(({ interrupts }) => interrupts)
    .map(({ id = "", value }) => {
      const names = [id, JSON.stringify(value)];
      const answer = id === "" ? undefined : answerTo(parley, value, names, options);
      return { id, name: names.join(" "), answer };
    });
}

/** Returns what asks people about an interrupt's value; undefined for one that is of another kind. */
function answerTo(
  parley: Asker & Approver,
  value: unknown,
  names: readonly string[],
  options: GateOptions,
): (() => Promise<Answer>) | undefined {
  const asked = ["langgraph", ...names];
  if (isQuestion(value)) {
    const { occurrence, ...question } = value as AskHumanInput & Partial<Occurrence>;
    return async () => {
      const { signal } = options;
      const answers = await askHuman(parley, question, { signal, idempotencyKey: await keyOf(asked) });
      return { value: occurrence === undefined ? answers : { ...answers, on: JSON.stringify(question) }, decided: [] };
    };
  }
  if (isReview(value)) {
    return async () => {
      const { answer, decided } = await decisionsOn(parley, value, { ...options, asked });
      return { value: answer, decided };
    };
  }
  if (!isHeldRun(value)) return undefined;
  const run = value.approve;
  return async () => {
    const decision = await verdictOn(parley, run, { ...options, asked });
    return { value: { ...decision.verdict, on: JSON.stringify(run), id: decision.id }, decided: [decision] };
  };
}

function isHeldRun(value: unknown): value is HeldRun {
  if (typeof value !== "object" || value === null || !("approve" in value)) return false;
  const { approve: run } = value;
  return typeof run === "object" && run !== null && "fn" in run && "args" in run && typeof run.fn === "string";
}
