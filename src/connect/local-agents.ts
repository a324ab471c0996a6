import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { programOf, type PromptingAgent } from "./agent.ts";
import { AGENTS } from "./registry.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** No configuration of an agent is longer. */
const MOST_BYTES = 4 * 1_048_576;

/** An agent of the registry, as far as it can be seen on this computer. */
export interface LocalAgentState {
  name: string;
  title: string;
  /** Its program is on the PATH, or its folder is there. */
  isHere: boolean;
  /** Its configuration has Parley's hook; null where it cannot be read. */
  hasHook: boolean | null;
}

/** Returns whether an agent is in use: its program is on the PATH, or its folder is there. */
export function isInUse(agent: PromptingAgent, env: Environment): boolean {
  return programOf(agent, env) !== null || existsSync(agent.folder?.(env) ?? dirname(agent.file(env)));
}

/** Looks for every agent of the registry on this computer. It starts no program; without a home folder it finds none. */
export async function readLocalAgents(env: Environment): Promise<LocalAgentState[]> {
  const hasHome = Boolean(env["HOME"] || env["USERPROFILE"]);
  return Promise.all(
    Object.entries(AGENTS).map(async ([name, row]) => {
      const agent = await row.load();
      const isHere = hasHome && isInUse(agent, env);
      return { name, title: row.title, isHere, hasHook: isHere && (await hasHook(agent, env)) };
    }),
  );
}

async function hasHook(agent: PromptingAgent, env: Environment): Promise<boolean | null> {
  const file = agent.file(env);
  if (!existsSync(file)) return false;
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size > MOST_BYTES) return null;
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(file));
    return agent.withHook(text, null) !== text;
  } catch {
    return null;
  }
}
