import type { AgentRules } from "../../tasks/model/rules.ts";
import { agentNamed, type WorkshopContext } from "../workshop-context.ts";

const USUAL: Readonly<Record<string, readonly string[]>> = {
  claude: ["api.anthropic.com"],
  codex: ["api.openai.com", "chatgpt.com", "auth.openai.com"],
  gemini: ["generativelanguage.googleapis.com", "oauth2.googleapis.com", "cloudcode-pa.googleapis.com"],
  opencode: ["api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai"],
};

/** Returns the hosts where an agent's model may be: those of its provider, and those its environment names instead. */
export function modelHosts(
  agent: Pick<AgentRules, "type" | "flavour">,
  env: Readonly<Record<string, string>>,
): string[] {
  const kind = agent.type === "acp" ? agent.flavour : agent.type;
  const named = Object.entries(env).flatMap(([name, value]) => {
    if (!/_(BASE_URL|ENDPOINT)$/.test(name) || !URL.canParse(value)) return [];
    const { protocol, host, hostname, port } = new URL(value);
    if (port !== "") return [host];
    // A name alone is port 443.
    return [protocol === "http:" ? `${hostname}:80` : hostname];
  });
  return [...(USUAL[kind] ?? []), ...named];
}

/** Returns what of the server's environment an agent is given. */
export function passedEnv(workshop: WorkshopContext, agent: string): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of agentNamed(workshop, agent).passEnv) {
    const value = workshop.env[name];
    if (value !== undefined) given[name] = value;
  }
  return given;
}
