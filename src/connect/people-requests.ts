import type { Clock } from "../lib/clock.ts";
import type { DeciderInReply } from "./decided-by.ts";
import type { ReceiptKeys } from "@parley/sdk/receipts";
import type { CallStatus, HumanContact } from "@parley/sdk/wire";
import { type HttpExchange, type HttpReceived, TooLong } from "../lib/network/exchange.ts";
import { Redirected } from "../lib/network/fetch.ts";
import { parseExactJson } from "../lib/json/exact-json.ts";
import { printable } from "../lib/printable.ts";

/**
 * How a request to people ended, as far as whoever asked may know. A reply with another type in a member is no reply. A
 * server before 0.3 states no receipt.
 */
export type Ended = Partial<
  Omit<CallStatus & Pick<HumanContact["status"], "response" | "response_option_name">, "user_info">
> & { user_info?: DeciderInReply };

/** Nobody could be asked, or no answer arrived: the decision is never yes. */
export class CouldNotAsk extends Error {}

/** The public keys of servers, kept from earlier prompts. */
interface KeptKeys {
  /** Returns the keys of a server that were last kept. */
  of(url: string): ReceiptKeys["keys"];
  /** Keeps these in place of the server's. */
  keep(url: string, keys: ReceiptKeys["keys"]): Promise<void>;
}

export interface ServerAccess {
  url: string;
  key: string | undefined;
  /** The name of a program without a key. */
  agentId: string;
  clock: Clock;
  exchange: HttpExchange;
  /** Aborted when whoever asks wants to know no more; the request is withdrawn then. */
  signal: AbortSignal;
  /** The keys of servers that were kept from earlier prompts; left out, they are asked for each time. */
  keptKeys?: KeptKeys;
  /** A request that nobody has waited for during this time is withdrawn by the server. */
  leaseSeconds: number;
}

/** How a request ended, and under which id it was asked: a use that another hook asks about has the other's. */
export interface Asked {
  callId: string;
  ended: Ended;
}

export type Kind = "function_calls" | "human_contacts";

/** A request about a prompt, as the body of `POST /function_calls` or `/human_contacts`. */
export interface PromptRequest {
  run_id: string;
  call_id: string;
  reports?: "end";
  agent_prompt: { use?: string };
  spec: Record<string, unknown> & { timeout_seconds: number };
}

const BASE = "/a2h/v1alpha1";
/** For how long one reply is held by the server. */
const HOLD_S = 50;
const REPLY_MS = 20_000;
/** For how long a server that is away is tried again: shortly before anybody was asked, longer once somebody was. */
const FIRST_PATIENCE_MS = 5000;
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1000;
/** The server ends the request at its deadline; whoever hears nothing of it gives up a little later. */
const LATE_MS = 30_000;
const WITHDRAWN_WITHIN_MS = 2000;
const MOST_DEPTH = 64;
/** The reason of a withdrawal, for people who read of it. */
const NOBODY_WAITS = "Nobody waits for it any more.";

/**
 * Asks people through the A2H door and returns how it ended. A request that is made twice is one, so everything is tried
 * again while the server is away, for a minute once it was made.
 *
 * @throws {CouldNotAsk} in one sentence
 */
export async function askPeople(place: ServerAccess, kind: Kind, request: PromptRequest): Promise<Asked> {
  const { clock, signal } = place;
  const until = clock.monotonic() + request.spec.timeout_seconds * 1000 + LATE_MS;
  if (signal.aborted) throw new CouldNotAsk("The request was withdrawn.");
  let callId = request.call_id;
  try {
    // One that is on its way cannot be withdrawn before it is stored.
    using later = endingAfterAbort(place);
    const body = JSON.stringify(request);
    const stored = await tried({ ...place, signal: later.signal }, "POST", `/${kind}`, body);
    // A use that another hook asks about has that hook's id; the reply says that it is this use.
    const { use } = request.agent_prompt;
    callId = idOf(stored, use !== undefined && stored.use === use ? undefined : callId);
    let { status } = stored;
    while (status["resolved_at"] === undefined) {
      if (signal.aborted) throw new CouldNotAsk("The request was withdrawn.");
      const start = clock.monotonic();
      if (start > until) throw new CouldNotAsk("The server did not say how the request ended.");
      const read = await tried(place, "GET", `/${kind}/${encodeURIComponent(callId)}?wait=${HOLD_S}`);
      idOf(read, callId);
      status = read.status;
      // A server that does not hold reads must not be asked in a tight loop.
      const isHeld = clock.monotonic() - start >= PAUSE_MS;
      if (!isHeld && status["resolved_at"] === undefined) await clock.sleep(PAUSE_MS, signal);
    }
    return { callId, ended: endedIn(status) };
  } catch (error) {
    await withdraw(place, kind, callId);
    throw error;
  }
}

