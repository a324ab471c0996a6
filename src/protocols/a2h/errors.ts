import type { Context } from "../../context.ts";
import { Refusal, type RefusalCode } from "../../refusals.ts";
import type { FastifyReply, FastifyRequest } from "../http/door.ts";
import { logFailure, refusalFrom } from "../http/errors.ts";
import type { Loc, Problem } from "./fields.ts";
import type { WireA2hError, WireA2hProblem } from "../../wire/a2h-error.ts";

/** What a route is about, for the sentences of its errors. */
export type Noun = "call" | "message" | "conversation" | "human" | "channel" | "webhook endpoint" | "path";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What the route is about. */
    noun?: Noun;
  }
}

/** The longest body of these doors, in bytes. */
export const A2H_BODY_BYTES = 1_048_576;

interface WireError {
  status: number;
  code: string;
  message: string;
  /** Further members of `error`. */
  facts?: Record<string, unknown>;
  /** Instead of the message. */
  detail?: readonly (Omit<WireA2hProblem, "loc"> & { loc: Loc })[];
  headers?: Record<string, string>;
}

type Print = (refusal: Refusal, about: { noun: Noun; hasToken: boolean }) => WireError;

const as =
  (status: number, code: string, message: string): Print =>
  () => ({ status, code, message });

const time = (at: unknown): string => new Date(at as number).toISOString();

const invalid: Print = ({ message, details }) => {
  const problems = (details["problems"] as Problem[] | undefined) ?? [
    { loc: (details["loc"] as Loc | undefined) ?? ["body"], message },
  ];
  const detail = problems.map((one) => ({ loc: one.loc, msg: one.message, type: "value_error" }));
  return { status: 422, code: "validation_failed", message: problems[0]?.message ?? message, detail };
};

const unauthorized: Print = (_, { hasToken }) => ({
  status: 401,
  code: "unauthorized",
  message: "A valid bearer key is required.",
  headers: { "www-authenticate": `Bearer realm="parley"${hasToken ? ', error="invalid_token"' : ""}` },
});

const scopeMissing: Print = ({ details }) => {
  const scope = String(details["scope"] ?? "agent");
  return {
    status: 403,
    code: "insufficient_scope",
    message: `This needs a key with scope ${scope}.`,
    facts: { scope },
    headers: { "www-authenticate": `Bearer realm="parley", error="insufficient_scope", scope="${scope}"` },
  };
};

const missing: Print = ({ details }, { noun }) => ({
  status: 404,
  code: "not_found",
  message: `There is no such ${noun}.`,
  ...(typeof details["hint"] === "string" && { facts: { hint: details["hint"] } }),
});

const limited: Print = ({ details }) => {
  const seconds = (details["retry_after"] as number | undefined) ?? 60;
  return {
    status: 429,
    code: "rate_limited",
    message: "Too many requests are being created.",
    facts: { retry_after_seconds: seconds },
    headers: { "retry-after": String(seconds) },
  };
};

const taken: Print = ({ details }, { noun }) => {
  if (noun === "message") {
    return { status: 409, code: "uid_conflict", message: "This uid was already used for a different message." };
  }
  return {
    status: 409,
    code: "call_id_conflict",
    message: "This call_id was already used for a different request.",
    ...(details["requested_at"] !== undefined && { facts: { requested_at: time(details["requested_at"]) } }),
  };
};

const resolved =
  (code: string, message: string): Print =>
  ({ details }) => ({ status: 409, code, message, facts: { resolved_at: time(details["resolved_at"]) } });

