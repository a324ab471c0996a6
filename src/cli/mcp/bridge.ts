import { ParleyError } from "@parley/sdk/errors";
import { AWAY_MS, mayPass, persist } from "@parley/sdk/connection";
import { newKey } from "@parley/sdk/idempotency-key";
import { type Clock, steady } from "../../lib/clock.ts";
import { Redirected } from "../../lib/network/fetch.ts";
import { linesOf } from "../../lib/lines.ts";
import { discoverResult, initializeResult, listResult, MODERN } from "../../protocols/mcp/opening.ts";
import { errorJson, membersOf, resultJson, RPC, type RpcId } from "../../protocols/mcp/rpc.ts";
import { APPROVE_TOOL, isWaiting, USE_TOOL } from "../../protocols/mcp/tools.ts";
import { pauseMs, sendOnce } from "../../workshop/mcp/upstream.ts";

/** How long replies under way may still take once nobody sends any more. */
const LAST_REPLIES_MS = 2000;
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

export interface BridgeOptions {
  /** Where the server is. */
  url: string;
  key: string | undefined;
  clock: Clock;
  fetch: typeof globalThis.fetch;
  /** Writes one line of JSON-RPC. */
  write(line: string): void;
  /** Tells whoever reads the log. */
  log(line: string): void;
  /** Called once, at the first permission prompt of the client. */
  atFirstPrompt?: () => void;
}

type Json = Record<string, unknown>;

interface Request {
  id: RpcId;
  method: string;
  params: Json;
  version: string | undefined;
  line: string;
}

/**
 * Carries messages between a client's pipes and the server, one HTTP request each, until the client sends no more
 * (spec/mcp 1). A server that is away is tried again for a minute, and a wait that broke off is asked
 * for anew: the question is the server's, so nothing is lost. How a connection opens and which tools there are is
 * answered here while the server is away, so that a client which starts first still comes up.
 */
