import { Command, type CompiledStateGraph, interrupt } from "@langchain/langgraph";
import { type AskHumanInput, type Asker, askHuman, type HumanAnswers, isQuestion } from "./ask-human.ts";

/** Pauses a node of a graph until people have answered; `answerInterrupts` asks them and goes on. */
export function askInNode(question: AskHumanInput): HumanAnswers {
  return interrupt<AskHumanInput, HumanAnswers>(question);
}

/** The part of a compiled graph that is paused and resumed. */
export type Resumable = Pick<CompiledStateGraph<unknown, unknown, string>, "getState" | "invoke">;

/**
 * The graph has gone on as far as people's answers take it: every interrupt whose value is a question (`question`, and
 * what else `ask_human` takes) was asked and resumed with the `HumanAnswers`, until none is left.
 *
 * It starts from the checkpoint, so that after a crash the same call goes on; an interrupt is one question, however
 * often that happens within 24 hours. Interrupts of another kind are left as they are. `config.signal` ends the wait,
 * never a question.
 *
 * @throws {ParleyError} as `askHuman`
 */
export async function answerInterrupts(
  parley: Asker,
  graph: Resumable,
  config: { configurable: { thread_id: string }; signal?: AbortSignal },
): Promise<void> {
  // A branch that was resumed is still shown as interrupted until every branch beside it is done.
  const resumed = new Set<string>();
  for (;;) {
    const { tasks } = await graph.getState(config);
    const asked = tasks
      .flatMap(({ interrupts }) => interrupts)
      .flatMap(({ id, value }) =>
        id !== undefined && !resumed.has(id) && isQuestion(value) ? [{ id, question: value }] : [],
      );
    if (asked.length === 0) return;
    const answers = await Promise.all(
      asked.map(async ({ id, question }) => {
        const answer = await askHuman(parley, question, { signal: config.signal, idempotencyKey: `interrupt-${id}` });
        return [id, answer] as const;
      }),
    );
    for (const { id } of asked) resumed.add(id);
    await graph.invoke(new Command({ resume: Object.fromEntries(answers) }), config);
  }
}
