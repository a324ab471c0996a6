import type { AgentPrompt, PromptDecision, PromptingAgent } from "../../connect/agent.ts";
import { decided, readTimeout, type How } from "../../connect/decided.ts";
import { CouldNotAsk, type ServerAccess } from "../../connect/people-requests.ts";
import { AGENTS } from "../../connect/registry.ts";
import { parseExactJson } from "../../lib/json/exact-json.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { Refusal } from "../../refusals.ts";
import { readJson } from "../http/body.ts";
import { goneSignal, principalOf, type Door, type DoorContext, type FastifyRequest } from "../http/door.ts";
import { keyHolder } from "../http/principals.ts";
import { queryTexts } from "../http/query.ts";
import { openPrompts, type OpenPrompts } from "./open-prompts.ts";
import { ownFetch } from "./own-fetch.ts";

/** The results of tools, which are not looked at, are the largest part of what agents send. */
const MOST_BYTES = 2 * 1_048_576;
const MOST_DEPTH = 64;
const JSON_TYPE = "application/json; charset=utf-8";
/** The agent reads this as no decision, and shows nothing. */
const NOTHING = "{}";
const FIELDS = ["to", "timeout"];

/**
 * The entry for coding agents that send their prompts by HTTP (spec/a2h 21). It is `parley hook claude` within the
 * server: it asks through the A2H door with the caller's key, and allows only what that door has stored as approved.
 */
export function agentPrompts(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    const claude = await AGENTS["claude"]?.load();
    if (claude) promptEntry(app, door, claude);
  };
}

function promptEntry(app: Door, door: DoorContext, agent: PromptingAgent): void {
  const open = openPrompts();
  app.post(
    `/hooks/${agent.name}`,
    {
      bodyLimit: MOST_BYTES,
      // No page of another site may ask here, also where pages may use other routes.
      config: { takesBody: true, maxBodyBytes: MOST_BYTES, cors: [] },
      schema: { hide: true },
      onRequest: async (request) => authenticate(door, request),
    },
    async (request, reply) => {
      const how = readHow(request);
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      refuseManyValues(bytes);
      const prompt = understood(() => agent.read(bytes));
      await yieldAfterLarge(bytes);
      reply.type(JSON_TYPE);
      if (prompt) return answerOf({ app, door, agent, open }, request, { prompt, how, gone: goneSignal(reply) });
      const use = understood(() => agent.readUseOver?.(bytes));
      if (use) open.end(principalOf(request), use);
      return NOTHING;
    },
  );
}

/** @throws {Refusal} as the A2H door does */
async function authenticate(door: DoorContext, request: FastifyRequest): Promise<void> {
  const key = await keyHolder(door, request, { bound: true });
  if (!("open" in key) && key.scope !== "agent") throw new Refusal("scope_missing", { scope: "agent" });
  request.facts.principal = "open" in key ? key.open : key.principal;
}

/** Reads the flags of the command from the query. A flag that is not known here might be a condition: it is refused. */
function readHow({ query }: FastifyRequest): How {
  const [to, ...more] = queryTexts(query, "to");
  const [timeout, ...others] = queryTexts(query, "timeout");
  const unknown = Object.keys(query as object).find((name) => !FIELDS.includes(name));
  const timeoutSeconds = readTimeout(timeout);
  if (unknown !== undefined)
    throw refused(`The address has an unknown field, ${JSON.stringify(unknown.slice(0, 40))}.`);
  if (timeoutSeconds === null || others.length > 0) throw refused("timeout must be one time from 10s to 30d.");
  if (to === "" || more.length > 0) throw refused("to must name one person or group.");
  return { to, by: undefined, timeoutSeconds };
}

/** Keeps a large body from holding the event loop. JSON that is not exact stays for the agent's own reading. */
function refuseManyValues(bytes: Uint8Array): void {
  try {
    readJson(bytes, parseExactJson, { maxDepth: MOST_DEPTH });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "too_many_values") throw error;
  }
}

/** @throws {Refusal} in place of an error that says why the body is no hook */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw refused("The body is no event of a hook as this agent sends it.");
  }
}

function refused(says: string): Refusal {
  return new Refusal("invalid_input", {}, says);
}

interface Entry {
  app: Door;
  door: DoorContext;
  agent: PromptingAgent;
  open: OpenPrompts;
}

interface Asked {
  prompt: AgentPrompt;
  how: How;
  /** Aborted when the agent has closed its connection. */
  gone: AbortSignal;
}

/** Returns what the agent reads. The request is withdrawn when nobody waits for it any more. */
async function answerOf({ app, door, agent, open }: Entry, request: FastifyRequest, asked: Asked): Promise<string> {
  const { prompt, how, gone } = asked;
  const { ctx, config } = door;
  const there = new AbortController();
  using _open = open.add(principalOf(request), prompt, () => there.abort());
  const signal = AbortSignal.any([gone, there.signal, ctx.stopping]);
  const place: ServerAccess = {
    url: config.publicUrl,
    ...callerOf(agent, request),
    clock: ctx.clock,
    fetch: ownFetch(app, request),
    signal,
  };
  const decision = await decided(place, agent, prompt, how).catch((error: unknown): PromptDecision => {
    if (!(error instanceof CouldNotAsk) && !signal.aborted) {
      ctx.log.error({ err: error, requestId: request.id }, "a prompt of an agent could not be asked");
    }
    const why = error instanceof CouldNotAsk ? error.message : "Something went wrong.";
    return { is: "undecided", because: `Parley could not ask anybody. ${why}` };
  });
  // A person has decided at the agent's own terminal, and needs no notice.
  return there.signal.aborted ? NOTHING : agent.print(prompt, decision);
}

/** Returns how the caller shows who it is, for the A2H door to judge by itself. */
function callerOf(
  { agentId }: PromptingAgent,
  { headers, facts }: FastifyRequest,
): { key: string | undefined; agentId: string } {
  const named = headers["x-agent-id"];
  const key = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? facts.pathKey;
  return { key, agentId: typeof named === "string" && named !== "" ? named : agentId };
}
