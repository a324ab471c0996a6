import { Refusal, REFUSALS, type RefusalCode } from "../../refusals.ts";
import { BODY_LIMIT_BYTES } from "../http/errors.ts";
import { as, bare, errorSender, type PrintError } from "../http/wire-errors.ts";

/** The longest body of this door, in bytes. */
export const RELAY_BODY_BYTES = 1_048_576;

const invalid = as(400, "VALIDATION_ERROR", "Request body is not valid");
const missingAsk = bare(404, "ASK_NOT_FOUND", "No such Ask");
const unauthorized = bare(401, "UNAUTHORIZED", "A valid key is required.");

const scopeMissing: PrintError = ({ details }) => ({
  status: 403,
  code: "FORBIDDEN",
  message: `This key lacks the scope ${String(details["scope"])}`,
  details: { scope: details["scope"] },
});

const selfAnswer = bare(403, "SELF_ANSWER", "The asker cannot answer its own Ask");
const closed = as(410, "ASK_CLOSED", "The Ask is closed");
const conflict = as(409, "ANSWER_CONFLICT", "The Ask already has an answer");
interface Problem {
  path: string;
  message: string;
}

/** This protocol says `must be string`. */
const TYPE_WITH_ARTICLE = /\ban? (array|boolean|integer|number|object|string)\b/g;

const misfit: PrintError = ({ details }) => ({
  status: 422,
  code: "ANSWER_INVALID",
  message: "The answer does not fit the schema",
  details: ((details["errors"] ?? []) as readonly Problem[]).map(({ path, message }) => ({
    path,
    message: message.replaceAll(TYPE_WITH_ARTICLE, "$1"),
  })),
});

const limited: PrintError = ({ details }) => ({
  status: 429,
  code: "RATE_LIMITED",
  message: "Too many requests.",
  details: {
    limit: details["limit"],
    ...(details["window_seconds"] !== undefined && { window_seconds: details["window_seconds"] }),
    ...(details["open"] !== undefined && { pending: details["open"] }),
    retry_after: details["retry_after"],
  },
});

/** Everything that can be declined, as this protocol says it (spec/relay 6). */
const WIRE: Record<RefusalCode, PrintError> = {
  invalid_json: bare(400, "INVALID_JSON", "Request body is not JSON"),
  bad_http: bare(400, "INVALID_JSON", "Request body is not JSON"),
  body_not_object: bare(400, "VALIDATION_ERROR", "Request body is not an object"),
  invalid_input: invalid,
  schema_refused: invalid,
  channel_not_found: invalid,
  channel_unavailable: invalid,
  human_unknown: invalid,
  not_editable: invalid,
  wrong_decision: misfit,
  unknown_option: ({ details }) =>
    misfit(new Refusal("answer_misfit", { errors: [optionProblem(details["options"])] })),
  answer_misfit: misfit,
  key_required: unauthorized,
  passed_on: as(401, "UNAUTHORIZED"),
  sign_in_refused: unauthorized,
  wrong_scope: scopeMissing,
  scope_missing: scopeMissing,
  origin_refused: bare(403, "ORIGIN_REFUSED", "Requests from this origin are not accepted."),
  self_answer: selfAnswer,
  name_needed: selfAnswer,
  self_response: selfAnswer,
  person_needed: bare(403, "APPROVAL_NEEDS_PERSON", "Only a person may decide this Ask"),
  not_asked: missingAsk,
  not_counted: missingAsk,
  answer_first: missingAsk,
  code_missing: missingAsk,
  link_dead: missingAsk,
  ask_not_found: missingAsk,
  request_not_found: missingAsk,
  subscription_not_found: missingAsk,
  recovery_refused: missingAsk,
  key_not_found: missingAsk,
  person_not_found: missingAsk,
  human_not_found: missingAsk,
  route_not_found: bare(404, "NOT_FOUND", "There is nothing at this address."),
  job_not_found: bare(404, "JOB_NOT_FOUND", "No such job"),
  artifact_not_found: bare(404, "ARTIFACT_NOT_FOUND", "No such artifact"),
  feature_disabled: bare(404, "FEATURE_DISABLED", "phase2_ask_answer is off"),
  repo_not_found: bare(404, "NOT_FOUND", "There is nothing at this address."),
  task_not_found: bare(404, "NOT_FOUND", "There is nothing at this address."),
  diff_not_found: bare(404, "NOT_FOUND", "There is nothing at this address."),
  repo_refused: bare(403, "FORBIDDEN", "This key is not good for this repository."),
  dependency_cycle: invalid,
  review_conflict: invalid,
  task_not_ended: invalid,
  task_ending: invalid,
  policy_entry_not_found: bare(404, "NOT_FOUND", "There is nothing at this address."),
  not_grantable: invalid,
  recipient_refused: bare(403, "FORBIDDEN", "This server does not write to that recipient."),
  method_not_allowed: bare(405, "METHOD_NOT_ALLOWED", "This address does not take this method."),
  ref_taken: ({ details }) => ({
    status: 409,
    code: "ASK_ID_CONFLICT",
    message: "ask_id was used with another body",
    details: { ask_id: details["ask_id"] },
  }),
  ref_ambiguous: conflict,
  idempotency_mismatch: conflict,
  already_decided: conflict,
  already_answered: conflict,
  person_changed: conflict,
  digest_mismatch: as(409, "ANSWER_CONFLICT", "What was shown is not what would run"),
  escalation_limit: conflict,
  job_id_taken: as(409, "JOB_ID_CONFLICT", "job_id was used with another body"),
  job_closed: ({ details: { id, state } }) => ({
    status: 409,
    code: "JOB_CLOSED",
    message: `Job ${String(id)} has ended`,
    details: { state },
  }),
  job_external: bare(400, "VALIDATION_ERROR", REFUSALS.job_external.says),
  fenced: as(409, "FENCED", "The lease is no longer valid"),
  answer_mismatch: bare(409, "ANSWER_MISMATCH", "job_id or step_id does not belong to this Ask"),
  ask_settled: closed,
  request_expired: closed,
  request_cancelled: closed,
  headers_too_large: bare(431, "PAYLOAD_TOO_LARGE", "The headers of the request are too large."),
  body_too_large: ({ details }) => ({
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
    message: "The body is too large",
    // The framework tells of the limit of another door.
    details: details["max_bytes"] === BODY_LIMIT_BYTES ? { max_bytes: RELAY_BODY_BYTES } : details,
  }),
  too_many_values: ({ message, details }) => ({ status: 413, code: "PAYLOAD_TOO_LARGE", message, details }),
  request_too_slow: bare(408, "REQUEST_TIMEOUT", "The request took too long to arrive."),
  unsupported_media_type: as(415, "UNSUPPORTED_MEDIA_TYPE", "The body must be JSON, and not compressed."),
  misdirected: as(421, "MISDIRECTED"),
  secret_detected: ({ details }) => ({
    status: 422,
    code: "SECRET_DETECTED",
    message: "A secret was found in the body",
    details: details["finds"],
  }),
  rate_limited: limited,
  quota_exceeded: limited,
  store_unavailable: bare(503, "STORE_UNAVAILABLE", "Try again shortly."),
  store_full: bare(503, "STORE_UNAVAILABLE", REFUSALS.store_full.says),
};

function optionProblem(options: unknown): { path: string; message: string } {
  const names = Array.isArray(options) ? options.map(String).join(", ") : "";
  return { path: "/choice", message: `must be one of ${names}` };
}

/** Answers whatever was thrown in this protocol's shape. */
export const sendRelayError = errorSender(WIRE);
