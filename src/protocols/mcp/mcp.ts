import { Refusal } from "../../refusals.ts";
import { withoutNulls } from "../door-body.ts";
import { refusalFrom, setRefusalHeaders, statusOf } from "../door-errors.ts";
import { agentPrincipal } from "../door-principals.ts";
import { beat, openEventStream } from "../door-sse.ts";
import { goneSignal, type Door, type DoorContext, type FastifyReply, type FastifyRequest } from "../door.ts";
import { askHuman } from "./ask-human.ts";
import { isObject, progressTokenOf, readMessage, type Call } from "./message.ts";
import { discoverResult, initializeResult, listResult } from "./opening.ts";
import { checkResponses, holdForResponses, holdSecondsOf, readWish, waitResult, type Hold } from "./responses.ts";
import { errorJson, membersOf, notificationJson, resultJson, RPC, RpcError, type Members } from "./rpc.ts";
import { refusedResult } from "./tool-result.ts";
import { TOOLS, WAIT_TOOL, type ToolName } from "./tools.ts";

const BODY_LIMIT_BYTES = 1_048_576;
const JSON_TYPE = "application/json; charset=utf-8";

/**
 * The MCP door: one address, one message a request, no session (contract-mcp.md).
 *
 * The protocol's SDK is not in the way of a message here; only its types are used, and its clients, old and new, prove
 * this door in the tests. Its server keeps the state of a connection, answers waits from timers of its own, takes
 * batches and older revisions, and passes results through objects, which reorder a tally whose options are numbers.
 */
export function mcp(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.setErrorHandler((error, request, reply) => refuse(door, error, request, reply));
    app.post(
      "/mcp",
      {
        bodyLimit: BODY_LIMIT_BYTES,
        config: { takesBody: true, maxBodyBytes: BODY_LIMIT_BYTES },
        schema: { hide: true },
      },
      async (request, reply) => {
        const principal = await agentPrincipal(door, request);
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const call = readMessage(bytes, request.headers);
        if (call === null) return reply.code(202).send();
        return answer({ door, principal, call, request, reply });
      },
    );
  };
}

