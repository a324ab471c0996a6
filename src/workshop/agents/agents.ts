import { acp } from "./acp.ts";
import type { Agent, AgentType } from "./agent.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { command } from "./command.ts";

const AGENTS: Readonly<Record<AgentType, Agent>> = { claude, codex, acp, command };

/** Returns the adapter of a type of agents. */
export function agentOf(type: AgentType): Agent {
  return AGENTS[type];
}
