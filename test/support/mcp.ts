import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { within } from "./contract.ts";
import type { Node, Reply } from "./world.ts";

export const MODERN = "2026-07-28";
export const BOTH_TYPES = "application/json, text/event-stream";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const SERVER_KEY = "io.modelcontextprotocol/serverInfo";
export const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

type Json = Record<string, unknown>;

/** How one message is sent; the raw way, so that it can also be sent wrongly. */
export interface Sending {
  headers?: Record<string, string>;
  id?: unknown;
  signal?: AbortSignal;
}

/** Sends one legacy request. */
export function legacy(node: Node, method: string, params?: unknown, sending: Sending = {}): Promise<Reply> {
  const { id = 1, headers, signal } = sending;
  const body = { jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) };
  return node.call("POST", "/mcp", { body, ...(headers && { headers }), ...(signal && { signal }) });
}

/** The parts of a modern request, which say everything twice. */
export function modernRequest(
  method: string,
  params: Json = {},
  { capabilities = {}, id = 1 }: { capabilities?: Json; id?: unknown } = {},
): { body: { jsonrpc: "2.0"; id: unknown; method: string; params: Json }; headers: Record<string, string> } {
  const meta = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: capabilities, ...(params["_meta"] as Json | undefined) };
  const name = method === "tools/call" ? params["name"] : params["taskId"];
  return {
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
    headers: {
      "mcp-protocol-version": MODERN,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  };
}

/** Sends one modern request. */
export function modern(
  node: Node,
  method: string,
  params: Json = {},
  sending: Sending & { capabilities?: Json } = {},
): Promise<Reply> {
  const { body, headers } = modernRequest(method, params, sending);
  const { signal } = sending;
  return node.call("POST", "/mcp", { body, headers: { ...headers, ...sending.headers }, ...(signal && { signal }) });
}

/** Calls a tool the legacy way and returns its result. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read results of every shape
export async function tool(node: Node, name: string, args?: unknown, sending: Sending = {}): Promise<any> {
  const reply = await legacy(node, "tools/call", { name, ...(args !== undefined && { arguments: args }) }, sending);
  assert.equal(reply.status, 200, reply.text);
  assert.ok(reply.body.result, reply.text);
  return reply.body.result;
}

/** The tools, in the order of `tools/list`. */
export const TOOL_NAMES = [
  "ask_human",
  "check_human_responses",
  "wait_for_human_responses",
  "contact_human",
  "request_approval",
  "use_approved_call",
  "report_outcome",
  "answer_inquiry",
  "list_humans",
  "approve",
];

export const QUESTION = "Which label is clearer to you?";

/** Asks by the tool and returns the question's id. */
export async function askByTool(node: Node, args: Json = {}, sending: Sending = {}): Promise<string> {
  const result = await tool(node, "ask_human", { question: QUESTION, min_responses: 1, ...args }, sending);
  assert.equal(result.isError, undefined, JSON.stringify(result));
  return result.structuredContent.question_id;
}

/** One block of a stream: a comment, or a message. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read messages of every shape
export type Block = { comment: string } | { message: any };

export interface McpStream {
  status: number;
  header(name: string): string | undefined;
  /** The next block; nothing when the stream has ended. Fails when none comes. */
  next(): Promise<Block | undefined>;
  /** The next message. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read messages of every shape
  message(): Promise<any>;
  close(): void;
}

/** Sends a message whose reply is a stream, on a connection of its own. */
export async function stream(
  node: Node,
  request: { body: unknown; headers?: Record<string, string> },
): Promise<McpStream> {
  const outgoing = httpRequest(`${node.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: BOTH_TYPES, ...request.headers },
    agent: false,
  });
  outgoing.end(JSON.stringify(request.body));
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  outgoing.on("error", () => undefined);
  response.on("error", () => undefined);
  const parts = response.setEncoding("utf8")[Symbol.asyncIterator]();
  let text = "";

  async function next(): Promise<Block | undefined> {
    while (!text.includes("\n\n")) {
      const part = await within(parts.next(), `the stream was silent after ${text}`);
      if (part.done) return undefined;
      text += part.value as string;
    }
    const end = text.indexOf("\n\n");
    const block = text.slice(0, end);
    text = text.slice(end + 2);
    if (block.startsWith(":")) return { comment: block.slice(1).trim() };
    const [event, data = "", ...more] = block.split("\n");
    // No event carries an id: there is nothing to resume.
    assert.deepEqual([event, more], ["event: message", []]);
    return { message: JSON.parse(data.replace(/^data: /, "")) as unknown };
  }

  return {
    status: response.statusCode ?? 0,
    header: (name) => response.headers[name] as string | undefined,
    next,
    async message() {
      for (;;) {
        const block = await next();
        if (block === undefined) return assert.fail("the stream ended");
        if ("message" in block) return block.message;
      }
    },
    close: () => void outgoing.destroy(),
  };
}

/** A legacy tool call, to be sent as a stream. */
export function toolCall(
  name: string,
  args: Json,
  more: { token?: string | number; id?: unknown } = {},
): { body: Json } {
  const meta = more.token === undefined ? {} : { _meta: { progressToken: more.token } };
  const params = { name, arguments: args, ...meta };
  return { body: { jsonrpc: "2.0", id: more.id ?? 1, method: "tools/call", params } };
}