/** One request on its way to its reply. */
interface Exchange {
  door: DoorContext;
  principal: string;
  call: Call;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Answers the request as a stream where its tool waits and the client takes one, else as JSON. */
async function answer(exchange: Exchange): Promise<FastifyReply> {
  const { call, request, reply } = exchange;
  const canStream = request.headers.accept?.includes("text/event-stream") ?? false;
  if (canStream && call.method === "tools/call" && call.params["name"] === WAIT_TOOL) {
    await answerByStream(exchange);
    return reply;
  }
  const hold: Hold = { canStream: false, hasToken: false, signal: goneSignal(reply) };
  try {
    return sendJson(reply, 200, resultJson(call, await resultOf(exchange, hold)));
  } catch (error) {
    const failure = failureOf(exchange, error);
    return sendJson(reply, failure.status, errorJson(failure));
  }
}

/** The head and a comment go out before anything is looked up, so that the client sees within 100 ms that it is heard. */
async function answerByStream(exchange: Exchange): Promise<void> {
  const { door, call, reply } = exchange;
  const stream = openEventStream(reply, ": waiting\n\n");
  const say = (json: string) => stream.write(`event: message\ndata: ${json}\n\n`);
  const token = progressTokenOf(call);
  const progress =
    token === undefined
      ? null
      : openProgress(door, (params) => {
          say(notificationJson("notifications/progress", { progressToken: token, ...params }));
        });
  const beating = beat(door, stream.gone, () => (progress ? progress.tick() : stream.write(": still waiting\n\n")));
  const hold: Hold = { canStream: true, hasToken: progress !== null, signal: stream.gone };
  if (progress) hold.onCount = progress.count;
  try {
    say(resultJson(call, await resultOf(exchange, hold)));
  } catch (error) {
    say(errorJson(failureOf(exchange, error)));
  } finally {
    stream.end();
    await beating;
  }
}

/** Says how many answers there are, at once, with every new one, and at every tick; the number said always grows. */
function openProgress({ ctx: { clock } }: DoorContext, say: (params: { progress: number; message: string }) => void) {
  const start = clock.monotonic();
  let last = -1;
  let counted: string | null = null;
  const tick = () => {
    if (counted === null) return;
    const seconds = Math.max(0, Math.floor(clock.monotonic() - start)) / 1000;
    // Two answers may come within one millisecond.
    last = seconds > last ? seconds : Math.round(last * 1000 + 1) / 1000;
    const time = [seconds / 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
    say({ progress: last, message: `${counted}, ${time}` });
  };
  const count = (have: number, wanted: number) => {
    counted = `${have} of ${wanted} answers`;
    tick();
  };
  return { tick, count };
}

/** Returns what a request's result says. @throws {RpcError} */
async function resultOf(exchange: Exchange, hold: Hold): Promise<Members> {
  const { call } = exchange;
  switch (call.isModern ? `modern ${call.method}` : call.method) {
    case "initialize":
      return membersOf(initializeResult(call.params["protocolVersion"]));
    case "ping":
      return "";
    case "modern server/discover":
      return membersOf(discoverResult());
    case "tools/list":
    case "modern tools/list":
      return membersOf(listResult(call.isModern));
    case "tools/call":
    case "modern tools/call":
      return callTool(exchange, hold);
    default:
      throw new RpcError(RPC.methodNotFound, "Method not found", { status: call.isModern ? 404 : 200, id: call.id });
  }
}

/** Returns a tool's result; what it declines is a result too, which the model reads. @throws {RpcError} */
async function callTool({ door, principal, call }: Exchange, hold: Hold): Promise<Members> {
  const { name, arguments: given = {} } = call.params;
  const tool = TOOLS.find((one) => one.name === name)?.name;
  if (tool === undefined) throw new RpcError(RPC.invalidParams, "Unknown tool", { id: call.id });
  try {
    if (!isObject(given)) {
      throw new Refusal("body_not_object", { field: "arguments", constraint: "type" }, "arguments must be an object");
    }
    return await runTool(door, principal, call, tool, withoutNulls(given), hold);
  } catch (error) {
    const refusal = refusalFrom(error);
    if (refusal) return refusedResult(refusal);
    throw error;
  }
}

async function runTool(
  door: DoorContext,
  principal: string,
  call: Call,
  tool: ToolName,
  given: object,
  hold: Hold,
): Promise<Members> {
  switch (tool) {
    case "ask_human":
      return askHuman(door, principal, call, given);
    case "check_human_responses":
      return checkResponses(door, principal, given);
    case "wait_for_human_responses": {
      const wish = await readWish(door, principal, given);
      return waitResult(await holdForResponses(door, principal, wish, hold, holdSecondsOf(wish, hold)), wish);
    }
  }
}

/** What could not be answered as an error of the protocol; a bug of ours is logged once and says only where. */
function failureOf({ door, call, request }: Exchange, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  door.ctx.log.error({ err: error, requestId: request.id, method: call.method }, "a message failed");
  return new RpcError(RPC.internal, "Internal error", { data: { request_id: request.id }, id: call.id });
}

/** Answers what was refused before there was a request to answer: its id is not known, so none is said. */
function refuse(door: DoorContext, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof RpcError) return sendJson(reply, error.status, errorJson(error));
  const refusal = refusalFrom(error);
  if (!refusal) {
    door.ctx.log.error({ err: error, requestId: request.id, route: "/mcp" }, "a request failed");
    const data = { request_id: request.id };
    return sendJson(reply, 200, errorJson(new RpcError(RPC.internal, "Internal error", { data })));
  }
  setRefusalHeaders(reply, refusal);
  if (refusal.code === "wrong_scope") {
    reply.header("www-authenticate", 'Bearer realm="parley", error="insufficient_scope", scope="agent"');
  }
  const status = refusal.code === "wrong_scope" ? 403 : statusOf(refusal);
  const message = refusal.code === "origin_refused" ? "Origin not allowed" : refusal.message;
  const code = refusal.kind === "unavailable" ? RPC.internal : RPC.invalidRequest;
  return sendJson(reply, status, errorJson(new RpcError(code, message)));
}

function sendJson(reply: FastifyReply, status: number, json: string): FastifyReply {
  return reply.code(status).type(JSON_TYPE).send(json);
}
