import type { IncomingHttpHeaders } from "node:http";
import { withEveryDigit } from "../../lib/json/exact-json.ts";
import { BadJson, MOST_VALUES, parseJsonBody, TooManyValues, type JsonObject } from "../../lib/json/json-body.ts";
import { REFUSALS } from "../../refusals.ts";
import { MODERN, SUPPORTED, UNSAID } from "./opening.ts";
import { RPC, RpcError, type RpcId } from "./rpc.ts";

const MAX_DEPTH = 64;
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";

/** A request, checked as its revision asks. */
export interface McpRequest {
  id: RpcId;
  method: string;
  params: JsonObject;
  /** `params._meta`. */
  meta: JsonObject;
  /** The revision is 2026-07-28: each request carries its own version and capabilities. */
  isModern: boolean;
  /** The message as it came, for what must keep every digit. */
  bytes: Uint8Array;
}

/**
 * Returns the request that a body holds, or nothing for what is taken and ignored: a notification, or, in legacy
 * revisions, a response sent to us.
 *
 * The era is the message's own (spec/mcp 2): its `_meta`, else the version header, else the oldest
 * revision. There is no session, so `notifications/cancelled` is ignored as well: the request it names could be
 * another client's under the same key.
 *
 * @throws {RpcError} with a status of 400 for what is no message, or lacks what its revision requires
 */
export function readMessage(bytes: Uint8Array, headers: IncomingHttpHeaders): McpRequest | null {
  const body = parse(bytes);
  if (!isObject(body) || body["jsonrpc"] !== "2.0") throw notARequest();
  const { method } = body;
  // Clients whose language has no "left out" send null.
  const params = body["params"] ?? undefined;
  const id = isId(body["id"]) ? body["id"] : undefined;

  if (method === undefined && ("result" in body || "error" in body)) {
    if (isModern(textHeader(headers, "mcp-protocol-version") ?? UNSAID)) throw notARequest();
    return null;
  }
  if (typeof method !== "string" || ("id" in body && id === undefined)) throw notARequest(id);

  const given = isObject(params) ? params : {};
  const meta = isObject(given["_meta"]) ? given["_meta"] : {};
  const version = versionOf(method, meta, headers, id);
  if (id === undefined) return null;
  if (params !== undefined && !isObject(params)) {
    throw new RpcError(RPC.invalidParams, "params must be an object", { id });
  }
  const call = { id, method, params: given, meta, isModern: isModern(version), bytes };
  if (call.isModern) checkModern(call, headers);
  return call;
}

/** Returns one argument of a tool as it came: with its nulls, and with every digit of its integers. */
export function exactArgument({ bytes, params }: McpRequest, name: string): unknown {
  const { params: exact } = withEveryDigit(bytes, { params }) as { params: JsonObject };
  const given = exact["arguments"];
  return isObject(given) && Object.hasOwn(given, name) ? given[name] : undefined;
}

/** Returns the capabilities that a modern client declares with its request. */
export function extensionsOf({ isModern, meta }: McpRequest): JsonObject {
  const capabilities = isModern ? meta[CAPABILITIES_KEY] : undefined;
  return isObject(capabilities) && isObject(capabilities["extensions"]) ? capabilities["extensions"] : {};
}

/** Returns what the client calls itself: shown to people, never used to decide. */
export function clientOf({ meta }: McpRequest): { name: string; version?: string } | undefined {
  const client = meta[CLIENT_KEY];
  if (!isObject(client) || typeof client["name"] !== "string") return undefined;
  const cut = (text: string) => [...text.toWellFormed().replaceAll("\0", "")].slice(0, 100).join("");
  const { version } = client;
  return { name: cut(client["name"]), ...(typeof version === "string" && { version: cut(version) }) };
}

/** Returns the token under which the client wants to hear of progress. */
export function progressTokenOf({ meta }: McpRequest): RpcId | undefined {
  const token = meta["progressToken"];
  return isId(token) ? token : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseJsonBody(bytes, { maxDepth: MAX_DEPTH, maxValues: MOST_VALUES });
  } catch (error) {
    if (error instanceof TooManyValues) {
      throw new RpcError(RPC.invalidRequest, REFUSALS.too_many_values.says, { status: 413 });
    }
    if (error instanceof BadJson) throw new RpcError(RPC.parse, "The body is not valid JSON", { status: 400 });
    throw error;
  }
}

function notARequest(id?: RpcId): RpcError {
  return new RpcError(RPC.invalidRequest, "The body is not one JSON-RPC request", { status: 400, id });
}

function isId(value: unknown): value is RpcId {
  return typeof value === "string" || Number.isInteger(value);
}

/** Revisions are dates: from this one on, requests are modern. */
function isModern(version: string): boolean {
  return version >= MODERN;
}

/** `initialize` names its revision in a way of its own, so no other mention of one counts there. */
function versionOf(method: string, meta: JsonObject, headers: IncomingHttpHeaders, id: RpcId | undefined): string {
  const claimed = meta[VERSION_KEY] ?? undefined;
  if (claimed !== undefined && typeof claimed !== "string") throw missingMeta(id);
  if (method === "initialize" && claimed === undefined) return UNSAID;
  const version = claimed ?? textHeader(headers, "mcp-protocol-version") ?? UNSAID;
  if (!SUPPORTED.includes(version)) {
    throw new RpcError(RPC.unsupportedVersion, "Unsupported protocol version", {
      status: 400,
      data: { supported: SUPPORTED, requested: version },
      id,
    });
  }
  return version;
}

function missingMeta(id: RpcId | undefined): RpcError {
  const message = `params._meta must hold ${VERSION_KEY} and ${CAPABILITIES_KEY}`;
  return new RpcError(RPC.invalidParams, message, { status: 400, id });
}

/** Proxies route by headers, so these must say what the body says. */
function checkModern({ id, method, params, meta }: McpRequest, headers: IncomingHttpHeaders): void {
  if (typeof meta[VERSION_KEY] !== "string" || !isObject(meta[CAPABILITIES_KEY])) throw missingMeta(id);
  const mustEqual = (name: string, given: string | undefined, value: unknown) => {
    if (given === value) return;
    throw new RpcError(RPC.headerMismatch, `The header ${name} is missing or differs from the body`, {
      status: 400,
      id,
    });
  };
  mustEqual("MCP-Protocol-Version", textHeader(headers, "mcp-protocol-version"), meta[VERSION_KEY]);
  mustEqual("Mcp-Method", textHeader(headers, "mcp-method"), method);
  const named = method === "tools/call" ? params["name"] : method.startsWith("tasks/") ? params["taskId"] : undefined;
  if (named !== undefined) mustEqual("Mcp-Name", decoded(textHeader(headers, "mcp-name")), named);
}

function textHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value.trim() : undefined;
}

/** Names that a header cannot hold arrive as `=?base64?...?=`. */
function decoded(value: string | undefined): string | undefined {
  const encoded = value === undefined ? undefined : /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}
