/** The codes with which a server refuses, as they appear on the wire. */

export type A2hErrorCode =
  | "already_claimed"
  | "already_responded"
  | "call_id_ambiguous"
  | "call_id_conflict"
  | "cancelled"
  | "channel_unavailable"
  | "decided_with_plan"
  | "expired"
  | "host_not_allowed"
  | "insufficient_scope"
  | "internal"
  | "invalid_json"
  | "method_not_allowed"
  | "not_approved"
  | "not_decided"
  | "not_found"
  | "not_in_plan"
  | "origin_not_allowed"
  | "outcome_known"
  | "outcome_started"
  | "rate_limited"
  | "recipient_not_allowed"
  | "schema_invalid"
  | "too_large"
  | "uid_conflict"
  | "unauthorized"
  | "unavailable"
  | "unknown_channel"
  | "unknown_human"
  | "unsupported_media_type"
  | "validation_failed";

// Refusals

/** Codes of the inbox, of tasks and of administration, beside those of every door. */
export type NamedErrorCode =
  | "ALREADY_DECIDED"
  | "CANCELLED"
  | "CONFLICT"
  | "DEPENDENCY_CYCLE"
  | "DIFF_NOT_FOUND"
  | "DIGEST_MISMATCH"
  | "EXPIRED"
  | "FORBIDDEN"
  | "NOT_ASKED"
  | "NOT_COUNTED"
  | "NOT_GRANTABLE"
  | "POLICY_FILE_CHANGED"
  | "POLICY_FILE_FIXED"
  | "REPO_NOT_FOUND"
  | "REVIEW_CONFLICT"
  | "SECRET_DETECTED"
  | "TASK_ENDING"
  | "TASK_NOT_ENDED"
  | "TASK_NOT_FOUND";

export type ErrorCode =
  | NamedErrorCode
  | "VALIDATION_ERROR"
  | "UNAUTHORIZED"
  | "AGENT_QUOTA_EXCEEDED"
  | "ORIGIN_REFUSED"
  | "SELF_ANSWER"
  | "ANSWER_FIRST"
  | "QUESTION_NOT_FOUND"
  | "SUBSCRIPTION_NOT_FOUND"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "ALREADY_ANSWERED"
  | "PERSON_CHANGED"
  | "IDEMPOTENCY_MISMATCH"
  | "QUESTION_CLOSED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "MISDIRECTED"
  | "RATE_LIMITED"
  | "SERVER_ERROR"
  | "STORE_UNAVAILABLE";

export interface ErrorBody {
  error: {
    code: ErrorCode | A2hErrorCode;
    message: string;
    details?: Record<string, unknown>;
    /** A2H has what else there is to say beside the message. */
    [fact: string]: unknown;
  };
}
