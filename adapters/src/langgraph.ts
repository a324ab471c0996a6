import { Command, type CompiledStateGraph, interrupt } from "@langchain/langgraph";
import { type Approver, type GateOptions, keyOf, type ToolRun, type Verdict, verdictOn } from "./approvals.ts";
import { type AskHumanInput, type Asker, askHuman, type HumanAnswers, isQuestion } from "./ask-human.ts";
import { decisionsOn, isReview, type ReviewAnswer } from "./langchain-review.ts";

/** Pauses a node of a graph until people have answered; `answerInterrupts` asks them and goes on. */
export function askInNode(question: AskHumanInput): HumanAnswers {
  return interrupt<AskHumanInput, HumanAnswers>(question);
}

/** A call that waits for approval, as an interrupt's value. */
interface HeldRun {
  approve: ToolRun;
}

/** A decision and the call it is on. */
type GivenVerdict = Verdict & { on: string };

/**
 * Pauses a node of a graph until somebody has decided whether exactly this may run; `answerInterrupts` asks and goes on.
 * At most once in a node, because LangGraph gives all interrupts of a node the same id.
 *
 * @throws {TypeError} for a verdict on something else
 */
export function approveInNode(run: ToolRun): Verdict {
  const { on, ...verdict } = interrupt<HeldRun, GivenVerdict>({ approve: run });
  if (on !== JSON.stringify(run)) throw new TypeError(`What was approved is not what would run as ${run.fn}.`);
  return verdict;
}

/**
 * Returns a function behind an approval, for a tool of a graph: `tool(requireApproval("issue_refund", run), {...})`.
 * Each call pauses the graph, and runs once with exactly the arguments that were approved; for one that was not, the
 * result says why, for the model.
 */
export function requireApproval<Args extends object, More extends unknown[], Result>(
  name: string,
  run: (args: Args, ...more: More) => Result | Promise<Result>,
): (args: Args, ...more: More) => Promise<Result | string> {
  return async (args, ...more) => {
    const verdict = approveInNode({ fn: name, args });
    return verdict.isApproved ? run(args, ...more) : verdict.why;
  };
}

/** The part of a compiled graph that is paused and resumed. */
export type Resumable = Pick<CompiledStateGraph<unknown, unknown, string>, "getState" | "invoke">;

/**
 * Runs the graph as far as people's answers take it, until no interrupt is left to ask about. Interrupts whose value is
 * a
 * question (`question`, and the other fields of `ask_human`) are resumed with the `HumanAnswers`. Calls that wait for
 * approval, by `approveInNode`, `requireApproval` or LangChain's `humanInTheLoopMiddleware`, are resumed with the
 * decision; of the middleware's calls that may only be responded to, with the words of the people whom `options` name.
 *
 * It starts from the checkpoint, so that after a crash the same call goes on. An interrupt is asked once, however often
 * that happens within 24 hours. Interrupts of another kind are left as they are. `config.signal` ends the wait, never
 * the
 * request. `options` name the people to ask for approvals.
 *
 * @throws {ParleyError} as `askHuman`, and {ApprovalMismatch} as `Parley.approve`
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
  for (;;) {
    const { tasks } = await graph.getState(config);
    const asked = tasks
      .flatMap(({ interrupts }) => interrupts)
      .flatMap(({ id, value }) => {
        const answer = id === undefined ? undefined : answerTo(parley, value, [id, JSON.stringify(value)], more);
        return answer && id !== undefined ? [{ id, name: `${id} ${JSON.stringify(value)}`, answer }] : [];
      })
      .filter(({ name }) => !resumed.has(name));
    if (asked.length === 0) return;
    const answers = await Promise.all(asked.map(async ({ id, answer }) => [id, await answer()] as const));
    for (const { name } of asked) resumed.add(name);
    await graph.invoke(new Command({ resume: Object.fromEntries(answers) }), config);
  }
}

/** Returns what asks people about an interrupt's value; undefined for one that is of another kind. */
function answerTo(
  parley: Asker & Approver,
  value: unknown,
  names: readonly string[],
  options: GateOptions,
): (() => Promise<HumanAnswers | GivenVerdict | ReviewAnswer>) | undefined {
  const asked = ["langgraph", ...names];
  if (isQuestion(value)) {
    return async () => askHuman(parley, value, { signal: options.signal, idempotencyKey: await keyOf(asked) });
  }
  if (isReview(value)) return () => decisionsOn(parley, value, { ...options, asked });
  if (!isHeldRun(value)) return undefined;
  const run = value.approve;
  return async () => ({ ...(await verdictOn(parley, run, { ...options, asked })), on: JSON.stringify(run) });
}

function isHeldRun(value: unknown): value is HeldRun {
  if (typeof value !== "object" || value === null || !("approve" in value)) return false;
  const { approve: run } = value;
  return typeof run === "object" && run !== null && "fn" in run && "args" in run && typeof run.fn === "string";
}
