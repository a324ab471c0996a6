import type { SandboxKind } from "../core/model/sandbox.ts";
import { join } from "node:path";
import type { Clock } from "../lib/clock.ts";
import type { AgentRules, AssignmentRules } from "../tasks/model/rules.ts";
import type { Repository } from "./git/repository.ts";

/** The parts that all attempts of one workshop share. */
export interface WorkshopContext {
  rules: AssignmentRules;
  clock: Clock;
  /** Where agents reach the server over MCP. */
  serverUrl: () => string;
  /** The server's own environment, of which agents get what their settings name. */
  env: Readonly<Record<string, string | undefined>>;
  /** A UUID for a new session. */
  newSessionId: () => string;
  repository(name: string): Promise<Repository>;
  /** The store of a repository alone, for when that itself is away. */
  store(name: string): Promise<Repository>;
  /** How an agent is isolated here; or why it may not start. */
  readiness(agent: string): { sandbox: SandboxKind } | { why: string };
}

/** Returns an agent's settings. @throws {Error} for a name that is in no settings */
export function agentNamed(workshop: WorkshopContext, name: string): AgentRules {
  const found = workshop.rules.agents.find((one) => one.name === name);
  if (!found) throw new Error(`there is no agent called ${name} in the settings`);
  return found;
}

/** Returns where the store of a repository stands. */
export function storeOf(workDir: string, repo: string): string {
  return join(workDir, "stores", `${repo}.git`);
}
