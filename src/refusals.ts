/** How a request can be declined, in words every protocol has: each door says how it prints each kind. */
export type RefusalKind =
  | "malformed"
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "method"
  | "too_slow"
  | "conflict"
  | "gone"
  | "too_large"
  | "media_type"
  | "misdirected"
  | "secret"
  | "limited"
  | "unavailable";

/** Every considered "no". `docs/reference/errors.md` lists this table; a test keeps the two equal. */
export const REFUSALS = {
  invalid_json: { kind: "malformed", says: "The body is not valid JSON" },
  body_not_object: { kind: "invalid", says: "The body must be a JSON object" },
  invalid_input: { kind: "invalid", says: "The request has a field that is not valid." },
  key_required: { kind: "unauthenticated", says: "A valid key is required." },
  passed_on: { kind: "unauthenticated", says: "This came through a proxy: set PARLEY_PUBLIC_URL, and use a key." },
  wrong_scope: { kind: "unauthenticated", says: "A valid key is required." },
  sign_in_refused: {
    kind: "unauthenticated",
    says: "This sign-in link was used already, has expired or is not known.",
  },
  origin_refused: { kind: "forbidden", says: "Requests from this origin are not accepted." },
  self_answer: { kind: "forbidden", says: "Whoever asks a question cannot answer it." },
  answer_first: { kind: "forbidden", says: "Answers are shown after you have given your own." },
  quota_exceeded: { kind: "limited", says: "Too many open questions." },
  question_not_found: { kind: "not_found", says: "The requested question does not exist or has expired." },
  subscription_not_found: { kind: "not_found", says: "The requested subscription does not exist." },
  recovery_refused: { kind: "not_found", says: "This recovery code was used already, has expired or is not known." },
  key_not_found: { kind: "not_found", says: "There is no such key." },
  person_not_found: { kind: "not_found", says: "No person has this number." },
  route_not_found: { kind: "not_found", says: "There is nothing at this address." },
  method_not_allowed: { kind: "method", says: "This address does not take this method." },
  already_answered: { kind: "conflict", says: "You have already answered this question." },
  person_changed: { kind: "conflict", says: "Somebody else is signed in than wrote this." },
  idempotency_mismatch: { kind: "conflict", says: "This idempotency key was used with a different request." },
  question_closed: { kind: "gone", says: "This question no longer accepts answers." },
  rate_limited: { kind: "limited", says: "Too many requests." },
  bad_http: { kind: "malformed", says: "This is not a request that HTTP allows." },
  headers_too_large: { kind: "too_large", says: "The headers of the request are too large." },
  request_too_slow: { kind: "too_slow", says: "The request took too long to arrive." },
  body_too_large: { kind: "too_large", says: "The body is too large." },
  too_many_values: { kind: "too_large", says: "The body holds more than 10,000 values." },
  unsupported_media_type: { kind: "media_type", says: "The body must be JSON, and not compressed." },
  misdirected: { kind: "misdirected", says: "This server does not answer to that host name; set PARLEY_PUBLIC_URL." },
  name_taken: { kind: "conflict", says: "This name cannot be chosen: somebody has it, or it was removed." },
  name_not_found: { kind: "not_found", says: "Nobody has this name on the leaderboard." },
  not_asked: { kind: "forbidden", says: "This person was not asked." },
  not_counted: { kind: "forbidden", says: "Only enrolled people count where several have to agree." },
  self_response: { kind: "forbidden", says: "An agent may not answer its own request." },
  frozen: { kind: "conflict", says: "The agent is frozen: nothing is approved until an admin thaws it." },
  freeze_not_found: { kind: "not_found", says: "There is no such freeze." },
  scope_missing: { kind: "forbidden", says: "This key may not do that." },
  recipient_refused: { kind: "forbidden", says: "This server does not write to that recipient." },
  request_not_found: { kind: "not_found", says: "There is no such request." },
  call_not_found: { kind: "not_found", says: "There is no such call." },
  conversation_not_found: { kind: "not_found", says: "There is no such conversation." },
  message_not_found: { kind: "not_found", says: "There is no such message." },
  entry_point_not_found: { kind: "not_found", says: "There is no such entry point." },
  human_not_found: { kind: "not_found", says: "There is no such human." },
  human_unknown: { kind: "invalid", says: "No human has this id." },
  channel_not_found: { kind: "invalid", says: "No channel has this id." },
  channel_unavailable: { kind: "invalid", says: "This channel is not configured on this server." },
  ref_taken: { kind: "conflict", says: "This id was already used for a different request." },
  ref_ambiguous: { kind: "conflict", says: "Several agents use this id; address the request by its own." },
  already_decided: { kind: "conflict", says: "This request has already been answered." },
  not_decided: { kind: "conflict", says: "Nobody has decided this request yet." },
  decided_with_plan: { kind: "conflict", says: "This call is part of a plan, and is decided with it." },
  not_in_plan: { kind: "conflict", says: "This is not the next approved call of the plan." },
  already_claimed: { kind: "conflict", says: "Another run has claimed this decision, and may have acted on it." },
  not_approved: { kind: "conflict", says: "This call was not approved, so nothing became of it." },
  outcome_known: { kind: "conflict", says: "The outcome of this call is known already, and is another one." },
  outcome_started: { kind: "conflict", says: "This call has started, so it cannot be withdrawn." },
  request_expired: { kind: "conflict", says: "This request expired before it was answered." },
  request_cancelled: { kind: "conflict", says: "This request was cancelled by its agent." },
  digest_mismatch: { kind: "conflict", says: "What was shown is not what would run." },
  cannot_ask_back: { kind: "conflict", says: "The agent of this request cannot be asked back." },
  inquiry_not_found: { kind: "not_found", says: "There is no such inquiry." },
  inquiry_answered: { kind: "conflict", says: "This inquiry has another answer already." },
  reads_no_notes: { kind: "conflict", says: "The agent of this request reads no notes while it works." },
  note_limit: { kind: "conflict", says: "20 notes wait for this agent already." },
  inquiry_limit: { kind: "conflict", says: "The agent of a request can be asked back 10 times." },
  escalation_limit: { kind: "conflict", says: "A request can be escalated 10 times." },
  unknown_option: { kind: "invalid", says: "This option was not offered." },
  not_editable: { kind: "invalid", says: "This request does not take edited arguments." },
  wrong_decision: { kind: "invalid", says: "This request is decided in another way." },
  answer_misfit: { kind: "invalid", says: "The answer does not fit what was asked for." },
  schema_refused: { kind: "invalid", says: "The JSON Schema cannot be used." },
  code_missing: { kind: "forbidden", says: "The code from the message is missing or wrong." },
  link_dead: { kind: "not_found", says: "This link does not work." },
  ask_not_found: { kind: "not_found", says: "There is no such request." },
  ask_closed: { kind: "gone", says: "The Ask is closed" },
  job_not_found: { kind: "not_found", says: "No such job" },
  artifact_not_found: { kind: "not_found", says: "No such artifact" },
  feature_disabled: { kind: "not_found", says: "phase2_ask_answer is off" },
  job_id_taken: { kind: "conflict", says: "job_id was used with another body" },
  job_closed: { kind: "conflict", says: "The job has ended" },
  job_external: { kind: "invalid", says: "An external job has no lease to give back: finish it or cancel it." },
  fenced: { kind: "conflict", says: "The lease is no longer valid" },
  answer_mismatch: { kind: "conflict", says: "job_id or step_id does not belong to this Ask" },
  person_needed: { kind: "forbidden", says: "Only a person may decide this Ask" },
  secret_detected: { kind: "secret", says: "A secret was found in the body" },
  repo_not_found: { kind: "not_found", says: "There is no such repository here." },
  repo_refused: { kind: "forbidden", says: "This key is not good for this repository." },
  task_not_found: { kind: "not_found", says: "There is no such task." },
  diff_not_found: { kind: "not_found", says: "There is nothing to compare yet." },
  dependency_cycle: { kind: "conflict", says: "The task would depend on itself." },
  review_conflict: { kind: "conflict", says: "This work is not up for review any more." },
  task_not_ended: { kind: "conflict", says: "The task has not ended without a result." },
  task_over: { kind: "conflict", says: "The task is over: nobody works on it." },
  task_ending: { kind: "unavailable", says: "Processes of the task are still there." },
  policy_entry_not_found: {
    kind: "not_found",
    says: "There is no such permanent permission, proposal or learned rule.",
  },
  policy_file_changed: { kind: "conflict", says: "The policy file changed meanwhile; look at it again." },
  policy_file_fixed: { kind: "conflict", says: "This server cannot change its policy file." },
  not_grantable: { kind: "conflict", says: "This cannot be allowed for good: it does not say what would be done." },
  store_unavailable: { kind: "unavailable", says: "Try again shortly." },
  store_full: {
    kind: "unavailable",
    says: "The disk of this server is full; try again when there is room.",
  },
} as const satisfies Record<string, { kind: RefusalKind; says: string }>;

export type RefusalCode = keyof typeof REFUSALS;

/** A request that was understood and is declined. Anything else thrown is a bug of ours. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly kind: RefusalKind;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: RefusalCode, details: Record<string, unknown> = {}, says: string = REFUSALS[code].says) {
    super(says);
    this.name = "Refusal";
    this.code = code;
    this.kind = REFUSALS[code].kind;
    this.details = details;
  }
}
