import type { AgentPrompt, PromptDecision, PromptingAgent } from "../../connect/agent.ts";
import { decided, readTimeout, type How } from "../../connect/decided.ts";
import { CouldNotAsk, type Kind, type ServerAccess } from "../../connect/people-requests.ts";
import { AGENTS } from "../../connect/registry.ts";
import { parseExactJson } from "../../lib/json/exact-json.ts";
import { openMemberSkip } from "../../lib/json/skip-member.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";
import { cancelRequest, NOBODY_WAITS } from "../../requests/end.ts";
import { readAnyByRef } from "../../requests/read.ts";
import { readJson } from "../http/body.ts";
import { goneSignal, principalOf, type Door, type DoorContext, type FastifyRequest } from "../http/door.ts";
import { keyHolder } from "../http/principals.ts";
import { queryTexts } from "../http/query.ts";
import { openPrompts, type OpenPrompts } from "./open-prompts.ts";
import { ownExchange } from "./own-fetch.ts";

/** The longest event without the result of its tool, in bytes. */
const MOST_BYTES = 2 * 1_048_576;
/** The longest event: a result may be a picture or a long list. */
const MOST_SENT_BYTES = 64 * 1_048_576;
const RESULT = "tool_response";
const MOST_DEPTH = 64;
/** A prompt leaves the inbox so long after its server was killed. */
const LEASE_S = 30;
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
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request: FastifyRequest, payload: AsyncIterable<Uint8Array>) =>
      bytesWithoutResult(payload),
    );
    const claude = await AGENTS["claude"]?.load();
    if (claude) promptEntry(app, door, claude);
  };
}

function promptEntry(app: Door, door: DoorContext, agent: PromptingAgent): void {
  const open = openPrompts();
  app.post(
    `/hooks/${agent.name}`,
    {
      bodyLimit: MOST_SENT_BYTES,
      // No page of another site may ask here, also where pages may use other routes.
      config: { takesBody: true, maxBodyBytes: MOST_SENT_BYTES, cors: [] },
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

/** Returns the bytes of an event without the result of its tool, which nobody reads. @throws {Refusal} `body_too_large` */
async function bytesWithoutResult(payload: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const skip = openMemberSkip(RESULT);
  const pieces: Uint8Array[] = [];
  let [sentBytes, keptBytes] = [0, 0];
  for await (const piece of payload) {
    const kept = skip.push(piece);
    pieces.push(kept);
    sentBytes += piece.length;
    keptBytes += kept.length;
    const isTooLarge = keptBytes > MOST_BYTES || sentBytes > MOST_SENT_BYTES;
    if (isTooLarge)
      throw new Refusal("body_too_large", { max_bytes: keptBytes > MOST_BYTES ? MOST_BYTES : MOST_SENT_BYTES });
  }
  return Buffer.concat(pieces);
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
    exchange: ownExchange(app, request),
    signal,
    leaseSeconds: LEASE_S,
    withdraw: (kind, callId) => withdrawPrompt(ctx, kind, callId),
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

/** Withdraws a prompt by the verb: a server that stops refuses requests of its own, too. */
async function withdrawPrompt(ctx: Context, kind: Kind, callId: string): Promise<void> {
  // Its id is random, and of one asker therefore.
  const { id, asker } = await readAnyByRef(ctx, `${kind === "function_calls" ? "call" : "contact"}:${callId}`);
  await cancelRequest(ctx, id, { kind: "agent", id: asker }, NOBODY_WAITS);
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
