import { execFile } from "node:child_process";
import type { HttpHook, PromptingAgent } from "../../connect/agent.ts";
import { programOf } from "../../connect/agent.ts";
import { recordedAddresses } from "../../config/undo-record.ts";
import { isOwnName } from "../../lib/network/reach.ts";
import { type Arguments, type Takes, WrongUsage } from "../arguments.ts";
import type { Io } from "../command.ts";
import type { HOOK_FLAGS } from "./decide.ts";
import { localServerUrl } from "../local-server.ts";
import { agentKey, serverUrl } from "../server-client.ts";

export const TYPE_FLAG = {
  "--type http|command": {
    help: "how the agent reaches Parley: by itself, or by a program that it starts for each prompt; left out, http where the agent can and the server is this computer's",
    choices: ["http", "command"],
    read: typeFrom,
  },
} as const satisfies Takes;

function typeFrom(text: string): "http" | "command" {
  if (text === "http" || text === "command") return text;
  throw new WrongUsage("--type is http or command");
}

const KEY_VARIABLE = "PARLEY_KEY";
const VERSION_MS = 10_000;

type HttpFlags = Partial<Arguments<typeof HOOK_FLAGS> & Arguments<typeof TYPE_FLAG>>;

/**
 * Returns the hook by which the agent itself sends its prompts; nothing where a program is to do it.
 *
 * @throws {WrongUsage} for a type that is unknown, or that these flags or this agent do not take
 */
export async function httpHookFor(
  agent: PromptingAgent,
  flags: HttpFlags,
  env: Io["env"],
): Promise<HttpHook | undefined> {
  const { type, by, url } = flags;
  if (type === "http" && agent.httpSince === undefined) throw new WrongUsage(`${agent.title} sends no prompts by HTTP`);
  if (type === "http" && by !== undefined) throw new WrongUsage("--by needs --type command, which checks who approved");
  const server = serverUrl(url, env);
  const isOurs = isOwnName(URL.parse(server)?.hostname ?? "");
  if (type === "command" || by !== undefined) return undefined;
  if (type === undefined && !(isOurs && (await isUsual(agent, server, env)))) return undefined;
  const isKeyed = env[KEY_VARIABLE] !== undefined && env[KEY_VARIABLE] !== "";
  // A key for another server is refused here as everywhere.
  if (type === "http") agentKey(server, env);
  return {
    url: addressOf(`${server}/hooks/${agent.name}`, flags, agent),
    ...((isKeyed || !isOurs) && { keyVariable: KEY_VARIABLE }),
    tellsUses: isOurs,
  };
}

/** Returns the addresses of an agent's hooks that are Parley's: those on record, and those that would be written now. */
export function hookAddresses(agent: Pick<PromptingAgent, "name">, url: string | undefined, env: Io["env"]): string[] {
  const servers = [() => serverUrl(url, env), () => serverUrl(undefined, env), () => localServerUrl(env)];
  const known = new Set(servers.flatMap(orNothing));
  return [...recordedAddresses(env), ...[...known].map((server) => `${server}/hooks/${agent.name}`)];
}

/** A hook can be taken out wherever the environment's address leads: Parley writes no hook for one that is refused. */
function orNothing(server: () => string): string[] {
  try {
    return [server()];
  } catch (error) {
    if (error instanceof WrongUsage) return [];
    throw error;
  }
}

/** True where nothing is lost by HTTP: the program knows it, and its requests go straight to the server with their key. */
async function isUsual(agent: PromptingAgent, server: string, env: Io["env"]): Promise<boolean> {
  if (agent.httpSince === undefined) return false;
  if (["http_proxy", "https_proxy", "all_proxy"].some((name) => env[name] || env[name.toUpperCase()])) return false;
  try {
    const key = agentKey(server, env);
    if (key !== undefined && key !== env[KEY_VARIABLE]) return false;
  } catch {
    return false;
  }
  const version = await versionOf(agent, env);
  return version !== null && !isBefore(version, agent.httpSince);
}

function addressOf(address: string, { to, timeout }: HttpFlags, { after }: PromptingAgent): string {
  const query = new URLSearchParams({
    ...(to !== undefined && { to }),
    ...(timeout !== undefined && { timeout }),
    ...(after && { reports: "end" }),
  });
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}

/** Returns the version that the agent's program states; null where it is missing or states none. */
function versionOf(agent: PromptingAgent, env: Io["env"]): Promise<string | null> {
  const program = programOf(agent, env);
  if (program === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    const options = { env: { ...env }, timeout: VERSION_MS, shell: process.platform === "win32" };
    execFile(program, ["--version"], options, (error, out) =>
      resolve(error ? null : (/(?<!\d)\d+\.\d+\.\d+/.exec(out)?.[0] ?? null)),
    );
  });
}

function isBefore(version: string, other: string): boolean {
  return version.localeCompare(other, "en", { numeric: true }) < 0;
}
