import { isJsonObject, membersOf } from "../lib/json/exact-json.ts";
import { CODE, isIdentity, lineOf, NotPassedOn, type RpcIdentity, type RpcJson, type RpcMessage } from "./messages.ts";

/** The part of a call that continues an answer `input_required` (revision 2026-07-28). */
export interface NextRound {
  requestState: string | undefined;
  inputResponses: RpcJson | undefined;
}

/** A `tools/call` of a client: all of it that the server may get. */
export interface ClientCall {
  jsonrpc: unknown;
  id: RpcIdentity;
  name: string;
  /** Empty where the client left them out. */
  args: RpcJson;
  /** The client gave arguments, however few. */
  hasArguments: boolean;
  /** The members of `_meta` that the protocol defines. */
  meta: RpcJson;
  nextRound: NextRound | undefined;
}

const OF_CALL: ReadonlySet<string> = new Set(["name", "arguments", "_meta", "requestState", "inputResponses"]);
const isText = (value: unknown) => typeof value === "string";
/** The names that the revisions of MCP define for `_meta` of a request, and the type of each. */
const OF_META: Readonly<Record<string, (value: unknown) => boolean>> = {
  progressToken: isIdentity,
  "io.modelcontextprotocol/protocolVersion": isText,
  "io.modelcontextprotocol/clientInfo": isJsonObject,
  "io.modelcontextprotocol/clientCapabilities": isJsonObject,
  "io.modelcontextprotocol/logLevel": isText,
  "io.modelcontextprotocol/related-task": isJsonObject,
  traceparent: isText,
  tracestate: isText,
  baggage: isText,
};
const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";
const FIRST_WITH_ROUNDS = "2026-07-28";

/**
 * Reads a `tools/call`. A member that is null counts as left out. Of `_meta` only the protocol's own names remain: what
 * is neither shown to people nor bound by their approval does not run. For the same reason a call with another member,
 * such as `task`, is refused.
 *
 * @throws {NotPassedOn}
 */
export function readCall(message: RpcMessage, id: RpcIdentity): ClientCall {
  const params = Object.fromEntries(Object.entries(message.params).filter(([, value]) => value !== null));
  const { name, arguments: args = {}, _meta: meta, requestState, inputResponses } = params;
  const other = Object.keys(params).find((one) => !OF_CALL.has(one));
  if (other !== undefined) {
    const says = `A call with the member ${JSON.stringify(other)} does not pass the gate: people do not see it`;
    throw new NotPassedOn(CODE.invalidRequest, says, id);
  }
  if (typeof name !== "string") throw new NotPassedOn(CODE.invalidParams, "The tool's name is missing", id);
  if (!isJsonObject(args)) throw new NotPassedOn(CODE.invalidParams, "arguments must be an object", id);
  const isRound =
    (requestState === undefined || typeof requestState === "string") &&
    (inputResponses === undefined || isJsonObject(inputResponses));
  if (!isRound) throw new NotPassedOn(CODE.invalidParams, "requestState or inputResponses is malformed", id);
  const isNext = requestState !== undefined || inputResponses !== undefined;
  return {
    jsonrpc: message.json["jsonrpc"],
    id,
    name,
    args,
    hasArguments: "arguments" in params,
    meta: Object.fromEntries(Object.entries(membersOf(meta)).filter(([one, value]) => isOfMeta(one, value))),
    nextRound: isNext ? { requestState, inputResponses } : undefined,
  };
}

function isOfMeta(name: string, value: unknown): boolean {
  return Object.hasOwn(OF_META, name) && OF_META[name]?.(value) === true;
}

/** Writes a call for its server, with the arguments that were approved. */
export function callLine({ jsonrpc, id, name, hasArguments, meta, nextRound }: ClientCall, args: RpcJson): string {
  return lineOf({
    jsonrpc,
    id,
    method: "tools/call",
    params: {
      name,
      ...((hasArguments || Object.keys(args).length > 0) && { arguments: args }),
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
      ...nextRound,
    },
  });
}

/** Returns the progress token of a call. */
export function progressTokenOf({ meta: { progressToken: token } }: ClientCall): RpcIdentity | undefined {
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}

/** Returns whether the client of a call speaks a revision in which calls have rounds. */
export function knowsRounds({ meta }: ClientCall): boolean {
  const version = meta[PROTOCOL_VERSION];
  return typeof version === "string" && version >= FIRST_WITH_ROUNDS;
}
