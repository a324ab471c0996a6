import { kindOf } from "../../channels/kinds.ts";
import type { Context } from "../../context.ts";
import { Refusal, type RefusalCode, type RefusalKind } from "../../refusals.ts";
import type { FastifyReply, FastifyRequest } from "../http/door.ts";
import { logFailure, refusalFrom } from "../http/errors.ts";
import type { Loc, Problem } from "./fields.ts";
import type { WireA2hError, WireA2hProblem } from "../../wire/a2h/error.ts";

/** The object of a route, for the messages of its errors. */
export type Noun =
  "call" | "plan" | "inquiry" | "message" | "conversation" | "human" | "channel" | "webhook endpoint" | "path";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The object of the route. */
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

type Print = (refusal: Refusal, about: { noun: Noun; hasToken: boolean; maxBytes?: number }) => WireError;

/** Prints these words, and the named details as further members of `error`. */
const as =
  (status: number, code: string, message: string, ...members: string[]): Print =>
  ({ details }) => ({ status, code, message, facts: Object.fromEntries(members.map((name) => [name, details[name]])) });

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
  if (noun === "plan") {
    return {
      status: 409,
      code: "call_id_conflict",
      message: "An id of this plan was already used for something else.",
    };
  }
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

const methodNotAllowed: Print = ({ details }) => {
  const allowed = (details["allowed"] as readonly string[]).join(", ");
  const message = `This path takes ${allowed}.`;
  return { status: 405, code: "method_not_allowed", message, headers: { allow: allowed } };
};

const responded = as(409, "already_responded", "This request has already been answered.");

/** How this protocol prints each kind of refusal (spec/a2h 3.1). */
const KINDS: Record<RefusalKind, Print> = {
  malformed: as(400, "invalid_json", "The body is not valid JSON."),
  invalid,
  unauthenticated: unauthorized,
  forbidden: as(403, "responder_not_allowed", "This person was not asked."),
  not_found: missing,
  method: methodNotAllowed,
  too_slow: as(408, "unavailable", "The request took too long to arrive."),
  conflict: responded,
  gone: responded,
  too_large: ({ message, details }) => ({
    status: 413,
    code: "too_large",
    message,
    facts: { max_values: details["max_values"] },
  }),
  media_type: as(415, "unsupported_media_type", "Send application/json."),
  misdirected: as(421, "host_not_allowed", "This server does not answer for that host."),
  secret: invalid,
  limited,
  unavailable: ({ message }) => ({ status: 503, code: "unavailable", message, headers: { "retry-after": "5" } }),
};

const selfResponse = as(403, "self_response_forbidden", "An agent may not answer its own request.");

/** The path of a JSON pointer into the body. */
const locOf = (path: string): string[] => ["body", ...path.split("/").filter((step) => step !== "")];

