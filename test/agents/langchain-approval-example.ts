import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { StructuredTool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { answerInterrupts } from "@parley/adapters/langgraph";
import type { Parley } from "@parley/sdk";
import { createAgent, humanInTheLoopMiddleware } from "langchain";

export async function support(parley: Parley, model: BaseChatModel, issueRefund: StructuredTool, to: string) {
  const gate = humanInTheLoopMiddleware({ interruptOn: { issue_refund: true } });
  const checkpointer = new MemorySaver();
  const { graph } = createAgent({ model, tools: [issueRefund], middleware: [gate], checkpointer });
  const config = { configurable: { thread_id: crypto.randomUUID() } };
  await graph.invoke({ messages: [{ role: "user", content: "Refund order A-1007: it arrived torn." }] }, config);
  await answerInterrupts(parley, graph, config, { to });
  return (await graph.getState(config)).values.messages.at(-1).text as string;
}
