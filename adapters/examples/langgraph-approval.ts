import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { answerInterrupts, requireApproval } from "@parley/adapters/langgraph";
import type { Parley } from "@parley/sdk";

type IssueRefund = (args: { order: string; amount: number }) => Promise<string>;
const properties = { order: { type: "string" }, amount: { type: "number" } } as const;
const schema = { type: "object", properties, required: ["order", "amount"] } as const;

export async function support(parley: Parley, llm: BaseChatModel, issueRefund: IssueRefund, to: string) {
  const described = { name: "issue_refund", description: "Refunds an order.", schema };
  const tools = [tool(requireApproval("issue_refund", issueRefund), described)];
  const agent = createReactAgent({ llm, tools, checkpointSaver: new MemorySaver() });
  const config = { configurable: { thread_id: crypto.randomUUID() } };
  await agent.invoke({ messages: [{ role: "user", content: "Refund order A-1007: it arrived torn." }] }, config);
  await answerInterrupts(parley, agent, config, { to });
  return (await agent.getState(config)).values.messages.at(-1).text as string;
}
