import type { JsonObject } from "../../lib/json/json-body.ts";
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isObject, objectOf, objectsOf, readObject } from "../agents/json-lines.ts";
import { PARLEY_TOOLS } from "../agents/parley-tools.ts";
import { callTool, isWaitingTool, type ToolCall } from "./calls.ts";
import { askServer, type McpUpstream } from "./upstream.ts";

interface AttemptMcpOptions extends McpUpstream {
  /** The token that the agent must present. */
  token: string;
  /** Without a jail nothing that anybody may have written reaches the agent. */
  isJailed: boolean;
  /** Called with the number of calls that wait for people, or for the server to come back, whenever it changes. */
  onWaiting(calls: number): void;
}

/** One attempt, with the ids of the questions back that its agent has been given. */
interface Attempt extends AttemptMcpOptions {
  given: Set<unknown>;
}

const OFFERED: readonly unknown[] = PARLEY_TOOLS;
const NO_CROWD =
  "ask_human is not available without a sandbox: its answers would be text that anybody may have written. Ask a person with contact_human.";
const MOST_BODY_BYTES = 1_048_576;
const BEAT_MS = 10_000;
const UNKNOWN_METHOD = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;

/**
 * Returns the MCP endpoint of one attempt: the server's own, reached with the attempt's key in place of the agent's
 * token, and only with the tools that ask people. A tool call is answered by a stream at once, which shows life every ten
 * seconds and ends when people have answered, however long that takes and however often the server restarts meanwhile
 * (spec/assignment 6).
 */
export function openAttemptMcp(options: AttemptMcpOptions): Server {
  let waiting = 0;
  const count = (change: number) => options.onWaiting((waiting += change));
  const given = new Set<unknown>();
  return createServer((http, reply) => {
    answer(http, reply, { ...options, given }, count).catch(() => {
      if (reply.headersSent) reply.destroy();
      else end(reply, 500, "");
    });
  });
}

type Count = (change: number) => void;

async function answer(http: IncomingMessage, reply: ServerResponse, options: Attempt, count: Count): Promise<void> {
  if (!isBearer(http.headers.authorization, options.token)) {
    return end(reply, 401, "", { "www-authenticate": 'Bearer realm="parley"' });
  }
  if (http.url?.split("?")[0] !== "/mcp") return end(reply, 404, "");
  if (http.method !== "POST") return end(reply, 405, "", { allow: "POST" });
  const body = await readBody(http);
  if (body === null) return end(reply, 413, "", { connection: "close" });

  const gone = new AbortController();
  reply.on("close", () => gone.abort());
  const rpc = readObject(body);
  const headers = headersOf(http);
  const calls = rpc?.["method"] === "tools/call" && rpc["id"] !== undefined;
  if (calls) return answerCall({ rpc, headers }, { http, reply, signal: gone.signal }, options, count);

  // Nothing of an attempt becomes a task, so there is nothing to listen to.
  if (rpc?.["method"] === "subscriptions/listen") {
    return end(reply, 404, errorText(rpc["id"], UNKNOWN_METHOD, "Method not found"));
  }

  using held = openHold(count);
  const { status, text } = await askServer(options, { body, headers }, { signal: gone.signal, onAway: held.wait });
  end(reply, status, rpc?.["method"] === "tools/list" ? withOfferedTools(text) : text);
}

async function answerCall(
  call: ToolCall,
  { http, reply, signal }: { http: IncomingMessage; reply: ServerResponse; signal: AbortSignal },
  options: Attempt,
  count: Count,
): Promise<void> {
  const { id, params } = call.rpc;
  const { name, _meta: meta } = objectOf(params);
  if (!OFFERED.includes(name)) {
    return end(reply, 200, errorText(id, INVALID_PARAMS, `Unknown tool: ${String(name)}`));
  }
  if (name === "ask_human" && !options.isJailed) return end(reply, 200, refusalText(call.rpc, NO_CROWD));

  using held = openHold(count);
  const asking = callTool(options, call, { signal, onWaiting: held.wait, given: options.given });
  if (!(http.headers.accept ?? "").includes("text/event-stream")) return end(reply, 200, answerText(id, await asking));

  const { clock } = options;
  const start = clock.monotonic();
  reply.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  reply.write(": waiting\n\n");
  const over = new AbortController();
  const beat = async () => {
    for (let last = 0; ;) {
      await clock.sleep(BEAT_MS, over.signal);
      if (over.signal.aborted || signal.aborted) return;
      const token = objectOf(meta)["progressToken"];
      last = Math.max(last + 1, Math.round((clock.monotonic() - start) / 1000));
      const message = isWaitingTool(name) ? "waiting for an answer" : "waiting for the server";
      const notification = { progressToken: token, progress: last, message };
      if (token === undefined) reply.write(": still waiting\n\n");
      else say(reply, JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: notification }));
    }
  };
  const beating = beat();
  try {
    say(reply, answerText(id, await asking));
  } catch {
    if (!signal.aborted) say(reply, errorText(id, INTERNAL, "The supervisor could not pass this on"));
  } finally {
    over.abort();
    reply.end();
    await beating;
  }
}

/** Counts a call among those that wait, from when it begins to until it is over. */
function openHold(count: Count): Disposable & { wait: () => void } {
  let isCounted = false;
  return {
    wait: () => {
      if (!isCounted) count(1);
      isCounted = true;
    },
    [Symbol.dispose]: () => {
      if (isCounted) count(-1);
    },
  };
}

/** A refusal before parsing, such as that of a revoked key, has no id, or is no JSON at all. */
function answerText(id: unknown, { status, text }: { status: number; text: string }): string {
  const message = readObject(text);
  if (message && ("result" in message || "error" in message)) {
    return message["id"] === id ? text : JSON.stringify({ ...message, id });
  }
  return errorText(id, INTERNAL, `The server replied with status ${status}`);
}

function errorText(id: unknown, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}

/** Returns a refusal that a model can read. Newer clients require `resultType`; others ignore it. */
function refusalText({ id }: JsonObject, message: string): string {
  const structuredContent = { error: { code: "FORBIDDEN", message } };
  const content = [{ type: "text", text: JSON.stringify(structuredContent) }];
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { resultType: "complete", content, structuredContent, isError: true },
  });
}

function withOfferedTools(text: string): string {
  const message = readObject(text);
  const result = message?.["result"];
  if (!message || !isObject(result)) return text;
  const tools = objectsOf(result["tools"]).filter(({ name }) => OFFERED.includes(name));
  return JSON.stringify({ ...message, result: { ...result, tools } });
}

/** The protocol's own headers say again what the message says. */
function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) =>
    /^(mcp-(protocol-version|method|name)|traceparent)$/.test(name),
  );
  return Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
}

function isBearer(given: string | undefined, token: string): boolean {
  const shown = Buffer.from(given ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return shown.length === wanted.length && timingSafeEqual(shown, wanted);
}

async function readBody(http: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of http as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MOST_BODY_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function end(reply: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  const type = text === "" ? {} : { "content-type": "application/json; charset=utf-8" };
  reply.writeHead(status, { "cache-control": "no-store", ...type, ...headers });
  reply.end(text);
}

function say(reply: ServerResponse, json: string): void {
  reply.write(`event: message\ndata: ${json}\n\n`);
}
