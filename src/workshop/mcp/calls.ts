import { newKey } from "@parley/sdk/idempotency-key";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { objectOf, objectsOf, readObject } from "../agents/json-lines.ts";
import { askServer, type McpUpstream, type UpstreamReply } from "./upstream.ts";

/** A tool call as the agent made it. */
export interface ToolCall {
  rpc: JsonObject;
  /** The headers that the server may read. */
  headers: Readonly<Record<string, string>>;
}

interface CallOptions {
  signal: AbortSignal;
  /** The call waits from now on. */
  onWaiting(): void;
  /** The ids of the questions back that the agent has been given. A reply that gives it another adds its id. */
  given: Set<unknown>;
}

const WAIT_TOOL = "wait_for_human_responses";
const USE_TOOL = "use_approved_call";
const ASKING_TOOLS: readonly unknown[] = ["contact_human", "request_approval"];
/** The server ends each wait after a while, so that one whose caller went is noticed; then it is asked again. */
const HOLD_S = 240;
const MOST_WAIT_S = 3600;
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const TASKS = "io.modelcontextprotocol/tasks";

export function isWaitingTool(name: unknown): boolean {
  return name === WAIT_TOOL || ASKING_TOOLS.includes(name);
}

/**
 * Returns the server's answer to a tool call. A call that waits for people is first sent without waiting, for its
 * handle. Then the wait for that handle is repeated until it is over, or as long as the caller gave. So nothing is lost
 * with a lost reply: a repeated wait for a handle asks nobody again.
 */
export async function callTool(upstream: McpUpstream, call: ToolCall, options: CallOptions): Promise<UpstreamReply> {
  const { clock } = upstream;
  const params = objectOf(call.rpc["params"]);
  const { name } = params;
  const given = objectOf(params["arguments"]);
  const ask = (tool: unknown, args: JsonObject) =>
    askServer(upstream, message(call, tool, args), { ...options, onAway: options.onWaiting });
  const { given: known } = options;
  const hand = (reply: UpstreamReply): UpstreamReply => {
    for (const id of inquiriesIn(foundIn(reply))) known.add(id);
    return reply;
  };
  if (!isWaitingTool(name)) return hand(await ask(name, given));

  const { max_wait_seconds: most } = given;
  // Any other value is the server's to refuse.
  if (most !== undefined && !(typeof most === "number" && most >= 0 && most <= MOST_WAIT_S)) return ask(name, given);
  const start = clock.monotonic();
  const waited = () => (clock.monotonic() - start) / 1000;
  const isAsking = ASKING_TOOLS.includes(name);
  let reply = await ask(name, { ...given, max_wait_seconds: 0 });
  const pending = pendingOf(reply, known);
  const handle = isAsking ? (pending?.["plan_id"] ?? pending?.["call_id"]) : given["question_id"];
  const { min_responses: enough } = given;
  const wait = { question_id: handle, ...(!isAsking && enough !== undefined && { min_responses: enough }) };
  while (pendingOf(reply, known) && typeof handle === "string") {
    const left = most === undefined ? HOLD_S : Math.min(HOLD_S, Math.ceil(most - waited()));
    if (left <= 0) break;
    options.onWaiting();
    reply = await ask(WAIT_TOOL, { ...wait, max_wait_seconds: left });
  }
  return hand(withWaited(reply, Math.floor(waited())));
}

/**
 * Returns what a wait found while it is not over, and nobody asks the agent back. The server says only once that somebody
 * does, and that reply may have been lost: then a question back that the agent does not know ends the wait.
 */
function pendingOf(reply: UpstreamReply, known: ReadonlySet<unknown>): JsonObject | null {
  const found = foundIn(reply);
  const isAskedBack = found["asked_back"] === true || inquiriesIn(found).some((id) => !known.has(id));
  return found["settled"] === false && !isAskedBack ? found : null;
}

/** Returns the result of a tool; empty for an error. */
function foundIn({ text }: UpstreamReply): JsonObject {
  const result = objectOf(readObject(text)?.["result"]);
  return result["isError"] === true ? {} : objectOf(result["structuredContent"]);
}

/** Returns the ids of the questions back in a result that have no answer yet. */
function inquiriesIn(found: JsonObject): unknown[] {
  return objectsOf(found["inquiries"]).flatMap(({ id, answer }) => (answer === undefined ? [id] : []));
}

/** The agent waited once, however often the server was asked. */
function withWaited(reply: UpstreamReply, seconds: number): UpstreamReply {
  const message = readObject(reply.text);
  const result = objectOf(message?.["result"]);
  const found = objectOf(result["structuredContent"]);
  const [first, ...more] = Array.isArray(result["content"]) ? (result["content"] as unknown[]) : [];
  if (!message || typeof found["waited_seconds"] !== "number") return reply;
  const structuredContent = { ...found, waited_seconds: seconds };
  const content = [{ ...objectOf(first), text: JSON.stringify(structuredContent) }, ...more];
  return { ...reply, text: JSON.stringify({ ...message, result: { ...result, content, structuredContent } }) };
}

/**
 * The supervisor reports progress to the agent, over all of these calls. A request for a task gets the result itself,
 * for which an attempt may wait.
 */
function message(
  { rpc, headers }: ToolCall,
  tool: unknown,
  args: JsonObject,
): { body: string; headers: Record<string, string> } {
  const params = objectOf(rpc["params"]);
  const { progressToken: _, [CAPABILITIES]: given, ...rest } = objectOf(params["_meta"]);
  const { [TASKS]: __, ...extensions } = objectOf(objectOf(given)["extensions"]);
  const meta = { ...rest, ...(given !== undefined && { [CAPABILITIES]: { ...objectOf(given), extensions } }) };
  const named = { ...params, name: tool, arguments: args, ...("_meta" in params && { _meta: meta }) };
  return {
    body: JSON.stringify({ ...rpc, params: named }),
    headers: {
      ...headers,
      ...("mcp-name" in headers && { "mcp-name": String(tool) }),
      // Sent again where its reply was lost: the same use of a call, once.
      ...(tool === USE_TOOL && { "idempotency-key": newKey() }),
    },
  };
}
