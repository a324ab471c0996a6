import { Annotation, type BaseCheckpointSaver, END, START, StateGraph } from "@langchain/langgraph";
import { answerInterrupts, askInNode } from "@parley/adapters/langgraph";
import type { Parley } from "@parley/sdk";

const State = Annotation.Root({ draft: Annotation<string>, votes: Annotation<string[]> });

export function reviewGraph(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(State)
    .addNode("review", ({ draft }) => {
      const { answers } = askInNode({
        question: `Is this error message clear? "${draft}"`,
        options: ["Yes", "No"],
        min_responses: 2,
      });
      return { votes: answers.map(({ answer }) => answer) };
    })
    .addEdge(START, "review")
    .addEdge("review", END)
    .compile({ checkpointer });
}

export async function review(
  parley: Parley,
  checkpointer: BaseCheckpointSaver,
  draft: string,
  threadId: string,
): Promise<string[]> {
  const graph = reviewGraph(checkpointer);
  const config = { configurable: { thread_id: threadId } };
  await graph.invoke({ draft }, config);
  await answerInterrupts(parley, graph, config);
  return (await graph.getState(config)).values.votes;
}
