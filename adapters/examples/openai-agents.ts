import { Agent, type Model, run } from "@openai/agents";
import { askHumanTool } from "@parley/adapters/openai-agents";
import type { Parley } from "@parley/sdk";

export async function nameButton(
  parley: Parley,
  model: string | Model,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const agent = new Agent({
    name: "Namer",
    instructions: "You find names for buttons. Ask people when in doubt.",
    model,
    tools: [askHumanTool(parley, { min_responses: 2, timeout_seconds: 600 })],
  });
  const { finalOutput } = await run(agent, "Find a name for our export button.", { signal });
  return finalOutput;
}
