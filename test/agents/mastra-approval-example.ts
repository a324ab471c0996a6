import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import type { Tool } from "@mastra/core/tools";
import { answerApprovals } from "@parley/adapters/mastra";
import type { Parley } from "@parley/sdk";

type Model = ConstructorParameters<typeof Agent>[0]["model"];

export async function support(parley: Parley, model: Model, issueRefund: Tool, to: string): Promise<string> {
  const tools = { issue_refund: issueRefund };
  const agent = new Agent({ id: "support", name: "Support", instructions: "You answer customers.", model, tools });
  new Mastra({ agents: { agent }, storage: new InMemoryStore() });
  const held = await agent.generate("Refund order A-1007: it arrived torn.");
  const { text } = await answerApprovals(parley, agent, held, { to });
  return text;
}
