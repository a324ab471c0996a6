import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { Refusal, REFUSALS, type RefusalCode, type RefusalKind } from "../../refusals.ts";
import { LimitRefusal } from "../../core/limits.ts";

/** A new kind of refusal does not compile until it has a status here. */
const STATUS = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  limited: 429,
  unavailable: 503,
} as const satisfies Record<RefusalKind, number>;

/** Where a code's own status differs from its kind's. The quota is the one 403 that published SDKs know how to read. */
const OWN_STATUS: Partial<Record<RefusalCode, number>> = {
  quota_exceeded: 403,
  method_not_allowed: 405,
  request_too_slow: 408,
  body_too_large: 413,
  too_many_values: 413,
  secret_detected: 422,
  unsupported_media_type: 415,
  misdirected: 421,
  headers_too_large: 431,
};

/** The names of refusals in the Ask-a-Human error shape, which routes that belong to no protocol use too. */
const WIRE_CODE = {
  invalid_json: "VALIDATION_ERROR",
  body_not_object: "VALIDATION_ERROR",
  invalid_input: "VALIDATION_ERROR",
  key_required: "UNAUTHORIZED",
  passed_on: "UNAUTHORIZED",
  wrong_scope: "UNAUTHORIZED",
  sign_in_refused: "UNAUTHORIZED",
  origin_refused: "ORIGIN_REFUSED",
  self_answer: "SELF_ANSWER",
  name_needed: "NAME_NEEDED",
  answer_first: "ANSWER_FIRST",
  quota_exceeded: "AGENT_QUOTA_EXCEEDED",
  ask_not_found: "QUESTION_NOT_FOUND",
  subscription_not_found: "SUBSCRIPTION_NOT_FOUND",
  recovery_refused: "NOT_FOUND",
  key_not_found: "NOT_FOUND",
  person_not_found: "NOT_FOUND",
  route_not_found: "NOT_FOUND",
  method_not_allowed: "METHOD_NOT_ALLOWED",
  already_answered: "ALREADY_ANSWERED",
  person_changed: "PERSON_CHANGED",
  idempotency_mismatch: "IDEMPOTENCY_MISMATCH",
  ask_settled: "QUESTION_CLOSED",
  rate_limited: "RATE_LIMITED",
  bad_http: "VALIDATION_ERROR",
  headers_too_large: "PAYLOAD_TOO_LARGE",
  request_too_slow: "REQUEST_TIMEOUT",
  body_too_large: "PAYLOAD_TOO_LARGE",
  too_many_values: "PAYLOAD_TOO_LARGE",
  unsupported_media_type: "UNSUPPORTED_MEDIA_TYPE",
  misdirected: "MISDIRECTED",
  not_asked: "NOT_ASKED",
  not_counted: "NOT_COUNTED",
  self_response: "SELF_RESPONSE",
  scope_missing: "FORBIDDEN",
  recipient_refused: "RECIPIENT_REFUSED",
  request_not_found: "NOT_FOUND",
  human_not_found: "NOT_FOUND",
  repo_not_found: "REPO_NOT_FOUND",
  repo_refused: "FORBIDDEN",
  task_not_found: "TASK_NOT_FOUND",
  diff_not_found: "DIFF_NOT_FOUND",
  dependency_cycle: "DEPENDENCY_CYCLE",
  review_conflict: "REVIEW_CONFLICT",
  task_not_ended: "TASK_NOT_ENDED",
  task_ending: "TASK_ENDING",
  policy_entry_not_found: "NOT_FOUND",
  not_grantable: "NOT_GRANTABLE",
  human_unknown: "VALIDATION_ERROR",
  channel_not_found: "VALIDATION_ERROR",
  channel_unavailable: "VALIDATION_ERROR",
  ref_taken: "CONFLICT",
  ref_ambiguous: "CONFLICT",
  already_decided: "ALREADY_DECIDED",
  request_expired: "EXPIRED",
  request_cancelled: "CANCELLED",
  digest_mismatch: "DIGEST_MISMATCH",
  escalation_limit: "CONFLICT",
  unknown_option: "VALIDATION_ERROR",
  not_editable: "VALIDATION_ERROR",
  wrong_decision: "VALIDATION_ERROR",
  answer_misfit: "VALIDATION_ERROR",
  schema_refused: "VALIDATION_ERROR",
  code_missing: "CODE_MISSING",
  job_not_found: "JOB_NOT_FOUND",
  artifact_not_found: "ARTIFACT_NOT_FOUND",
  feature_disabled: "FEATURE_DISABLED",
  job_id_taken: "JOB_ID_CONFLICT",
  job_closed: "JOB_CLOSED",
  job_external: "VALIDATION_ERROR",
  fenced: "FENCED",
  answer_mismatch: "ANSWER_MISMATCH",
  person_needed: "APPROVAL_NEEDS_PERSON",
  secret_detected: "SECRET_DETECTED",
  link_dead: "NOT_FOUND",
  store_unavailable: "STORE_UNAVAILABLE",
  store_full: "STORE_UNAVAILABLE",
} as const satisfies Record<RefusalCode, string>;

