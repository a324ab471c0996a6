import type { AgentPrompt, PromptDecision, PromptingAgent, UseOver } from "../../connect/agent.ts";
import { decided, readTimeout, type How, type WayToPeople } from "../../connect/decided.ts";
import { CouldNotAsk, type Ended } from "../../connect/people-requests.ts";
import { AGENTS } from "../../connect/registry.ts";
import { marksOf, printedNotes, runOfSession } from "../../connect/use-over.ts";
import { parseExactJson } from "../../lib/json/exact-json.ts";
import { openMemberSkip } from "../../lib/json/skip-member.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { Refusal } from "../../refusals.ts";
import { noteGiven, readWaitingNotes } from "../../requests/notes/give-notes.ts";
import { reportUse } from "../../requests/outcome/report-use.ts";
import { readJson } from "../http/body.ts";
import {
  principalOf,
  PromptRefused,
  type AskPrompt,
  type Door,
  type DoorContext,
  type FastifyReply,
  type FastifyRequest,
  type PromptingCaller,
} from "../http/door.ts";
import { held } from "../http/held.ts";
import { keyHolder } from "../http/principals.ts";
import { queryTexts } from "../http/query.ts";
import { openPrompts, type OpenPrompts } from "./open-prompts.ts";

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
const FIELDS = ["to", "timeout", "reports"];

/**
 * The entry for coding agents that send their prompts by HTTP (spec/a2h 21). It is `parley hook claude` within the
 * server: it asks by the rules of the A2H door, and allows only what is stored as approved.
 */
export function agentPrompts(door: DoorContext, ask: AskPrompt): (app: Door) => Promise<void> {
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request: FastifyRequest, payload: AsyncIterable<Uint8Array>) =>
      bytesWithoutResult(payload),
    );
    const claude = await AGENTS["claude"]?.load();
    if (claude) promptEntry(app, { door, ask, agent: claude, open: openPrompts() });
  };
}

interface Entry {
  door: DoorContext;
  ask: AskPrompt;
  agent: PromptingAgent;
  open: OpenPrompts;
}

function promptEntry(app: Door, entry: Entry): void {
  const { agent } = entry;
  const callers = new WeakMap<FastifyRequest, PromptingCaller>();
  app.post(
    `/hooks/${agent.name}`,
    {
      bodyLimit: MOST_SENT_BYTES,
      // No page of another site may ask here, also where pages may use other routes.
      config: { takesBody: true, maxBodyBytes: MOST_SENT_BYTES, cors: [] },
      schema: { hide: true },
      onRequest: async (http) => {
        const caller = await callerFrom(entry, http);
        callers.set(http, caller);
        http.facts.principal = caller.principal;
      },
    },
    async (http, reply) => {
      const how = readHow(http);
      const bytes = Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0);
      refuseManyValues(bytes);
      const prompt = understood(() => agent.read(bytes));
      await yieldAfterLarge(bytes);
      reply.type(JSON_TYPE);
      const caller = callers.get(http);
      if (prompt && caller) return answerOf(entry, { http, reply, caller }, prompt, how);
      const use = understood(() => agent.after?.read(bytes));
      if (!use || !caller) return NOTHING;
      await endUse(entry, caller, use);
      return notesAfter(entry, { http, reply, caller }, use);
    },
  );
}

/** Ends the wait of a prompt that was decided elsewhere, and stores how one ended that was approved here. */
async function endUse({ door, agent, open }: Entry, caller: PromptingCaller, use: UseOver): Promise<void> {
  const { principal: asker, conversation } = caller;
  open.end(asker, use);
  if (use.end === null) return;
  const { use: name, use_digest: useDigest } = marksOf(use);
  const whose = { promptOf: agent.name, asker, ...(conversation !== null && { conversation }) };
  const marks = {
    tool: use.tool,
    ...(name !== undefined && { use: name }),
    ...(useDigest !== undefined && { useDigest }),
  };
  const report = { state: use.end, ...(use.status !== undefined && { words: use.status }) };
  await reportUse(door.ctx, { ...whose, ...marks }, report);
}

