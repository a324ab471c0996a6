import { z } from "zod";
import type { Tracer } from "../../lib/tracing/tracing.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { Refusal } from "../../refusals.ts";
import { logFailure, refusalFrom, setRefusalHeaders, statusOf } from "../http/errors.ts";
import { held } from "../http/held.ts";
import { agentIdentity } from "../http/principals.ts";
import {
  goneSignal,
  type Door,
  type DoorContext,
  type FastifyReply,
  type FastifyRequest,
  type UsualAudience,
} from "../http/door.ts";
import { failureOf, type Exchange } from "./exchange.ts";
import { gateRoutes } from "./gate-routes.ts";
import { readMessage } from "./message.ts";
import { resultOf } from "./methods.ts";
import { requestRoutes } from "./request-routes.ts";
import { errorJson, resultJson, RPC, RpcError } from "./rpc.ts";
import { answerByStream, listen } from "./streams.ts";
import { isWaiting } from "./tools.ts";
import { underTrace } from "./trace.ts";
import { McpMessageBody, WireMcpReply } from "../../wire/mcp.ts";

const BODY_LIMIT_BYTES = 1_048_576;
const JSON_TYPE = "application/json; charset=utf-8";

/**
 * The MCP door: one address, one message a request, no session (docs/spec/mcp.md).
 *
 * The protocol's SDK is not in the way of a message here; only its types are used, and its clients, old and new, prove
 * this door in the tests. Its server keeps the state of a connection, answers waits from timers of its own, takes
 * batches and older revisions, and passes results through objects, which reorder a tally whose options are numbers.
 */
export function mcp(door: DoorContext, usual: UsualAudience, tracer: Tracer): (app: Door) => Promise<void> {
  return async (app) => {
    app.setErrorHandler((error, http, reply) => refuse(door, error, http, reply));
    requestRoutes(app, door);
    gateRoutes(app, door, usual);
    app.post(
      "/mcp",
      {
        bodyLimit: BODY_LIMIT_BYTES,
        config: { takesBody: true, reads: McpMessageBody, maxBodyBytes: BODY_LIMIT_BYTES },
        schema: {
          tags: ["mcp"],
          summary: "One message of the protocol",
          response: {
            200: { description: "Its reply", content: { "application/json": { schema: WireMcpReply } } },
            202: z.null().meta({ description: "Taken; nothing is replied to it" }),
          },
        },
      },
      async (http, reply) => {
        const agent = await agentIdentity(door, http);
        const bytes = Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0);
        const call = readMessage(bytes, http.headers);
        if (call === null) return reply.code(202).send();
        await yieldAfterLarge(bytes);
        const usualAudience: Exchange["usualAudience"] = (decides) => usual(agent, decides);
        const exchange = { door, principal: agent.principal, usualAudience, call, http, reply };
        return underTrace(door.ctx, tracer, call, () => answer(exchange));
      },
    );
  };
}

/** Answers the request as a stream where its tool waits and the client takes one, else as JSON. */
async function answer(exchange: Exchange): Promise<FastifyReply> {
  const { call, http, reply } = exchange;
  const canStream = http.headers.accept?.includes("text/event-stream") ?? false;
  const waits = call.method === "tools/call" && isWaiting(call.params["name"]);
  if (canStream && waits) {
    await answerByStream(exchange);
    return reply;
  }
  if (call.isModern && call.method === "subscriptions/listen") {
    await listen(exchange);
    return reply;
  }
  const run = (signal: AbortSignal) => resultOf(exchange, { canStream: false, hasToken: false, signal });
  try {
    const result = waits ? await held(exchange.door, http, reply, run) : await run(goneSignal(reply));
    return sendJson(reply, 200, resultJson(call, result));
  } catch (error) {
    if (error instanceof Refusal && error.code === "key_required") throw error;
    const failure = failureOf(exchange, error);
    return sendJson(reply, failure.status, errorJson(failure));
  }
}

/** Answers a message that was refused before it was parsed: its id is unknown, so the reply has none. */
function refuse(door: DoorContext, error: unknown, http: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof RpcError) return sendJson(reply, error.status, errorJson(error));
  const refusal = refusalFrom(error);
  if (!refusal) {
    logFailure(door.ctx, error, http);
    const data = { request_id: http.id };
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
