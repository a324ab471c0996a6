import { REFUSALS } from "../../refusals.ts";
import { as, bare, errorSender, secretDetected, SHARED_CODES, SHARED_KINDS } from "../http/wire-errors.ts";

/** The longest body of this door, in bytes. */
export const ASSIGNMENT_BODY_BYTES = 262_144;

/** Answers whatever was thrown in this protocol's shape (spec/assignment 2). */
export const sendAssignmentError = errorSender({
  challenge: "Bearer",
  kinds: {
    ...SHARED_KINDS,
    invalid: as(400, "VALIDATION_ERROR"),
    forbidden: as(403, "FORBIDDEN"),
    not_found: bare(404, "NOT_FOUND", REFUSALS.route_not_found.says),
    method: as(405, "METHOD_NOT_ALLOWED"),
    conflict: as(409, "CONFLICT"),
    gone: as(409, "CONFLICT"),
    media_type: as(415, "UNSUPPORTED_MEDIA_TYPE"),
    secret: secretDetected("A secret was found in the prompt"),
    limited: ({ details }) => ({
      status: 429,
      code: "RATE_LIMITED",
      message: details["open"] === undefined ? "Too many requests." : "Too many open tasks.",
      details,
    }),
  },
  codes: {
    ...SHARED_CODES,
    person_needed: bare(403, "FORBIDDEN", "Only a person may review: the key must be bound to one"),
    repo_not_found: as(404, "REPO_NOT_FOUND"),
    task_not_found: as(404, "TASK_NOT_FOUND"),
    diff_not_found: as(404, "DIFF_NOT_FOUND"),
    dependency_cycle: as(409, "DEPENDENCY_CYCLE"),
    idempotency_mismatch: as(409, "IDEMPOTENCY_MISMATCH"),
    review_conflict: as(409, "REVIEW_CONFLICT"),
    task_not_ended: as(409, "TASK_NOT_ENDED"),
    task_over: as(409, "TASK_OVER"),
    reads_no_notes: as(409, "READS_NO_NOTES"),
    note_limit: as(409, "NOTE_LIMIT"),
    body_too_large: () => ({
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
      message: "The body is too large",
      details: { max_bytes: ASSIGNMENT_BODY_BYTES },
    }),
    task_ending: as(503, "TASK_ENDING"),
  },
});
