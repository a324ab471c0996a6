import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { askHumanTool } from "@parley/adapters/langchain";
import type { Parley } from "@parley/sdk";

export async function nameButton(
  parley: Parley,
  model: BaseChatModel,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const tools = [askHumanTool(parley, { min_responses: 2, timeout_seconds: 600 })];
  const agent = createReactAgent({ llm: model, tools });
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: "Find a name for our export button. Ask people when in doubt." }] },
    { signal },
  );
  return messages.at(-1)?.text;
}
