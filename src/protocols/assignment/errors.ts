import { REFUSALS, type RefusalCode } from "../../refusals.ts";
import { as, bare, errorSender, type PrintError } from "../http/wire-errors.ts";

/** The longest body of this door, in bytes. */
export const ASSIGNMENT_BODY_BYTES = 262_144;

const invalid = as(400, "VALIDATION_ERROR");
const unauthorized = bare(401, "UNAUTHORIZED", "A valid key is required.");
const missing = bare(404, "NOT_FOUND", "There is nothing at this address.");
const conflict = as(409, "CONFLICT");

const scopeMissing: PrintError = ({ details }) => ({
  status: 403,
  code: "FORBIDDEN",
  message: `This key lacks the scope ${String(details["scope"])}`,
  details: { scope: details["scope"] },
});

const limited: PrintError = ({ details }) => ({
  status: 429,
  code: "RATE_LIMITED",
  message: details["open"] === undefined ? "Too many requests." : "Too many open tasks.",
  details,
});

/** Everything that can be declined, as this protocol says it (spec/assignment 2). */
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
  wrong_decision: invalid,
  unknown_option: invalid,
  answer_misfit: invalid,
  key_required: unauthorized,
  passed_on: as(401, "UNAUTHORIZED"),
  sign_in_refused: unauthorized,
  wrong_scope: scopeMissing,
  scope_missing: scopeMissing,
  repo_refused: as(403, "FORBIDDEN"),
  person_needed: bare(403, "FORBIDDEN", "Only a person may review: the key must be bound to one"),
  recipient_refused: as(403, "FORBIDDEN"),
  self_answer: as(403, "FORBIDDEN"),
  name_needed: as(403, "FORBIDDEN"),
  self_response: as(403, "FORBIDDEN"),
  not_asked: as(403, "FORBIDDEN"),
  not_counted: as(403, "FORBIDDEN"),
  answer_first: as(403, "FORBIDDEN"),
  code_missing: as(403, "FORBIDDEN"),
  origin_refused: bare(403, "ORIGIN_REFUSED", "Requests from this origin are not accepted."),
  repo_not_found: as(404, "REPO_NOT_FOUND"),
  task_not_found: as(404, "TASK_NOT_FOUND"),
  diff_not_found: as(404, "DIFF_NOT_FOUND"),
  route_not_found: missing,
  link_dead: missing,
  ask_not_found: missing,
  request_not_found: missing,
  subscription_not_found: missing,
  recovery_refused: missing,
  key_not_found: missing,
  person_not_found: missing,
  human_not_found: missing,
  job_not_found: missing,
  artifact_not_found: missing,
  feature_disabled: missing,
  policy_entry_not_found: missing,
  method_not_allowed: as(405, "METHOD_NOT_ALLOWED"),
  dependency_cycle: as(409, "DEPENDENCY_CYCLE"),
  idempotency_mismatch: as(409, "IDEMPOTENCY_MISMATCH"),
  review_conflict: as(409, "REVIEW_CONFLICT"),
  task_not_ended: as(409, "TASK_NOT_ENDED"),
  ref_taken: conflict,
  ref_ambiguous: conflict,
  already_decided: conflict,
  already_answered: conflict,
  person_changed: conflict,
  digest_mismatch: conflict,
  escalation_limit: conflict,
  job_id_taken: conflict,
  job_closed: conflict,
  job_external: invalid,
  fenced: conflict,
  answer_mismatch: conflict,
  not_grantable: conflict,
  ask_settled: conflict,
  request_expired: conflict,
  request_cancelled: conflict,
  headers_too_large: bare(431, "PAYLOAD_TOO_LARGE", "The headers of the request are too large."),
  body_too_large: () => ({
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
    message: "The body is too large",
    details: { max_bytes: ASSIGNMENT_BODY_BYTES },
  }),
  too_many_values: ({ message, details }) => ({ status: 413, code: "PAYLOAD_TOO_LARGE", message, details }),
  request_too_slow: bare(408, "REQUEST_TIMEOUT", "The request took too long to arrive."),
  unsupported_media_type: as(415, "UNSUPPORTED_MEDIA_TYPE"),
  misdirected: as(421, "MISDIRECTED"),
  secret_detected: ({ details }) => ({
    status: 422,
    code: "SECRET_DETECTED",
    message: "A secret was found in the prompt",
    details: details["finds"],
  }),
  rate_limited: limited,
  quota_exceeded: limited,
  task_ending: as(503, "TASK_ENDING"),
  store_unavailable: bare(503, "STORE_UNAVAILABLE", "Try again shortly."),
  store_full: bare(503, "STORE_UNAVAILABLE", REFUSALS.store_full.says),
};

/** Answers whatever was thrown in this protocol's shape. */
export const sendAssignmentError = errorSender(WIRE, { challenge: "Bearer" });
