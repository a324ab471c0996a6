import { timingSafeEqual } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import { passedHeaders, passOn, pathBelow } from "../../lib/network/pass-on.ts";
import type { AgentSettings } from "../agents/agent.ts";

/** A model's key that its agent never has, and where it is added. */
export interface KeptKey {
  /** The variables for the key and the model's address, which are set to other values for the agent. */
  keyName: string;
  urlName: string;
  key: string;
  url: string;
}

const CLAUDE = { urlName: "ANTHROPIC_BASE_URL", usual: "https://api.anthropic.com" };
const GEMINI = { urlName: "GOOGLE_GEMINI_BASE_URL", usual: "https://generativelanguage.googleapis.com" };
/** Agents that take the address of their model from a variable. */
const PROVIDERS: Readonly<Record<string, { urlName: string; usual: string; keyNames: readonly string[] }>> = {
  claude: { ...CLAUDE, keyNames: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] },
  gemini: { ...GEMINI, keyNames: ["GEMINI_API_KEY"] },
};

/**
 * Returns the key that stays outside for this agent; null where it is to be given its key.
 *
 * @throws {Error} for an agent whose model address cannot be set
 */
export function keptKeyOf(agent: AgentSettings, env: Readonly<Record<string, string>>): KeptKey | null {
  if (!agent.keyProxy) return null;
  const provider = PROVIDERS[agent.type === "acp" ? agent.flavour : agent.type];
  if (!provider) throw new Error(`agents.${agent.name}.key_proxy is for claude and gemini only`);
  const { urlName, usual, keyNames } = provider;
  const keyName = keyNames.find((name) => env[name]);
  const key = keyName === undefined ? undefined : env[keyName];
  if (keyName === undefined || !key) throw new Error(`agents.${agent.name}.key_proxy needs ${keyNames[0]} in pass_env`);
  return { keyName, urlName, key, url: env[urlName] || usual };
}

/**
 * Returns what stands in the model's place: it passes every request on that shows `token` where a key belongs, with the
 * key there (spec/assignment 6).
 */
export function openKeyProxy({ key, url }: KeptKey, token: string): Server {
  const to = new URL(url);
  return createServer((http, reply) => {
    const carrier = Object.entries(http.headers).find(([, value]) => isToken(value, token));
    if (!carrier) return refuse(reply, 401, "This address serves one agent only.");
    const shown = { [carrier[0]]: String(carrier[1]).replace(token, () => key) };
    passOn(http, reply, {
      to,
      path: pathBelow(to, http),
      headers: { ...passedHeaders(http.headers, ["host"]), ...shown },
      onUnreachable: () => refuse(reply, 502, "The model cannot be reached."),
    });
  });
}

/** A key stands in a header of its own, or in `authorization` after its scheme. */
function isToken(value: string | string[] | undefined, token: string): boolean {
  const shown = Buffer.from(String(value ?? "").replace(/^bearer /i, ""));
  const wanted = Buffer.from(token);
  return shown.length === wanted.length && timingSafeEqual(shown, wanted);
}

function refuse(reply: ServerResponse, status: number, message: string): void {
  reply.writeHead(status, { "content-type": "application/json" });
  reply.end(JSON.stringify({ error: { message } }));
}