/** The codes that it prints in another way than their kind. */
const CODES: Partial<Record<RefusalCode, Print>> = {
  body_not_object: (_, about) => invalid(new Refusal("invalid_input", {}, "the body must be an object"), about),
  channel_unavailable: ({ details: { channel, available } }) => ({
    status: 422,
    code: "channel_unavailable",
    message: `${kindOf(String(channel))?.title ?? String(channel)} is not configured on this server.`,
    facts: { channel, available },
  }),
  channel_not_found: ({ message, details: { id } }) => ({
    status: 422,
    code: "unknown_channel",
    message,
    facts: { id },
  }),
  human_unknown: as(422, "unknown_human", "No human has this id.", "id"),
  unknown_option: as(422, "unknown_option", "This option was not offered.", "options"),
  not_editable: as(422, "not_editable", "This request does not take edited arguments."),
  answer_misfit: ({ details }, about) => {
    const errors = (details["errors"] as { path: string; message: string }[] | undefined) ?? [];
    const problems = errors.map(({ path, message }) => ({
      loc: locOf(path),
      code: "schema",
      message: `${path || "the answer"} ${message}`,
    }));
    return invalid(new Refusal("answer_misfit", { problems }), about);
  },
  schema_refused: ({ message, details }) => {
    const path = String(details["path"]);
    return {
      status: 422,
      code: "schema_invalid",
      message,
      facts: { path },
      detail: [{ loc: locOf(path), msg: message, type: "value_error" }],
    };
  },
  passed_on: (refusal, about) => ({ ...unauthorized(refusal, about), message: refusal.message }),
  wrong_scope: scopeMissing,
  scope_missing: scopeMissing,
  origin_refused: as(403, "origin_not_allowed", "Requests from that origin are not allowed."),
  self_answer: selfResponse,
  self_response: selfResponse,
  not_counted: ({ message }) => ({ status: 403, code: "responder_not_allowed", message }),
  recipient_refused: as(403, "recipient_not_allowed", "This server does not write to that recipient.", "path"),
  route_not_found: (refusal, about) => missing(refusal, { ...about, noun: "path" }),
  ref_taken: taken,
  idempotency_mismatch: taken,
  job_id_taken: taken,
  answer_mismatch: taken,
  ref_ambiguous: as(409, "call_id_ambiguous", "Several agents use this call_id; address it by ask id.", "ask_ids"),
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
  frozen: ({ message, details: { frozen_by, frozen_at } }) => ({
    status: 409,
    code: "frozen",
    message,
    facts: { ...(frozen_by !== undefined && { frozen_by, frozen_at: time(frozen_at) }) },
  }),
  person_changed: as(409, "person_changed", "Somebody else is signed in than wrote this."),
  decided_with_plan: ({ message }) => ({ status: 409, code: "decided_with_plan", message }),
  not_in_plan: ({ message, details: { reason, expected_call_id } }) => ({
    status: 409,
    code: "not_in_plan",
    message,
    facts: { reason, ...(expected_call_id !== undefined && { expected_call_id }) },
  }),
  not_decided: as(409, "not_decided", "Nobody has decided this request yet."),
  already_claimed: ({ message, details }) => ({
    status: 409,
    code: "already_claimed",
    message,
    facts: { claimed_at: time(details["claimed_at"]) },
  }),
  not_approved: as(409, "not_approved", "This call was not approved, so nothing became of it."),
  outcome_known: as(409, "outcome_known", "The outcome of this call is known already, and is another one.", "state"),
  outcome_started: as(409, "outcome_started", "This call has started, so it cannot be withdrawn.", "state"),
  request_expired: resolved("expired", "This request expired before it was answered."),
  request_cancelled: resolved("cancelled", "This request was cancelled by its agent."),
  digest_mismatch: as(409, "digest_mismatch", "What was shown is not what would run.", "expected"),
  inquiry_answered: as(409, "inquiry_answered", "This inquiry has another answer already."),
  escalation_limit: as(409, "escalation_limit", "A request can be escalated 10 times."),
  body_too_large: (_, { maxBytes = A2H_BODY_BYTES }) => ({
    status: 413,
    code: "too_large",
    message: `The body is over ${maxBytes} bytes.`,
    facts: { limit: maxBytes },
  }),
  headers_too_large: as(431, "too_large", "The headers of the request are too large."),
  store_unavailable: () => ({
    status: 503,
    code: "unavailable",
    message: "The server is restarting.",
    headers: { "retry-after": "1" },
  }),
  // This protocol has no words of its own for tasks and for permissions for good.
  repo_refused: invalid,
  dependency_cycle: invalid,
  review_conflict: invalid,
  task_not_ended: invalid,
  task_over: invalid,
  task_ending: invalid,
  policy_file_changed: invalid,
  policy_file_fixed: invalid,
  not_grantable: invalid,
};

/** Answers any error in this protocol's shape; a bug of ours is logged once and printed without detail. */
export function sendA2hError(
  ctx: Context,
  error: unknown,
  http: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const refusal = refusalFrom(error);
  if (!refusal) {
    logFailure(ctx, error, http);
    return send(reply, {
      status: 500,
      code: "internal",
      message: "The server failed; the request was not stored.",
    });
  }
  const { noun = "path", maxBodyBytes: maxBytes = A2H_BODY_BYTES } = http.routeOptions.config;
  const hasToken = http.headers.authorization !== undefined || http.facts.pathKey !== undefined;
  return send(reply, printed(refusal, { noun, hasToken, maxBytes }));
}

/** Returns the sentence of a refusal of a call. */
export function sentenceOf(refusal: Refusal): string {
  return printed(refusal, { noun: "call", hasToken: true }).message;
}

function printed(refusal: Refusal, about: Parameters<Print>[1]): WireError {
  return (CODES[refusal.code] ?? KINDS[refusal.kind])(refusal, about);
}

function send(reply: FastifyReply, { status, code, message, facts, detail, headers = {} }: WireError): FastifyReply {
  const body: WireA2hError = {
    error: { code, message, ...facts },
    detail: detail?.map((one) => ({ ...one, loc: [...one.loc] })) ?? message,
  };
  return reply.code(status).headers(headers).type("application/json; charset=utf-8").send(body);
}
