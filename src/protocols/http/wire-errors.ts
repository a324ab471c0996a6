import type { Context } from "../../context.ts";
import type { Refusal, RefusalCode } from "../../refusals.ts";
import type { WireWorkError } from "../../wire/error.ts";
import type { FastifyReply, FastifyRequest } from "./door.ts";
import { logFailure, refusalFrom, setRefusalHeaders } from "./errors.ts";

/** What a protocol whose errors are `{"error":{"code","message","details"?}}` says of a refusal. */
export type WireError = WireWorkError["error"] & { status: number };

export type PrintError = (refusal: Refusal) => WireError;

/** Prints a refusal with its details, in its own words unless others are given. */
export const as =
  (status: number, code: string, message?: string): PrintError =>
  (refusal) => {
    const details = Object.keys(refusal.details).length > 0 ? { details: refusal.details } : {};
    return { status, code, message: message ?? refusal.message, ...details };
  };

/** The same without details. */
export const bare =
  (status: number, code: string, message: string): PrintError =>
  () => ({ status, code, message });

/**
 * Returns what answers whatever was thrown as this table says it; a bug of ours is logged once and told without any
 * detail. `challenge` is what somebody without a key is told in `WWW-Authenticate`, where the protocol wants it.
 */
export function errorSender(table: Record<RefusalCode, PrintError>, { challenge }: { challenge?: string } = {}) {
  return (ctx: Context, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const refusal = refusalFrom(error);
    if (!refusal) {
      logFailure(ctx, error, request);
      return send(reply, {
        status: 500,
        code: "SERVER_ERROR",
        message: "Internal error.",
        details: { request_id: request.id },
      });
    }
    setRefusalHeaders(reply, refusal);
    if (challenge !== undefined && refusal.kind === "unauthenticated") reply.header("www-authenticate", challenge);
    return send(reply, table[refusal.code](refusal));
  };
}

function send(reply: FastifyReply, { status, code, message, details }: WireError): FastifyReply {
  const body: WireWorkError = { error: { code, message, ...(details !== undefined && { details }) } };
  return reply.code(status).type("application/json; charset=utf-8").send(body);
}
