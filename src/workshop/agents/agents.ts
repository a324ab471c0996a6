import type { Agent, AgentType } from "./agent.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { command } from "./command.ts";

const AGENTS: Readonly<Partial<Record<AgentType, Agent>>> = { claude, codex, command };

/** Returns the adapter of a type of agents. */
export function agentOf(type: AgentType): Agent {
  const agent = AGENTS[type];
  if (!agent) throw new Error(`no adapter for ${type}`);
  return agent;
}
