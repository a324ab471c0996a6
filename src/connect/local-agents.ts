import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type HookFile, holdsHook, hookFilesOf, programOf, type PromptingAgent } from "./agent.ts";
import { AGENTS } from "./registry.ts";
import { hookTurnedOff } from "./switches.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** No configuration of an agent is longer. */
const MOST_BYTES = 4 * 1_048_576;

/** An agent of the registry, as far as it can be seen on this computer. */
export interface LocalAgentState {
  name: string;
  title: string;
  /** Its program is on the PATH, or its folder is there. */
  isHere: boolean;
  /** Each file of its hook has Parley's part, and no switch turns it off; null where one of them cannot be read. */
  hasHook: boolean | null;
}

/** Returns whether an agent is in use: its program is on the PATH, or its folder is there. */
export function isInUse(agent: PromptingAgent, env: Environment): boolean {
  return programOf(agent, env) !== null || existsSync(agent.folder?.(env) ?? dirname(agent.file(env)));
}

/**
 * Looks for every agent of the registry on this computer. It starts no program; without a home folder it finds none.
 *
 * @param own returns the addresses of Parley's hooks; where it throws, no hook is known
 */
export async function readLocalAgents(
  env: Environment,
  own: () => readonly string[] = () => [],
): Promise<LocalAgentState[]> {
  const hasHome = Boolean(env["HOME"] || env["USERPROFILE"]);
  return Promise.all(
    Object.entries(AGENTS).map(async ([name, row]) => {
      const agent = await row.load();
      const isHere = hasHome && isInUse(agent, env);
      return { name, title: row.title, isHere, hasHook: isHere && (await hasHook(agent, env, own)) };
    }),
  );
}

async function hasHook(agent: PromptingAgent, env: Environment, own: () => readonly string[]): Promise<boolean | null> {
  try {
    const each = await Promise.all(hookFilesOf(agent, env, own()).map(isPartOfHook));
    if (each.includes(false)) return false;
    if (each.includes(null)) return null;
    const path = agent.file(env);
    return hookTurnedOff(agent, env, { path, text: await readFile(path, "utf8") }) === null;
  } catch {
    return null;
  }
}

async function isPartOfHook(file: HookFile): Promise<boolean | null> {
  const { path } = file;
  if (!existsSync(path)) return false;
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > MOST_BYTES) return null;
    return holdsHook(file, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path)));
  } catch {
    return null;
  }
}