/** Withdraws a request that is no longer waited for, so that it leaves the inboxes. */
async function withdraw(place: ServerAccess, kind: Kind, callId: string): Promise<void> {
  const { signal: _, ...rest } = place;
  const path = `/agent/${kind}/${encodeURIComponent(callId)}/cancel`;
  const body = JSON.stringify({ reason: NOBODY_WAITS });
  using soon = endingAfter(place.clock, WITHDRAWN_WITHIN_MS);
  await send({ ...rest, signal: soon.signal }, "POST", path, body).catch(() => undefined);
}

/**
 * Tells the server once how a use of a tool ended; it says nothing about whether a request of it was known. Returns the
 * notes of people that wait for the agent, as it reads them; none from a server of an earlier version.
 *
 * @throws {Error}
 */
export async function tellUseOver(place: ServerAccess, report: object): Promise<{ id: string; text: string }[]> {
  const reply = await exchange(place, "POST", `${BASE}/agent_prompts/outcome`, JSON.stringify(report));
  const { notes } = reply.status === 200 ? parsed(reply.bytes) : {};
  return Array.isArray(notes) ? notes.filter(isNote) : [];
}

function isNote(value: unknown): value is { id: string; text: string } {
  const { id, text } = Object(value) as Record<string, unknown>;
  return typeof id === "string" && typeof text === "string";
}

/** Tells the server that the agent of a session has these notes. @throws {Error} */
export async function tellNotesGiven(place: ServerAccess, given: { run_id: string; notes: string[] }): Promise<void> {
  await exchange(place, "POST", `${BASE}/agent_prompts/notes`, JSON.stringify(given));
}

const TEXTS = ["comment", "response", "response_option_name", "consent_digest", "receipt", "receipt_key", "ask_id"];
const SWITCHES = ["approved", "edited", "expired", "cancelled"];

/** Returns the end that the status of a reply states. @throws {CouldNotAsk} where a member has another type */
function endedIn(status: Record<string, unknown>): Ended {
  const { user_info: user } = status;
  const { id, name, enrolled } = Object(user) as Record<string, unknown>;
  const are = (type: string, values: readonly unknown[]) =>
    values.every((value) => value === undefined || value === null || typeof value === type);
  const isEnd =
    are("object", [user]) &&
    are("string", [id, name, ...TEXTS.map((member) => status[member])]) &&
    are("boolean", [enrolled, ...SWITCHES.map((member) => status[member])]);
  if (!isEnd) throw new CouldNotAsk("The server's reply has another form.");
  // Servers leave a member out, or say that there is nothing.
  const { user_info: _, ...said } = Object.fromEntries(Object.entries(status).filter(([, value]) => value !== null));
  return user ? { ...said, user_info: user as DeciderInReply } : said;
}

/** Returns the id of the request that a reply is about: this one, where one is given. @throws {CouldNotAsk} */
function idOf({ call_id: named }: Reply, callId: string | undefined): string {
  if (typeof named !== "string" || (callId !== undefined && named !== callId)) {
    throw new CouldNotAsk("Parley answered for another request.");
  }
  return named;
}

async function tried(place: ServerAccess, method: string, path: string, body?: string): Promise<Reply> {
  return again(place, method === "POST" ? FIRST_PATIENCE_MS : PATIENCE_MS, () => send(place, method, path, body));
}

