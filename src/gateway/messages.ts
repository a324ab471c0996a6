import { BadJson, parseJsonBody } from "../lib/json/json-body.ts";
import { isExactNumber, membersOf, withEveryDigit } from "../lib/json/exact-json.ts";
import { foldedName } from "./alike-names.ts";
import { answeredIds } from "./unreadable-line.ts";

export type RpcIdentity = string | number;
export type RpcJson = Readonly<Record<string, unknown>>;

/** One message of JSON-RPC, with the members that JSON-RPC has. */
export interface RpcMessage {
  json: RpcJson;
  id: RpcIdentity | undefined;
  /** Undefined of a response. */
  method: string | undefined;
  params: RpcJson;
}

/** A message of a server, and the line that its client gets. */
export interface ServerMessage extends RpcMessage {
  line: string;
}

export const CODE = { parse: -32700, invalidRequest: -32600, invalidParams: -32602, internal: -32603 } as const;
export const CALL = "tools/call";
const MOST_DEPTH = 256;
const OF_REQUEST = ["jsonrpc", "id", "method", "params"];
const OF_RESPONSE = ["jsonrpc", "id", "result", "error"];
const TOP: ReadonlySet<string> = new Set([...OF_REQUEST, ...OF_RESPONSE]);
const NOT_PLAIN = /[^ -~]/g;

/** A line of a client that is not passed on; `answer` says so to it. */
export class NotPassedOn extends Error {
  readonly answer: string;

  constructor(code: number, says: string, id?: RpcIdentity) {
    super(says);
    this.answer = errorLine(id, code, says);
  }
}

/**
 * Reads a line of a client as one JSON-RPC message, and leaves out every member that such a message does not have. The
 * server never gets the line itself, only `lineOf` of this message (spec/gate 6).
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
  const isResponse = !("method" in members) && ("result" in members || "error" in members);
  const message = messageOf(membersNamed(members, isResponse ? OF_RESPONSE : OF_REQUEST));
  const { id, method } = message;
  const isOne = isResponse ? isIdentity(members["id"]) : method !== undefined && isRequestId(members["id"]);
  if (!isOne) throw new NotPassedOn(CODE.invalidRequest, "The line is not a JSON-RPC message", id);
  if (Object.keys(members).some((name) => !TOP.has(name) && TOP.has(foldedName(name)))) {
    throw new NotPassedOn(CODE.invalidRequest, "A name differs from the protocol's in its letters alone", id);
  }
  if (method !== undefined && method !== CALL && foldedName(method.trim()) === CALL) {
    throw new NotPassedOn(CODE.invalidRequest, `The method differs from ${CALL} in its letters alone`, id);
  }
  return message;
}

/**
 * Writes a message as one line of printable ASCII. It holds no character that any reader, in any encoding, takes for
 * the end of a line.
 */
export function lineOf(json: RpcJson): string {
  return JSON.stringify(json).replace(NOT_PLAIN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Reads a line of a server: each message in it. A line that is not JSON is an answer without content for each id in it. */
export function readServerLine(line: string): ServerMessage[] {
  try {
    const json = withEveryDigit(new TextEncoder().encode(line), JSON.parse(line));
    if (Array.isArray(json)) {
      return (json as unknown[]).map((one) => ({ ...messageOf(membersOf(one)), line: JSON.stringify(one) }));
    }
    const members = membersOf(json);
    return members === json ? [{ ...messageOf(members), line }] : [];
  } catch {
    return answeredIds(line).map((id) => ({ ...messageOf({ id }), line }));
  }
}

function messageOf(json: RpcJson): RpcMessage {
  const { id, method, params } = json;
  return {
    json,
    id: typeof id === "string" || typeof id === "number" ? id : undefined,
    method: typeof method === "string" ? method : undefined,
    params: membersOf(params),
  };
}

/** Returns the members of these names that an object has. */
function membersNamed(members: RpcJson, names: readonly string[]): RpcJson {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(members, name)).map((name) => [name, members[name]]));
}

/** Returns whether a value names a request: a text or a number. */
export function isIdentity(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || isExactNumber(value);
}

function isRequestId(value: unknown): boolean {
  return value === undefined || value === null || isIdentity(value);
}

/** Returns whether a message asks for an answer. */
export function isRequest({ json, method }: RpcMessage): boolean {
  return method !== undefined && Object.hasOwn(json, "id");
}

/** Returns whether an answer has a result or an error. One that is not JSON has neither. */
export function isReadable({ json }: RpcMessage): boolean {
  return "result" in json || "error" in json;
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
