import type { Clock } from "../../lib/clock.ts";
import type { AgentRules } from "../../tasks/model/rules.ts";
import { findProgram } from "../sandbox/program-needs.ts";
import { agentOf } from "./agents.ts";
import { versionOf } from "./program-version.ts";

/** Versions that Parley's own tests have run, by agent (spec/assignment 7). */
const TESTED: Readonly<Record<string, readonly string[]>> = {
  claude: ["2.1.197", "2.1.332"],
  codex: ["0.171.0"],
  gemini: ["0.61.0"],
  opencode: ["1.18.33"],
};

/** An agent of the settings, as found on this machine. */
export interface FoundAgent {
  name: string;
  type: AgentRules["type"];
  /** Where its program is; null where it is not here. */
  program: string | null;
  version: string | null;
  works: boolean;
  /** Why it does not work here. */
  why?: string;
  /** Remarks about an agent that works. */
  remarks: readonly string[];
}

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Returns why an agent would not be started here, by its sandbox; null if it would. */
  refusal(needsSandbox: boolean): string | null;
}

/** Returns which of the configured agents work here, and why the others do not. Only programs whose answer is known are run. */
export function findAgents(agents: readonly AgentRules[], around: Surroundings): Promise<FoundAgent[]> {
  return Promise.all(agents.map((agent) => findAgent(agent, around)));
}

async function findAgent(agent: AgentRules, { env, clock, refusal }: Surroundings): Promise<FoundAgent> {
  const { name, type } = agent;
  const [called = ""] = agent.command;
  const path = env["PATH"] ?? "";
  const program = findProgram(called, path);
  const missing = { name, type, program, version: null, works: false, remarks: [] };
  if (program === null) {
    return { ...missing, why: called.includes("/") ? `${called} is not here` : `${called} is not on the PATH` };
  }
  const tested = TESTED[type === "acp" ? agent.flavour : type];
  const version = tested ? await versionOf(program, path, clock) : null;
  if (tested && version === null) return { ...missing, why: `${called} --version tells no version` };
  const why = refusal(agentOf(type).needsSandbox);
  if (why !== null) return { ...missing, version, why };
  const remarks = [...untested(version, tested), ...withoutKey(agent, env)];
  return { ...missing, version, works: true, remarks };
}

function untested(version: string | null, tested: readonly string[] | undefined): string[] {
  if (version === null) return ["never tested"];
  return tested?.includes(version) ? [] : [`never tested with this version, but with ${tested?.join(", ")}`];
}

function withoutKey({ passEnv }: AgentRules, env: Surroundings["env"]): string[] {
  const keys = passEnv.filter((name) => /KEY|TOKEN/.test(name));
  return keys.length === 0 || keys.some((name) => env[name]) ? [] : [`without ${keys.join(" or ")}`];
}
