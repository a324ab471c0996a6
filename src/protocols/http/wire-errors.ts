import type { Context } from "../../context.ts";
import { REFUSALS, type Refusal, type RefusalCode, type RefusalKind } from "../../refusals.ts";
import type { WireWorkError } from "../../wire/error.ts";
import type { FastifyReply, FastifyRequest } from "./door.ts";
import { logFailure, refusalFrom, setRefusalHeaders } from "./errors.ts";

/** A refusal at a door whose errors are `{"error":{"code","message","details"?}}`. */
export type WireError = WireWorkError["error"] & { status: number };

export type PrintError = (refusal: Refusal, http: Pick<FastifyRequest, "method">) => WireError;

/** Prints a refusal with its details, in its own words unless others are given. */
export const as =
  (status: number, code: string, message?: string): PrintError =>
  (refusal) => {
    const details = Object.keys(refusal.details).length > 0 ? { details: refusal.details } : {};
    return { status, code, message: message ?? refusal.message, ...details };
  };

/** The same without details, in the words of `src/refusals.ts` unless others are given. */
export const bare =
  (status: number, code: string, message?: string): PrintError =>
  (refusal) => ({ status, code, message: message ?? REFUSALS[refusal.code].says });

/** The finds are the details. */
export const secretDetected =
  (message: string): PrintError =>
  ({ details }) => ({ status: 422, code: "SECRET_DETECTED", message, details: details["finds"] });

/** A person's session has no scope: the refusal's own words say what a person lacks. */
const scopeMissing: PrintError = ({ code, message, details: { scope } }) => ({
  status: 403,
  code: "FORBIDDEN",
  message: message === REFUSALS[code].says ? `This key lacks the scope ${String(scope)}` : message,
  details: { scope },
});

/** The kinds of refusal that the protocols of this shape print alike. */
export const SHARED_KINDS = {
  malformed: bare(400, "INVALID_JSON", "Request body is not JSON"),
  unauthenticated: bare(401, "UNAUTHORIZED", "A valid key is required."),
  too_slow: bare(408, "REQUEST_TIMEOUT"),
  too_large: as(413, "PAYLOAD_TOO_LARGE"),
  misdirected: as(421, "MISDIRECTED"),
  unavailable: bare(503, "STORE_UNAVAILABLE"),
} as const satisfies Partial<Record<RefusalKind, PrintError>>;

/** The single refusals that they print alike, and not as their kind. */
export const SHARED_CODES = {
  body_not_object: bare(400, "VALIDATION_ERROR", "Request body is not an object"),
  passed_on: as(401, "UNAUTHORIZED"),
  wrong_scope: scopeMissing,
  scope_missing: scopeMissing,
  origin_refused: bare(403, "ORIGIN_REFUSED"),
  headers_too_large: bare(431, "PAYLOAD_TOO_LARGE"),
} as const satisfies Partial<Record<RefusalCode, PrintError>>;

/** How a protocol prints each kind of refusal, and the codes that it prints in another way than their kind. */
export interface ErrorTable {
  kinds: Record<RefusalKind, PrintError>;
  codes: Partial<Record<RefusalCode, PrintError>>;
  /** The header `WWW-Authenticate` for callers without a key, where the protocol wants it. */
  challenge?: string;
}

/** Returns the reply to any error, by the table; a bug of ours is logged once and printed without detail. */
export function errorSender({ kinds, codes, challenge }: ErrorTable) {
  return (ctx: Context, error: unknown, http: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const refusal = refusalFrom(error);
    if (!refusal) {
      logFailure(ctx, error, http);
      const details = { request_id: http.id };
      return send(reply, { status: 500, code: "SERVER_ERROR", message: "Internal error.", details });
    }
    setRefusalHeaders(reply, refusal);
    if (challenge !== undefined && refusal.kind === "unauthenticated") reply.header("www-authenticate", challenge);
    const print = codes[refusal.code] ?? kinds[refusal.kind];
    return send(reply, print(refusal, http));
  };
}

function send(reply: FastifyReply, { status, code, message, details }: WireError): FastifyReply {
  const body: WireWorkError = { error: { code, message, ...(details !== undefined && { details }) } };
  return reply.code(status).type("application/json; charset=utf-8").send(body);
}