/** Returns the notes that wait for the agent, as it reads them after a tool. They wait on until this reply has left. */
async function notesAfter({ door: { ctx } }: Entry, { reply, caller }: Sent, use: UseOver): Promise<string> {
  const { session, takesNotesAt } = use;
  if (takesNotesAt === undefined) return NOTHING;
  const run = { agent: caller.principal, run: runOfSession(session) };
  const notes = await readWaitingNotes(ctx, run);
  if (notes.length === 0) return NOTHING;
  const ids = notes.map(({ id }) => id);
  const noteThem = () => noteGiven(ctx, run, ids).catch((err: unknown) => ctx.log.error({ err }, "notes stay waiting"));
  reply.raw.once("finish", () => void noteThem());
  return printedNotes(
    takesNotesAt,
    notes.map(({ text }) => text),
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

/** Returns who asks; a program without a key and a name has the name of the agent. @throws {Refusal} as the A2H door does */
async function callerFrom({ door, agent }: Entry, http: FastifyRequest): Promise<PromptingCaller> {
  http.headers["x-agent-id"] ||= agent.agentId;
  const key = await keyHolder(door, http, { bound: true });
  if ("open" in key) return { principal: key.open, isOpen: true, channel: null, conversation: null };
  const { scope, principal, channel, conversation } = key;
  if (scope !== "agent") throw new Refusal("scope_missing", { scope: "agent" });
  return { principal, isOpen: false, channel, conversation };
}

/** Reads the flags of the command from the query. A flag that is not known here might be a condition: it is refused. */
function readHow({ query }: FastifyRequest): How {
  const [to, ...more] = queryTexts(query, "to");
  const [timeout, ...others] = queryTexts(query, "timeout");
  const [reports, ...again] = queryTexts(query, "reports");
  const unknown = Object.keys(query as object).find((name) => !FIELDS.includes(name));
  const timeoutSeconds = readTimeout(timeout);
  if (unknown !== undefined)
    throw refused(`The address has an unknown field, ${JSON.stringify(unknown.slice(0, 40))}.`);
  if (timeoutSeconds === null || others.length > 0) throw refused("timeout must be one time from 10s to 30d.");
  if (to === "" || more.length > 0) throw refused("to must name one person or group.");
  if ((reports ?? "end") !== "end" || again.length > 0) throw refused("reports must be end.");
  return { to, by: undefined, timeoutSeconds, reports: reports === "end" };
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

/** A request of an agent, and who sent it. */
interface Sent {
  http: FastifyRequest;
  reply: FastifyReply;
  caller: PromptingCaller;
}

/** Returns what the agent reads. The request to people is withdrawn when nobody waits for it any more. */
async function answerOf(entry: Entry, sent: Sent, prompt: AgentPrompt, how: How): Promise<string> {
  const { door, agent, open } = entry;
  const there = new AbortController();
  using _open = open.add(principalOf(sent.http), prompt, () => there.abort());
  const way = wayWithin(entry, sent, there.signal);
  const decision = await decided(way, agent, prompt, how).catch((error: unknown): PromptDecision => {
    if (!(error instanceof CouldNotAsk) && !way.signal.aborted) {
      door.ctx.log.error({ err: error, requestId: sent.http.id }, "a prompt of an agent could not be asked");
    }
    const why = error instanceof CouldNotAsk ? error.message : "Something went wrong.";
    return { kind: "undecided", because: `Parley could not ask anybody. ${why}` };
  });
  // A person has decided at the agent's own terminal, and needs no notice.
  return there.signal.aborted ? NOTHING : agent.print(prompt, decision);
}

/** Returns the way to people by the verbs of this server, whose own store says what was approved. */
function wayWithin({ door, ask }: Entry, { http, reply, caller }: Sent, decidedThere: AbortSignal): WayToPeople {
  const { clock, stopping } = door.ctx;
  return {
    clock,
    leaseSeconds: LEASE_S,
    signal: AbortSignal.any([decidedThere, stopping]),
    async ask(kind, body, signal) {
      const prompt = { kind: kind === "function_calls" ? "call" : "contact", body: { ...body } } as const;
      try {
        // It ends too when the agent closes its connection, and when its key is revoked.
        const { callId, status } = await held(door, http, reply, (over) =>
          ask(caller, prompt, AbortSignal.any([signal, over])),
        );
        return { callId, ended: status as Ended };
      } catch (error) {
        if (error instanceof Refusal || error instanceof PromptRefused) throw new CouldNotAsk(error.message);
        throw error;
      }
    },
  };
}
