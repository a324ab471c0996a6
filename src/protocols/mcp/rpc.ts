import { RESULT_META } from "./opening.ts";

export type RpcId = string | number;

/** The codes of JSON-RPC and of the protocol (spec/mcp 4.5). */
export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** A message that cannot be served, and the status that says so. */
export class RpcError extends Error {
  readonly code: number;
  readonly status: number;
  readonly data: object | undefined;
  readonly id: RpcId | undefined;

  constructor(code: number, message: string, more: { status?: number; data?: object; id?: RpcId | undefined } = {}) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.status = more.status ?? 200;
    this.data = more.data;
    this.id = more.id;
  }
}

/** Returns an error as JSON text. */
export function errorJson({ code, message, data, id }: Pick<RpcError, "code" | "message" | "data" | "id">): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}

/** The members of a result besides `resultType` and `_meta`, as JSON text; their order and names are kept. */
export type JsonMembers = string;

/** Returns the members of a plain object. */
export function membersOf(value: object): JsonMembers {
  return JSON.stringify(value).slice(1, -1);
}

/** A task in place of a result. */
export interface TaskCreated {
  task: JsonMembers;
}

/** A result with something of its own in `_meta`. */
export interface Annotated {
  members: JsonMembers;
  meta: object;
}

/** Whatever a request can be answered with. */
export type RpcResult = JsonMembers | TaskCreated | Annotated;

/** Returns a result as JSON text, with what every result of its revision carries. */
export function resultJson({ id, isModern }: { id: RpcId; isModern: boolean }, result: RpcResult): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${toolResultJson(isModern, result)}}`;
}

function toolResultJson(isModern: boolean, result: RpcResult): string {
  if (typeof result === "string") return resultObject(isModern, result);
  if ("task" in result) return resultObject(isModern, result.task, "task");
  return resultObject(isModern, result.members, "complete", result.meta);
}

/** Returns the result alone. */
export function resultObject(
  isModern: boolean,
  members: JsonMembers,
  resultType = "complete",
  more: object | null = null,
): string {
  const type = isModern ? membersOf({ resultType }) : "";
  const meta = isModern || more ? membersOf({ _meta: { ...(isModern && RESULT_META), ...more } }) : "";
  return `{${[type, members, meta].filter((part) => part !== "").join(",")}}`;
}

/** Returns a notification as JSON text. */
export function notificationJson(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