export async function bridge(input: AsyncIterable<Uint8Array>, options: BridgeOptions): Promise<void> {
  const { write, log } = options;
  const underWay = new Map<RpcId, { abort: AbortController; isWait: boolean; done: Promise<void> }>();
  let negotiated: string | undefined;
  let isPrompted = false;

  for await (const line of linesOf(input)) {
    if (line.trim() === "") continue;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      write(errorJson({ code: RPC.parse, message: "The line is not valid JSON", data: undefined, id: undefined }));
      continue;
    }
    const { id, method, params } = isObject(message) ? message : {};
    const given = isObject(params) ? params : {};
    if (method === "notifications/cancelled") {
      underWay.get(given["requestId"] as RpcId)?.abort.abort();
      continue;
    }
    // The server takes notifications and responses, and ignores them.
    if (isObject(message) && (id === undefined || method === undefined)) continue;
    if (!isRpcId(id) || typeof method !== "string") {
      const problem = "The line is not one JSON-RPC request";
      write(errorJson({ code: RPC.invalidRequest, message: problem, data: undefined, id: undefined }));
      continue;
    }
    const meta = isObject(given["_meta"]) ? given["_meta"] : {};
    const claimed = typeof meta[VERSION_KEY] === "string" ? meta[VERSION_KEY] : undefined;
    if (method === "initialize") {
      negotiated = (initializeResult(given["protocolVersion"]) as { protocolVersion: string }).protocolVersion;
    }
    const version = claimed ?? (method === "initialize" ? undefined : negotiated);
    if (method === "tools/call" && given["name"] === APPROVE_TOOL && !isPrompted) {
      isPrompted = true;
      options.atFirstPrompt?.();
    }
    const request = { id, method, params: given, version, line };
    const abort = new AbortController();
    const done = exchange(request, abort.signal, options)
      .catch((error: unknown) => {
        log(`parley mcp: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
        write(errorJson({ code: RPC.internal, message: "Internal error", data: undefined, id }));
      })
      .finally(() => {
        if (underWay.get(id)?.abort === abort) underWay.delete(id);
      });
    const isWait = isWaiting(given["name"]) || method === "subscriptions/listen";
    underWay.set(id, { abort, isWait, done });
  }

  const last = [...underWay.values()];
  for (const { abort, isWait } of last) if (isWait) abort.abort();
  await Promise.race([Promise.all(last.map(({ done }) => done)), options.clock.sleep(LAST_REPLIES_MS)]);
  for (const { abort } of last) abort.abort();
}

/** Sends one request until it is answered, cancelled, or the server has been away for too long. */
async function exchange(request: Request, signal: AbortSignal, options: BridgeOptions): Promise<void> {
  const { clock, write, log, url, key, fetch } = options;
  const start = clock.monotonic();
  const say = growingProgress(() => (clock.monotonic() - start) / 1000, write);
  const message = { body: request.line, headers: headersOf(request) };
  /** Resolves with false where the reply broke off after it had begun: the server is there. */
  async function isAnswered(): Promise<boolean> {
    let hasBegun = false;
    const onNotice = (text: string) => {
      hasBegun = true;
      say(text);
    };
    try {
      const { status, text } = await sendOnce({ serverUrl: url, key, fetch }, message, { signal, onNotice });
      say(answerIn(text, request) ?? notParley(request, url, status));
      return true;
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
      if (error instanceof Error && error.cause instanceof Redirected) throw error.cause;
      const meanwhile = localResult(request);
      if (meanwhile) write(meanwhile);
      else say(null);
      if (meanwhile || hasBegun) return meanwhile !== null;
      throw error;
    }
  }
  try {
    while (!(await persist(isAnswered, { signal, clock: steady(clock), patienceMs: AWAY_MS, pauseMs }))) {
      await clock.sleep(pauseMs(1), signal);
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Redirected) return write(redirected(request, error, log));
    if (!(error instanceof ParleyError)) throw error;
    log(`parley mcp: ${url} does not answer: ${error.message}`);
    write(unreachable(request, url));
  }
}

/**
 * Returns an answer as it is, so that no name or order in it changes; a refusal before parsing is given its id. Null for
 * what answers another request, or none.
 */
function answerIn(text: string, { id }: Request): string | null {
  const json = parseObject(text);
  if (!json || !("result" in json || "error" in json)) return null;
  if (json["id"] === id) return text.includes("\n") ? JSON.stringify(json) : text;
  const isUnread = !("result" in json) && (json["id"] ?? null) === null;
  return isUnread ? JSON.stringify({ ...json, id }) : null;
}

function notParley({ id }: Request, url: string, status: number): string {
  const message = `${url}/mcp is not a Parley server: it replied with status ${status}`;
  return errorJson({ code: RPC.internal, message, data: undefined, id });
}

function redirected({ id }: Request, { message }: Redirected, log: BridgeOptions["log"]): string {
  log(`parley mcp: ${message}`);
  return errorJson({ code: RPC.internal, message, data: undefined, id });
}

/** The headers say again what the message says (spec/mcp 2). */
function headersOf({ method, params, version }: Request): Record<string, string> {
  const name = method === "tools/call" ? params["name"] : method.startsWith("tasks/") ? params["taskId"] : undefined;
  return {
    ...(version !== undefined && { "mcp-protocol-version": headerText(version) }),
    "mcp-method": headerText(method),
    ...(typeof name === "string" && { "mcp-name": headerText(name) }),
    // Sent again where its reply was lost: the same use of a call, once.
    ...(name === USE_TOOL && { "idempotency-key": newKey() }),
  };
}

/** Returns a header's text. Text that a header cannot hold, or would trim, is written in Base64. */
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/**
 * Returns a writer under which progress only ever grows, also when a wait is asked for again and the server counts
 * from nothing; null stands for such a wait.
 */
function growingProgress(elapsedSeconds: () => number, write: (line: string) => void): (text: string | null) => void {
  let offset = 0;
  let last = -1;
  return (text) => {
    if (text === null) {
      offset = elapsedSeconds();
      return;
    }
    const json = parseObject(text);
    const params = json?.["method"] === "notifications/progress" ? json["params"] : undefined;
    if (!isObject(params) || typeof params["progress"] !== "number") return write(text);
    const whole = offset + params["progress"];
    last = Math.round((whole > last ? whole : last + 0.001) * 1000) / 1000;
    write(JSON.stringify({ ...json, params: { ...params, progress: last } }));
  };
}

/** Returns what the server would say of itself; nothing where only the server knows. */
function localResult({ id, method, params, version }: Request): string | null {
  const isModern = version === MODERN;
  const result = (value: object) => resultJson({ id, isModern }, membersOf(value));
  switch (method) {
    case "initialize":
      return isModern ? null : result(initializeResult(params["protocolVersion"]));
    case "ping":
      return isModern ? null : result({});
    case "server/discover":
      return isModern ? result(discoverResult()) : null;
    case "tools/list":
      return result(listResult(isModern));
    default:
      return null;
  }
}

/** A tool's result that the model can read; an error for anything else. */
function unreachable({ id, method, params, version }: Request, url: string): string {
  const message = `No Parley server answers at ${url}. It may be stopped, or PARLEY_URL may be wrong; a question that was asked before is kept, so try again later.`;
  if (method !== "tools/call") return errorJson({ code: RPC.internal, message, data: undefined, id });
  const isModern = version === MODERN;
  if (params["name"] === APPROVE_TOOL) {
    const text = JSON.stringify({ behavior: "deny", message: `Not approved: ${message}` });
    return resultJson({ id, isModern }, membersOf({ content: [{ type: "text", text }] }));
  }
  const structuredContent = { error: { code: "UNREACHABLE", message } };
  const content = [{ type: "text", text: JSON.stringify(structuredContent) }];
  return resultJson({ id, isModern }, membersOf({ content, structuredContent, isError: true }));
}

function parseObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isRpcId(value: unknown): value is RpcId {
  return typeof value === "string" || Number.isInteger(value);
}
