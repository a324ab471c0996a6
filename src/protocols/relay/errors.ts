import { Refusal, REFUSALS } from "../../refusals.ts";
import { BODY_LIMIT_BYTES } from "../http/errors.ts";
import {
  as,
  bare,
  errorSender,
  secretDetected,
  SHARED_CODES,
  SHARED_KINDS,
  type PrintError,
} from "../http/wire-errors.ts";

/** The longest body of this door, in bytes. */
export const RELAY_BODY_BYTES = 1_048_576;

const invalid: PrintError = (refusal, http) =>
  as(400, "VALIDATION_ERROR", `${http.method === "GET" ? "Query" : "Request body"} is not valid`)(refusal, http);
const selfAnswer = bare(403, "SELF_ANSWER", "The asker cannot answer its own Ask");
const missingAsk = bare(404, "ASK_NOT_FOUND", "No such Ask");
const missing = bare(404, "NOT_FOUND", REFUSALS.route_not_found.says);
const closed = as(410, "ASK_CLOSED", "The Ask is closed");

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
    window_seconds: details["window_seconds"],
    pending: details["open"],
    retry_after: details["retry_after"],
  },
});

function optionProblem(options: unknown): Problem {
  const names = Array.isArray(options) ? options.map(String).join(", ") : "";
  return { path: "/choice", message: `must be one of ${names}` };
}

/** Answers whatever was thrown in this protocol's shape (spec/relay 6). */
export const sendRelayError = errorSender({
  kinds: {
    ...SHARED_KINDS,
    invalid,
    forbidden: bare(403, "FORBIDDEN"),
    not_found: missingAsk,
    method: bare(405, "METHOD_NOT_ALLOWED"),
    conflict: as(409, "ANSWER_CONFLICT", "The Ask already has an answer"),
    gone: closed,
    media_type: as(415, "UNSUPPORTED_MEDIA_TYPE", REFUSALS.unsupported_media_type.says),
    secret: secretDetected("A secret was found in the body"),
    limited,
  },
  codes: {
    ...SHARED_CODES,
    job_external: bare(400, "VALIDATION_ERROR"),
    wrong_decision: misfit,
    answer_misfit: misfit,
    unknown_option: ({ details }, http) =>
      misfit(new Refusal("answer_misfit", { errors: [optionProblem(details["options"])] }), http),
    self_answer: selfAnswer,
    self_response: selfAnswer,
    person_needed: bare(403, "APPROVAL_NEEDS_PERSON"),
    // A caller who may not answer an Ask does not learn that it exists.
    not_asked: missingAsk,
    not_counted: missingAsk,
    answer_first: missingAsk,
    code_missing: missingAsk,
    route_not_found: missing,
    policy_entry_not_found: missing,
    job_not_found: bare(404, "JOB_NOT_FOUND"),
    artifact_not_found: bare(404, "ARTIFACT_NOT_FOUND"),
    feature_disabled: bare(404, "FEATURE_DISABLED"),
    ref_taken: ({ details }) => ({
      status: 409,
      code: "ASK_ID_CONFLICT",
      message: "ask_id was used with another body",
      details: { ask_id: details["ask_id"] },
    }),
    frozen: ({ message }) => ({ status: 409, code: "FROZEN", message }),
    digest_mismatch: as(409, "ANSWER_CONFLICT", "What was shown is not what would run"),
    job_id_taken: as(409, "JOB_ID_CONFLICT", REFUSALS.job_id_taken.says),
    job_closed: ({ details: { id, state } }) => ({
      status: 409,
      code: "JOB_CLOSED",
      message: `Job ${String(id)} has ended`,
      details: { state },
    }),
    fenced: as(409, "FENCED", REFUSALS.fenced.says),
    not_approved: bare(409, "NOT_APPROVED"),
    outcome_known: ({ message, details: { state } }) => ({
      status: 409,
      code: "OUTCOME_KNOWN",
      message,
      details: { state },
    }),
    outcome_started: ({ message, details: { state } }) => ({
      status: 409,
      code: "OUTCOME_STARTED",
      message,
      details: { state },
    }),
    answer_mismatch: bare(409, "ANSWER_MISMATCH"),
    request_expired: closed,
    request_cancelled: closed,
    body_too_large: ({ details }) => ({
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
      message: "The body is too large",
      // The framework tells of the limit of another door.
      details: details["max_bytes"] === BODY_LIMIT_BYTES ? { max_bytes: RELAY_BODY_BYTES } : details,
    }),
    // This protocol has no words of its own for tasks and for permissions for good.
    repo_not_found: missing,
    task_not_found: missing,
    diff_not_found: missing,
    dependency_cycle: invalid,
    review_conflict: invalid,
    task_not_ended: invalid,
    task_over: invalid,
    task_ending: invalid,
    policy_file_changed: invalid,
    policy_file_fixed: invalid,
    not_grantable: invalid,
  },
});