const RETRY_WHEN_UNAVAILABLE_S = 5;

/** Returns the status a refusal has on the wire. */
export function statusOf(refusal: Refusal): number {
  return OWN_STATUS[refusal.code] ?? STATUS[refusal.kind];
}

/** Returns the one error shape (spec/ask-a-human 1.3). */
function errorBody(code: string, message: string, details: Readonly<Record<string, unknown>>): object {
  return { error: Object.keys(details).length > 0 ? { code, message, details } : { code, message } };
}

/** Returns a refusal in that shape. */
export function refusalBody(refusal: Refusal): object {
  const { retry_after: _, ...rest } = refusal.details;
  // Only the limit's own refusal repeats in its body when to come back.
  const details = refusal.code === "quota_exceeded" ? rest : refusal.details;
  return errorBody(WIRE_CODE[refusal.code], refusal.message, details);
}

/** Sends a refusal with the headers that belong to it. */
export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  setRefusalHeaders(reply, refusal);
  if (refusal instanceof LimitRefusal) request.facts.limit = refusal.reading;
  return reply.code(statusOf(refusal)).send(refusalBody(refusal));
}

/** Sets the headers that belong to a refusal, whatever the shape of its body. */
export function setRefusalHeaders(reply: FastifyReply, refusal: Refusal): void {
  const { retry_after: retryAfter } = refusal.details;
  if (typeof retryAfter === "number") reply.header("retry-after", retryAfter);
  if (refusal.kind === "unavailable") reply.header("retry-after", RETRY_WHEN_UNAVAILABLE_S);
  if (refusal.kind === "unauthenticated") reply.header("www-authenticate", 'Bearer realm="parley"');
  if (refusal.code === "method_not_allowed") {
    reply.header("allow", (refusal.details["allowed"] as readonly string[]).join(", "));
  }
}

/**
 * Answers whatever was thrown: a refusal as such; a bug of ours as a bare 500 with the request's id, logged once.
 * No exception text ever leaves the server.
 */
export function sendError(ctx: Context, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalFrom(error);
  if (refusal) return sendRefusal(request, reply, refusal);
  logFailure(ctx, error, request);
  return reply.code(500).send(errorBody("SERVER_ERROR", "Internal error.", { request_id: request.id }));
}

/** Writes a bug of ours into the log, once; that a client went away amid its request is none. */
export function logFailure({ log }: Pick<Context, "log">, error: unknown, request: FastifyRequest): void {
  if (isCutOff(error, request)) return;
  log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, "a request failed");
}

/** True where a body did not come whole because its connection ended. */
function isCutOff(error: unknown, { raw }: FastifyRequest): boolean {
  return !raw.complete && raw.destroyed && error instanceof Error && "code" in error && error.code === "ECONNRESET";
}

/** Answers what never became a request, in the same shape, and ends its connection. */
export function refuseConnection(
  { newId }: Pick<Context, "newId">,
  error: NodeJS.ErrnoException,
  socket: Socket,
): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = new Refusal(CONNECTION_REFUSALS.get(error.code) ?? "bad_http");
  const status = statusOf(refusal);
  const body = JSON.stringify(errorBody(WIRE_CODE[refusal.code], refusal.message, {}));
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    "Cache-Control: no-store",
    `X-Request-Id: ${newId("req")}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

const CONNECTION_REFUSALS = new Map<string | undefined, RefusalCode>([
  ["HPE_HEADER_OVERFLOW", "headers_too_large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "request_too_slow"],
]);

/** Returns the refusal that a framework's own complaint amounts to. */
export function refusalFrom(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (!(error instanceof Error) || !("code" in error)) return null;
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Refusal("body_too_large", { max_bytes: BODY_LIMIT_BYTES });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_ROUTE_MISSING_CONTENT_TYPE":
      return new Refusal("unsupported_media_type", { accepted: ["application/json"] });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
      return new Refusal("invalid_json", { constraint: "json" });
    case "FST_ERR_BAD_URL":
    case "FST_ERR_ASYNC_CONSTRAINT":
      return new Refusal("route_not_found");
    default:
      return null;
  }
}

/** The longest body of the Ask-a-Human doors. */
export const BODY_LIMIT_BYTES = 131_072;

/** Every code with the sentence and status it has at this door, for the documentation. */
export function listWireErrors(): { code: string; refusal: RefusalCode; status: number; says: string }[] {
  return (Object.keys(REFUSALS) as RefusalCode[]).map((refusal) => ({
    code: WIRE_CODE[refusal],
    refusal,
    status: OWN_STATUS[refusal] ?? STATUS[REFUSALS[refusal].kind],
    says: REFUSALS[refusal].says,
  }));
}
