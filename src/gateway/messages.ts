import { BadJson, parseJsonBody } from "../lib/json/json-body.ts";
import { isExactNumber, membersOf, withEveryDigit } from "../lib/json/exact-json.ts";

export type RpcIdentity = string | number;
export type RpcJson = Readonly<Record<string, unknown>>;

/** One message of JSON-RPC, and the line that it came as. */
export interface RpcMessage {
  line: string;
  json: RpcJson;
  id: RpcIdentity | undefined;
  /** Undefined of a response. */
  method: string | undefined;
  params: RpcJson;
}

const MOST_DEPTH = 256;
const CODE = { parse: -32700, invalidRequest: -32600 } as const;
const TOP = ["jsonrpc", "id", "method", "params", "result", "error"];
const OF_CALL = ["name", "arguments", "_meta"];

/** A line of a client that is not passed on; `answer` says so to it. */
export class NotPassedOn extends Error {
  readonly answer: string;

  constructor(code: number, says: string, id?: RpcIdentity) {
    super(says);
    this.answer = errorLine(id, code, says);
  }
}

/**
 * Reads a line of a client. A line that another parser could read differently is not passed on: a list of messages, a
 * name that is given twice, or one that differs from a name of the protocol in its capitals alone. So the gate judges
 * exactly the call that the server runs.
 *
 * @throws {NotPassedOn}
 */
export function readClientLine(line: string): RpcMessage {
  const bytes = new TextEncoder().encode(line);
  let json: unknown;
  try {
    json = withEveryDigit(bytes, parseJsonBody(bytes, { maxDepth: MOST_DEPTH }));
  } catch (error) {
    if (!(error instanceof BadJson)) throw error;
    throw new NotPassedOn(CODE.parse, "The line is not JSON that every parser reads alike");
  }
  const members = membersOf(json);
  if (members !== json) throw new NotPassedOn(CODE.invalidRequest, "The line is not one JSON-RPC message");
  const message = messageOf(line, members);
  const isCall = message.method === "tools/call";
  if (hasLookalike(members, TOP) || (isCall && hasLookalike(message.params, OF_CALL))) {
    throw new NotPassedOn(CODE.invalidRequest, "A name differs from the protocol's in its capitals", message.id);
  }
  return message;
}

/** Reads a line of a server: each message in it, or nothing where it is no message. */
export function readServerLine(line: string): RpcMessage[] {
  let json: unknown;
  try {
    json = withEveryDigit(new TextEncoder().encode(line), JSON.parse(line));
  } catch {
    return [];
  }
  if (Array.isArray(json)) {
    return (json as unknown[]).map((one) => messageOf(JSON.stringify(one), membersOf(one)));
  }
  const members = membersOf(json);
  return members === json ? [messageOf(line, members)] : [];
}

function messageOf(line: string, json: RpcJson): RpcMessage {
  const { id, method, params } = json;
  return {
    line,
    json,
    id: typeof id === "string" || typeof id === "number" ? id : undefined,
    method: typeof method === "string" ? method : undefined,
    params: membersOf(params),
  };
}

function hasLookalike(members: RpcJson, names: readonly string[]): boolean {
  return Object.keys(members).some((name) => !names.includes(name) && names.includes(name.toLowerCase()));
}

/** Returns whether a message asks for an answer. */
export function isRequest({ json, method }: RpcMessage): boolean {
  return method !== undefined && Object.hasOwn(json, "id");
}

/** Returns whether a message answers one. */
export function isResponse({ id, method, json }: RpcMessage): boolean {
  return method === undefined && id !== undefined && ("result" in json || "error" in json);
}

/** Returns the id under which a message is kept: `1` and `"1"` are two. */
export function keyOf(id: RpcIdentity): string {
  return JSON.stringify(id);
}

/** Returns an error as a line. */
export function errorLine(id: RpcIdentity | undefined, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code, message } });
}

/** Returns a tool's result that the model can read, and for programs where its call stands. */
export function toolErrorLine(id: RpcIdentity, text: string, gate: object): string {
  const result = {
    // Newer clients ask for it, and others pass it over.
    resultType: "complete",
    content: [{ type: "text", text }],
    isError: true,
    _meta: { "parley/gate": gate },
  };
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

/** Returns the progress token of a request. */
export function progressTokenOf({ params }: RpcMessage): RpcIdentity | undefined {
  const { progressToken: token } = membersOf(params["_meta"]);
  return typeof token === "string" || (typeof token === "number" && !isExactNumber(token)) ? token : undefined;
}