/** Resolves with what `once` does, tried again while the server is away. @throws {CouldNotAsk} in one sentence */
async function again<T>({ clock, signal, url }: ServerAccess, patienceMs: number, once: () => Promise<T>): Promise<T> {
  const start = clock.monotonic();
  for (;;) {
    try {
      return await once();
    } catch (error) {
      if (error instanceof CouldNotAsk || signal.aborted) throw error;
      if (error instanceof Redirected || error instanceof TooLong) throw new CouldNotAsk(error.message);
      if (clock.monotonic() - start >= patienceMs) throw new CouldNotAsk(`No Parley server answers at ${url}.`);
      await clock.sleep(PAUSE_MS, signal);
    }
  }
}

/**
 * Returns what stands at a path of the server; nothing where it says that there is nothing.
 *
 * @throws {CouldNotAsk} in one sentence
 */
export async function readThere(place: ServerAccess, path: string): Promise<string | null> {
  const { status, bytes } = await again(place, FIRST_PATIENCE_MS, () => exchange(place, "GET", path));
  if (status === 404 || status === 410) return null;
  if (status !== 200) throw new CouldNotAsk(`The server replied to ${path} with status ${status}.`);
  return new TextDecoder().decode(bytes);
}

interface Reply {
  call_id: unknown;
  /** The use of a tool that the request is about. */
  use: unknown;
  status: Record<string, unknown>;
}

async function send(place: ServerAccess, method: string, path: string, body?: string): Promise<Reply> {
  const reply = await exchange(place, method, `${BASE}${path}`, body);
  const replyBody = parsed(reply.bytes);
  const { call_id, agent_prompt: prompt, status } = replyBody;
  if (reply.status >= 200 && reply.status < 300 && typeof status === "object" && status !== null) {
    const { use } = Object(prompt) as { use?: unknown };
    return { call_id, use, status: status as Record<string, unknown> };
  }
  const refusal = sentenceOf(replyBody);
  throw new CouldNotAsk(
    refusal === undefined
      ? `What answers at ${place.url} is no Parley server: it replied with status ${reply.status}.`
      : `Parley refused the request: ${refusal}`,
  );
}

/** Makes one request. @throws {Error} for a reply that a later one may replace */
async function exchange(
  { url, key, agentId, exchange, signal, clock }: ServerAccess,
  method: string,
  path: string,
  body?: string,
): Promise<HttpReceived> {
  using late = endingAfter(clock, HOLD_S * 1000 + REPLY_MS);
  const reply = await exchange(`${url}${path}`, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key === undefined ? { "x-agent-id": agentId } : { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.any([signal, late.signal]),
  });
  if (reply.status === 429 || reply.status >= 500) throw new Error(`status ${reply.status}`);
  return reply;
}

/** Returns a signal that is aborted after a while, until it is disposed of. */
function endingAfter(clock: Clock, ms: number): { signal: AbortSignal } & Disposable {
  const late = new AbortController();
  const over = new AbortController();
  void clock.sleep(ms, over.signal).then(() => late.abort());
  return { signal: late.signal, [Symbol.dispose]: () => over.abort() };
}

/** Returns a signal that is aborted shortly after the place's own, until it is disposed of. */
function endingAfterAbort({ clock, signal }: ServerAccess): { signal: AbortSignal } & Disposable {
  const [late, over] = [new AbortController(), new AbortController()];
  const wait = () => void clock.sleep(WITHDRAWN_WITHIN_MS, over.signal).then(() => late.abort());
  signal.addEventListener("abort", wait, { once: true, signal: over.signal });
  return { signal: late.signal, [Symbol.dispose]: () => over.abort() };
}

function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value = parseExactJson(bytes, { maxDepth: MOST_DEPTH });
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function sentenceOf({ error }: Record<string, unknown>): string | undefined {
  const { message } = (typeof error === "object" && error !== null ? error : {}) as { message?: unknown };
  return typeof message === "string" ? printable(message) : undefined;
}
