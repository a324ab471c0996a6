import { resolve } from "node:path";
import { hookFilesOf, type PromptingAgent } from "../../connect/agent.ts";
import { missingPart, startsIn } from "../../connect/hook-start.ts";
import { hooksBeside } from "../../connect/hooks-beside.ts";
import { readLocalAgents } from "../../connect/local-agents.ts";
import { AGENTS } from "../../connect/registry.ts";
import type { Io } from "../command.ts";
import { textIn } from "../config-file.ts";
import { hookAddresses } from "../hook/http-form.ts";

/** Returns what hooks of others do to the decisions of people, in the folder of this command: one sentence for each file. */
export function besideSentences(agent: PromptingAgent, env: Io["env"], url?: string): string[] {
  return hooksBeside(agent, env, process.cwd(), hookAddresses(agent, url, env));
}

/** Returns a sentence for each part that an installed hook names and that is not there. */
function missingSentences(agent: PromptingAgent, env: Io["env"]): string[] {
  const texts = hookFilesOf(agent, env).map(({ path }) => textIn(resolve(path)) ?? "");
  const starts = texts.flatMap((text) => startsIn(text, agent.name, env));
  const missing = starts.map((start) => missingPart(start, env)).filter((one) => one !== null);
  return missing.map((why) => `${agent.title}: its hook ${why}.`);
}

/** Tells of a client's permission prompt that its hook brings to the same people, where Claude Code has both. */
export async function tellSecondWay(io: Io): Promise<void> {
  const own = () => hookAddresses({ name: "claude" }, undefined, io.env);
  const states = await readLocalAgents(io.env, own);
  if (!states.some(({ name, hasHook }) => name === "claude" && hasHook === true)) return;
  const { hookNote } = (await AGENTS["claude"]?.load()) ?? {};
  if (hookNote !== undefined) io.tell(hookNote);
}

/** Returns facts for a report: the sentences about each agent of this computer that has Parley's hook. It starts no program. */
export async function besideFacts(env: Io["env"]): Promise<Record<string, string>> {
  const own = () => Object.keys(AGENTS).flatMap((name) => hookAddresses({ name }, undefined, env));
  const hooked = (await readLocalAgents(env, own)).filter(({ hasHook }) => hasHook === true);
  const facts = hooked.map(async ({ name }) => {
    const agent = await AGENTS[name]?.load();
    const sentences = agent
      ? [...missingSentences(agent, env), ...besideSentences(agent, env), ...(agent.hookNote ? [agent.hookNote] : [])]
      : [];
    return [`hooks_${name}`, sentences.join(" ")] as const;
  });
  return Object.fromEntries((await Promise.all(facts)).filter(([, text]) => text !== ""));
}
