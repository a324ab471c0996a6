import { Agent, type Model, run, type Tool } from "@openai/agents";
import { answerInterruptions } from "@parley/adapters/openai-agents";
import type { Parley } from "@parley/sdk";

export async function support(
  parley: Parley,
  model: string | Model,
  issueRefund: Tool,
  to: string,
): Promise<string | undefined> {
  const agent = new Agent({ name: "Support", instructions: "You answer customers.", model, tools: [issueRefund] });
  let result = await run(agent, "Refund order A-1007: it arrived torn.");
  while (result.interruptions.length > 0) {
    await answerInterruptions(parley, result.state, { to });
    result = await run(agent, result.state);
  }
  return result.finalOutput;
}
