import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { Refusal, REFUSALS, type RefusalCode, type RefusalKind } from "../../refusals.ts";
import { LimitRefusal } from "../../core/limits.ts";

type Wire = readonly [status: number, code: string];

/** How the Ask-a-Human error shape, which routes that belong to no protocol use too, prints each kind of refusal. */
const KINDS: Record<RefusalKind, Wire> = {
  malformed: [400, "VALIDATION_ERROR"],
  invalid: [400, "VALIDATION_ERROR"],
  unauthenticated: [401, "UNAUTHORIZED"],
  forbidden: [403, "FORBIDDEN"],
  not_found: [404, "NOT_FOUND"],
  method: [405, "METHOD_NOT_ALLOWED"],
  too_slow: [408, "REQUEST_TIMEOUT"],
  conflict: [409, "CONFLICT"],
  gone: [410, "QUESTION_CLOSED"],
  too_large: [413, "PAYLOAD_TOO_LARGE"],
  media_type: [415, "UNSUPPORTED_MEDIA_TYPE"],
  misdirected: [421, "MISDIRECTED"],
  secret: [422, "SECRET_DETECTED"],
  limited: [429, "RATE_LIMITED"],
  unavailable: [503, "STORE_UNAVAILABLE"],
};

/** Codes whose published name differs from that of their kind (spec/ask-a-human 1.3, reference/errors). */
const CODES: Partial<Record<RefusalCode, Wire>> = {
  origin_refused: [403, "ORIGIN_REFUSED"],
  self_answer: [403, "SELF_ANSWER"],
  answer_first: [403, "ANSWER_FIRST"],
  not_asked: [403, "NOT_ASKED"],
  not_counted: [403, "NOT_COUNTED"],
  self_response: [403, "SELF_RESPONSE"],
  recipient_refused: [403, "RECIPIENT_REFUSED"],
  code_missing: [403, "CODE_MISSING"],
  person_needed: [403, "APPROVAL_NEEDS_PERSON"],
  // The one 403 that published SDKs know how to read.
  quota_exceeded: [403, "AGENT_QUOTA_EXCEEDED"],
  question_not_found: [404, "QUESTION_NOT_FOUND"],
  subscription_not_found: [404, "SUBSCRIPTION_NOT_FOUND"],
  job_not_found: [404, "JOB_NOT_FOUND"],
  artifact_not_found: [404, "ARTIFACT_NOT_FOUND"],
  feature_disabled: [404, "FEATURE_DISABLED"],
  repo_not_found: [404, "REPO_NOT_FOUND"],
  task_not_found: [404, "TASK_NOT_FOUND"],
  diff_not_found: [404, "DIFF_NOT_FOUND"],
  already_answered: [409, "ALREADY_ANSWERED"],
  person_changed: [409, "PERSON_CHANGED"],
  idempotency_mismatch: [409, "IDEMPOTENCY_MISMATCH"],
  cannot_ask_back: [409, "CANNOT_ASK_BACK"],
  reads_no_notes: [409, "READS_NO_NOTES"],
  note_limit: [409, "NOTE_LIMIT"],
  name_taken: [409, "NAME_TAKEN"],
  already_decided: [409, "ALREADY_DECIDED"],
  frozen: [409, "FROZEN"],
  request_expired: [409, "EXPIRED"],
  request_cancelled: [409, "CANCELLED"],
  digest_mismatch: [409, "DIGEST_MISMATCH"],
  job_id_taken: [409, "JOB_ID_CONFLICT"],
  job_closed: [409, "JOB_CLOSED"],
  fenced: [409, "FENCED"],
  answer_mismatch: [409, "ANSWER_MISMATCH"],
  dependency_cycle: [409, "DEPENDENCY_CYCLE"],
  review_conflict: [409, "REVIEW_CONFLICT"],
  task_not_ended: [409, "TASK_NOT_ENDED"],
  task_over: [409, "TASK_OVER"],
  policy_file_changed: [409, "POLICY_FILE_CHANGED"],
  policy_file_fixed: [409, "POLICY_FILE_FIXED"],
  not_grantable: [409, "NOT_GRANTABLE"],
  headers_too_large: [431, "PAYLOAD_TOO_LARGE"],
  task_ending: [503, "TASK_ENDING"],
};

const RETRY_WHEN_UNAVAILABLE_S = 5;

function wireOf(code: RefusalCode): Wire {
  return CODES[code] ?? KINDS[REFUSALS[code].kind];
}

/** Returns the status a refusal has on the wire. */
export function statusOf({ code }: Refusal): number {
  return wireOf(code)[0];
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
  return errorBody(wireOf(refusal.code)[1], refusal.message, details);
}

/** Sends a refusal with the headers that belong to it. */
export function sendRefusal(http: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  setRefusalHeaders(reply, refusal);
  if (refusal instanceof LimitRefusal) http.facts.limit = refusal.reading;
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
export function sendError(ctx: Context, error: unknown, http: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalFrom(error);
  if (refusal) return sendRefusal(http, reply, refusal);
  logFailure(ctx, error, http);
  return reply.code(500).send(errorBody("SERVER_ERROR", "Internal error.", { request_id: http.id }));
}

/** Writes a failure of the server into the log, once. A client that went away amid its request is left out. */
export function logFailure({ log }: Pick<Context, "log">, error: unknown, http: FastifyRequest): void {
  if (isCutOff(error, http)) return;
  log.error({ err: error, requestId: http.id, route: http.routeOptions.url }, "a request failed");
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
  const body = JSON.stringify(refusalBody(refusal));
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
  return (Object.keys(REFUSALS) as RefusalCode[]).map((refusal) => {
    const [status, code] = wireOf(refusal);
    return { code, refusal, status, says: REFUSALS[refusal].says };
  });
}
