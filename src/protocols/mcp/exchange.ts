import type { RequestForm, Audience } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import type { McpRequest } from "./message.ts";
import { RPC, RpcError } from "./rpc.ts";

/** One request on its way to its reply. */
export interface Exchange {
  door: DoorContext;
  principal: string;
  /** Returns whom its requests ask that name nobody. */
  usualAudience: (decides: RequestForm["kind"]) => Promise<Audience>;
  call: McpRequest;
  http: FastifyRequest;
  reply: FastifyReply;
}

/** Returns the error that a waiting request receives when its key is revoked. */
export function keyEnded({ call }: Exchange): RpcError {
  const { message } = new Refusal("key_required");
  return new RpcError(RPC.invalidRequest, message, { status: 401, id: call.id });
}

/** Returns what could not be answered as an error of the protocol; a bug of ours is logged once and says only where. */
export function failureOf({ door, call, http }: Exchange, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  door.ctx.log.error({ err: error, requestId: http.id, method: call.method }, "a message failed");
  return new RpcError(RPC.internal, "Internal error", { data: { request_id: http.id }, id: call.id });
}