/** Everything that can be declined, as this protocol says it (spec/a2h 3.1). */
const WIRE: Record<RefusalCode, Print> = {
  invalid_json: as(400, "invalid_json", "The body is not valid JSON."),
  body_not_object: () => ({
    status: 422,
    code: "validation_failed",
    message: "the body must be an object",
    detail: [{ loc: ["body"], msg: "the body must be an object", type: "value_error" }],
  }),
  invalid_input: invalid,
  key_required: unauthorized,
  passed_on: (refusal, about) => ({ ...unauthorized(refusal, about), message: refusal.message }),
  sign_in_refused: unauthorized,
  wrong_scope: scopeMissing,
  scope_missing: scopeMissing,
  origin_refused: as(403, "origin_not_allowed", "Requests from that origin are not allowed."),
  misdirected: as(421, "host_not_allowed", "This server does not answer for that host."),
  self_answer: as(403, "self_response_forbidden", "An agent may not answer its own request."),
  self_response: as(403, "self_response_forbidden", "An agent may not answer its own request."),
  not_asked: as(403, "responder_not_allowed", "This person was not asked."),
  not_counted: ({ message }) => ({ status: 403, code: "responder_not_allowed", message }),
  answer_first: as(403, "responder_not_allowed", "This person was not asked."),
  code_missing: as(403, "responder_not_allowed", "This person was not asked."),
  recipient_refused: ({ details }) => ({
    status: 403,
    code: "recipient_not_allowed",
    message: "This server does not write to that recipient.",
    facts: { path: details["path"] },
  }),
  ask_not_found: missing,
  subscription_not_found: missing,
  recovery_refused: missing,
  key_not_found: missing,
  person_not_found: missing,
  request_not_found: missing,
  human_not_found: missing,
  route_not_found: (refusal, about) => missing(refusal, { ...about, noun: "path" }),
  link_dead: missing,
  repo_not_found: missing,
  task_not_found: missing,
  diff_not_found: missing,
  repo_refused: invalid,
  dependency_cycle: invalid,
  review_conflict: invalid,
  task_not_ended: invalid,
  task_ending: invalid,
  policy_entry_not_found: missing,
  not_grantable: invalid,
  job_not_found: missing,
  artifact_not_found: missing,
  feature_disabled: missing,
  job_id_taken: taken,
  job_external: invalid,
  job_closed: as(409, "already_responded", "This request has already been answered."),
  fenced: as(409, "already_responded", "This request has already been answered."),
  answer_mismatch: taken,
  person_needed: as(403, "responder_not_allowed", "This person was not asked."),
  secret_detected: invalid,
  method_not_allowed: ({ details }) => {
    const allowed = (details["allowed"] as readonly string[]).join(", ");
    const message = `This path takes ${allowed}.`;
    return { status: 405, code: "method_not_allowed", message, headers: { allow: allowed } };
  },
  ref_taken: taken,
  idempotency_mismatch: taken,
  ref_ambiguous: ({ details }) => ({
    status: 409,
    code: "call_id_ambiguous",
    message: "Several agents use this call_id; address it by ask id.",
    facts: { ask_ids: details["ask_ids"] },
  }),
  already_decided: ({ details }) => ({
    status: 409,
    code: "already_responded",
    message: "This request has already been answered.",
    facts: {
      responded_at: time(details["responded_at"]),
      ...(details["approved"] !== undefined && { approved: details["approved"] }),
      ...(details["by_name"] !== undefined && { by: details["by_name"] }),
    },
  }),
  person_changed: as(409, "person_changed", "Somebody else is signed in than wrote this."),
  already_answered: as(409, "already_responded", "This request has already been answered."),
  ask_settled: as(409, "already_responded", "This request has already been answered."),
  request_expired: resolved("expired", "This request expired before it was answered."),
  request_cancelled: resolved("cancelled", "This request was cancelled by its agent."),
  digest_mismatch: ({ details }) => ({
    status: 409,
    code: "digest_mismatch",
    message: "What was shown is not what would run.",
    facts: { expected: details["expected"] },
  }),
  escalation_limit: as(409, "escalation_limit", "A request can be escalated 10 times."),
  body_too_large: () => ({
    status: 413,
    code: "too_large",
    message: `The body is over ${A2H_BODY_BYTES} bytes.`,
    facts: { limit: A2H_BODY_BYTES },
  }),
  too_many_values: ({ message, details }) => ({
    status: 413,
    code: "too_large",
    message,
    facts: { max_values: details["max_values"] },
  }),
  unsupported_media_type: as(415, "unsupported_media_type", "Send application/json."),
  channel_unavailable: ({ details }) => ({
    status: 422,
    code: "channel_unavailable",
    message: `${CHANNEL_NAMES[String(details["channel"])] ?? String(details["channel"])} is not configured on this server.`,
    facts: { channel: details["channel"], available: details["available"] },
  }),
  channel_not_found: ({ details }) => ({
    status: 422,
    code: "unknown_channel",
    message: "No channel has this id.",
    facts: { id: details["id"] },
  }),
  human_unknown: ({ details }) => ({
    status: 422,
    code: "unknown_human",
    message: "No human has this id.",
    facts: { id: details["id"] },
  }),
  unknown_option: ({ details }) => ({
    status: 422,
    code: "unknown_option",
    message: "This option was not offered.",
    facts: { options: details["options"] },
  }),
  not_editable: as(422, "not_editable", "This request does not take edited arguments."),
  wrong_decision: invalid,
  answer_misfit: ({ details }) => {
    const errors = (details["errors"] as { path: string; message: string }[] | undefined) ?? [];
    const problems = errors.map(({ path, message }) => {
      const loc = ["body", ...path.split("/").filter((step) => step !== "")];
      return { loc, code: "schema", message: `${path || "the answer"} ${message}` };
    });
    return invalid(new Refusal("answer_misfit", { problems }), { noun: "call", hasToken: true });
  },
  schema_refused: ({ message, details }) => {
    const path = String(details["path"]);
    const loc = ["body", ...path.split("/").filter((step) => step !== "")];
    return {
      status: 422,
      code: "schema_invalid",
      message,
      facts: { path },
      detail: [{ loc, msg: message, type: "value_error" }],
    };
  },
  rate_limited: limited,
  quota_exceeded: limited,
  store_unavailable: () => ({
    status: 503,
    code: "unavailable",
    message: "The server is restarting.",
    headers: { "retry-after": "1" },
  }),
  store_full: ({ message }) => ({
    status: 503,
    code: "unavailable",
    message,
    headers: { "retry-after": "5" },
  }),
  bad_http: as(400, "invalid_json", "The body is not valid JSON."),
  headers_too_large: as(431, "too_large", "The headers of the request are too large."),
  request_too_slow: as(408, "unavailable", "The request took too long to arrive."),
};

const CHANNEL_NAMES: Readonly<Record<string, string>> = {
  slack: "Slack",
  email: "Email",
  sms: "SMS",
  whatsapp: "WhatsApp",
  webhook: "Webhook",
};

/** Answers whatever was thrown in this protocol's shape; a bug of ours is logged once and told without any detail. */
export function sendA2hError(
  ctx: Context,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const refusal = refusalFrom(error);
  if (!refusal) {
    logFailure(ctx, error, request);
    return send(reply, {
      status: 500,
      code: "internal",
      message: "The server failed; the request was not stored.",
    });
  }
  const { noun = "path" } = request.routeOptions.config;
  const hasToken = request.headers.authorization !== undefined || request.facts.pathKey !== undefined;
  return send(reply, WIRE[refusal.code](refusal, { noun, hasToken }));
}

function send(reply: FastifyReply, { status, code, message, facts, detail, headers = {} }: WireError): FastifyReply {
  const body: WireA2hError = {
    error: { code, message, ...facts },
    detail: detail?.map((one) => ({ ...one, loc: [...one.loc] })) ?? message,
  };
  return reply.code(status).headers(headers).type("application/json; charset=utf-8").send(body);
}
