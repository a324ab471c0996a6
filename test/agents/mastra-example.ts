import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { askHumanTool } from "@parley/adapters/mastra";
import type { Parley } from "@parley/sdk";

export async function nameButton(
  parley: Parley,
  model: ConstructorParameters<typeof Agent>[0]["model"],
  abortSignal?: AbortSignal,
): Promise<string> {
  const agent = new Agent({
    id: "namer",
    name: "Namer",
    instructions: "You find names for buttons. Ask people when in doubt.",
    model,
    tools: { ask_human: createTool(askHumanTool(parley, { min_responses: 2, timeout_seconds: 600 })) },
  });
  const { text } = await agent.generate("Find a name for our export button.", { abortSignal });
  return text;
}
