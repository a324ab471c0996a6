import type { LastPrompt } from "@parley/sdk/admin";
import type { PromptingAgent } from "../../connect/agent.ts";
import { systemClock } from "../../lib/clock.ts";
import { openDeadline } from "../../lib/deadline.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { isJsonObject } from "../../lib/json/exact-json.ts";
import type { Io } from "../command.ts";
import { agentKey } from "../server-client.ts";

const REPLY_MS = 5000;

/** The newest prompt of each agent by its name; null for an agent that has sent none. */
export type LastPrompts = ReadonlyMap<string, LastPrompt | null>;

/**
 * Reads the newest prompt of each agent from the server, with the key that their hooks show or without one. Returns
 * nothing, and says why, where the server does not tell.
 *
 * @throws {WrongUsage} where the key is another server's
 */
export async function readLastPrompts(
  agents: readonly PromptingAgent[],
  url: string,
  io: Io,
): Promise<LastPrompts | null> {
  const key = agentKey(url, io.env);
  using deadline = openDeadline(systemClock, REPLY_MS, io.interrupted);
  const place = { url, key, signal: deadline.signal };
  try {
    const each = agents.map(async (agent) => [agent.name, await lastPromptOf(agent, place)] as const);
    return new Map(await Promise.all(each));
  } catch (error) {
    const why = error instanceof Refused ? error.message : `no Parley server answers at ${url}`;
    io.tell(`The last prompts are not known: ${why}.`);
    return null;
  }
}

class Refused extends Error {}

async function lastPromptOf(
  { name, agentId }: PromptingAgent,
  { url, key, signal }: { url: string; key: string | undefined; signal: AbortSignal },
): Promise<LastPrompt | null> {
  const headers: Record<string, string> =
    key === undefined ? { "x-agent-id": agentId } : { authorization: `Bearer ${key}` };
  const reply = await systemFetch(`${url}/hooks/agents/${name}`, { headers, signal });
  if (reply.status !== 200) throw new Refused(`the server at ${url} replied with status ${reply.status}`);
  const body: unknown = await reply.json();
  const found = isJsonObject(body) ? body["last_prompt"] : undefined;
  if (found === null || isPrompt(found)) return found;
  throw new Refused(`the server at ${url} replied with something else`);
}

function isPrompt(value: unknown): value is LastPrompt {
  if (!isJsonObject(value)) return false;
  const { at, tool, outcome, by } = value;
  const isText = (one: unknown) => typeof one === "string";
  return isText(at) && isText(outcome) && (tool === null || isText(tool)) && (by === null || isText(by));
}

/** Returns a prompt in a few words: when it came, the tool, what became of it, and by whom. */
export function promptWords(prompt: LastPrompt | null, now: number): string {
  if (prompt === null) return "none";
  const { at, tool, outcome, by } = prompt;
  return `${agoWords(now - Date.parse(at))}: ${tool ?? "a question"}, ${outcome}${by === null ? "" : ` by ${by}`}`;
}

function agoWords(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} days ago`;
}
