import { resolve } from "node:path";
import { programOf, type PromptingAgent } from "../../connect/agent.ts";
import { isInUse } from "../../connect/local-agents.ts";
import { AGENTS } from "../../connect/registry.ts";
import { hookTurnedOff } from "../../connect/switches.ts";
import { systemClock } from "../../lib/clock.ts";
import { versionOf } from "../../workshop/agents/program-version.ts";
import { type Takes, WrongUsage } from "../arguments.ts";
import type { Io } from "../command.ts";
import { textIn } from "../config-file.ts";
import { homely, isIn, type ParleyPart, partsOf } from "./parts.ts";

/** In the place of a state, for a file that is not understood. */
const UNREADABLE = "?";

const NAMES = Object.keys(AGENTS);

/** The word for any number of agents, and which these are where none is named. */
export const agentWords = (leftOut: string) =>
  ({
    "[AGENT...]": { help: `${NAMES.join(", ")}; left out, ${leftOut}`, choices: NAMES, read: nameFrom },
  }) as const satisfies Takes;

function nameFrom(name: string): string {
  if (!NAMES.includes(name)) throw new WrongUsage(`no such agent: ${name}; there are ${NAMES.join(", ")}`);
  return name;
}

/** An agent of the registry, and whether it is in use on this computer. */
export interface LocalAgent {
  agent: PromptingAgent;
  /** Its program is on the PATH, or its folder is there. */
  isHere: boolean;
  version: string | null;
  parts: readonly ParleyPart[];
  /**
   * Returns a sentence about the switch that keeps the agent from running its hook; null where none does.
   *
   * @param text what is to stand in the hook's file, where it is not what stands there
   * @throws {Error} in one sentence
   */
  turnedOff(text?: string): string | null;
}

/** Returns the agents with these names, or every agent where none is named. */
export async function agentsNamed(names: readonly string[], env: Io["env"], url?: string): Promise<LocalAgent[]> {
  const wanted = Object.entries(AGENTS).filter(([name]) => names.length === 0 || names.includes(name));
  return Promise.all(wanted.map(async ([, row]) => look(await row.load(), env, url)));
}

async function look(agent: PromptingAgent, env: Io["env"], url?: string): Promise<LocalAgent> {
  const program = programOf(agent, env);
  const version = program === null ? null : await versionOf(program, env["PATH"] ?? "", systemClock);
  const path = resolve(agent.file(env));
  const turnedOff = (text?: string) => hookTurnedOff(agent, env, { path, text: text ?? textIn(path) ?? "" });
  return { agent, isHere: isInUse(agent, env), version, parts: partsOf(agent, env, url), turnedOff };
}

/** Returns whether a part of Parley's is in each of its files, and in force; null where the agent has no such part. @throws {Error} one sentence */
export function stateOf({ parts, turnedOff }: LocalAgent, kind: ParleyPart["kind"]): boolean | null {
  const own = parts.filter((one) => one.kind === kind);
  if (own.length === 0) return null;
  return own.every((part) => isIn(part, textIn(part.file) ?? "")) && (kind === "mcp" || turnedOff() === null);
}

/** Returns the cells of an agent's row in a table: AGENT, VERSION, HOOK, MCP, FILES. */
export function rowOf(one: LocalAgent, env: Io["env"]): string[] {
  const { agent, version, parts } = one;
  const words = (kind: ParleyPart["kind"]) => {
    try {
      if (kind === "hook" && one.turnedOff() !== null) return "off";
      const state = stateOf(one, kind);
      return state === null ? "-" : state ? "yes" : "no";
    } catch {
      return UNREADABLE;
    }
  };
  const files = [...new Set(parts.map(({ file }) => homely(resolve(file), env)))];
  return [agent.title, version ?? "-", words("hook"), words("mcp"), files.join(", ")];
}

/** Does the same for each agent; one whose file is not understood is named, and left as it is. */
export function eachReadable<T>(agents: readonly LocalAgent[], work: (one: LocalAgent) => T, io: Io): T[] {
  return agents.flatMap((one) => {
    try {
      return [work(one)];
    } catch (error) {
      if (error instanceof WrongUsage || !(error instanceof Error)) throw error;
      io.tell(error.message);
      return [];
    }
  });
}
