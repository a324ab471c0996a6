import type { SchemaWords } from "../migration.ts";

/**
 * Executors' jobs and asks, permanent permissions, and what models cost. The columns of spec/relay 19 come first;
 * times are milliseconds.
 */
export const relay = ({ integer, text, strict }: SchemaWords): readonly string[] => [
  `CREATE TABLE jobs (
     job_id ${text} PRIMARY KEY,
     kind ${text} NOT NULL,
     state ${text} NOT NULL CHECK (state IN
       ('QUEUED', 'RUNNING', 'WAITING_ON_ANSWER', 'SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED')),
     reason ${text},
     epoch ${integer} NOT NULL,
     attempts ${integer} NOT NULL,
     max_attempts ${integer} NOT NULL,
     external ${integer} NOT NULL CHECK (external IN (0, 1)),
     owner ${text} NOT NULL,
     holder ${text},
     lease_hash ${text},
     lease_until ${integer},
     lease_ms ${integer},
     spec_json ${text},
     result_json ${text},
     artifacts_json ${text},
     env ${text},
     repo ${text},
     labels_json ${text} NOT NULL,
     priority ${text} NOT NULL CHECK (priority IN ('P0', 'P1', 'P2')),
     pending_asks ${integer} NOT NULL CHECK (pending_asks >= 0),
     seq ${integer} NOT NULL,
     kept_from ${integer} NOT NULL,
     body_hash ${text} NOT NULL,
     ttl_until ${integer} NOT NULL,
     queued_at ${integer} NOT NULL,
     ended_at ${integer},
     created_at ${integer} NOT NULL,
     updated_at ${integer} NOT NULL,
     CHECK (state NOT IN ('SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED') = (ended_at IS NULL)),
     CHECK (state <> 'WAITING_ON_ANSWER' OR pending_asks > 0)
   )${strict}`,
  `CREATE INDEX jobs_claimable ON jobs (state, priority, created_at)`,
  `CREATE INDEX jobs_leases ON jobs (lease_until) WHERE lease_until IS NOT NULL`,
  `CREATE INDEX jobs_due ON jobs (ttl_until) WHERE ended_at IS NULL`,
  `CREATE INDEX jobs_of_owner ON jobs (owner, created_at, job_id)`,
  `CREATE INDEX jobs_of_holder ON jobs (holder, created_at, job_id) WHERE holder IS NOT NULL`,
  `CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL`,
  `CREATE INDEX audit_of_call ON audit (call_id, action) WHERE call_id IS NOT NULL`,

  `CREATE TABLE job_claims (
     job_id ${text} NOT NULL REFERENCES jobs (job_id),
     epoch ${integer} NOT NULL,
     holder ${text} NOT NULL,
     worker ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (job_id, epoch)
   )${strict}`,

  `CREATE TABLE job_events (
     job_id ${text} NOT NULL REFERENCES jobs (job_id),
     seq ${integer} NOT NULL,
     event ${text} NOT NULL CHECK (event IN ('answer', 'status', 'log')),
     body ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (job_id, seq)
   )${strict}`,

  `CREATE TABLE asks (
     ask_id ${text} PRIMARY KEY,
     job_id ${text} NOT NULL REFERENCES jobs (job_id),
     step_id ${text} NOT NULL,
     ask_type ${text} NOT NULL CHECK (ask_type IN
       ('CLARIFICATION', 'RESOURCE_FETCH', 'POLICY_DECISION', 'APPROVAL', 'CHOICE')),
     prompt ${text} NOT NULL,
     context_hash ${text} NOT NULL,
     constraints_json ${text} NOT NULL,
     role_id ${text},
     meta_json ${text} NOT NULL,
     created_at ${integer} NOT NULL,
     status ${text} NOT NULL CHECK (status IN ('PENDING', 'ANSWERED', 'REJECTED', 'TIMEOUT', 'ERROR')),
     epoch ${integer} NOT NULL,
     principal ${text} NOT NULL,
     stage ${text} NOT NULL CHECK (stage IN ('intake', 'policy', 'cache', 'runner', 'people')),
     expires_at ${integer} NOT NULL,
     ended_at ${integer} CHECK ((status = 'PENDING') = (ended_at IS NULL)),
     same_hash ${text} NOT NULL,
     decision_key ${text},
     consent_digest ${text},
     joined_to ${text},
     addressed_id ${text},
     respond_at ${integer},
     tries ${integer} NOT NULL,
     wire ${text} NOT NULL
   )${strict}`,
  `CREATE INDEX idx_asks_job ON asks (job_id, created_at, ask_id)`,
  `CREATE INDEX asks_pending_of_job ON asks (job_id, epoch) WHERE status = 'PENDING'`,
  `CREATE INDEX asks_pending ON asks (status, expires_at)`,
  `CREATE INDEX asks_by_decision_key ON asks (decision_key) WHERE decision_key IS NOT NULL`,
  `CREATE INDEX asks_pending_of_principal ON asks (principal) WHERE status = 'PENDING'`,
  `CREATE INDEX asks_to_respond ON asks (respond_at) WHERE respond_at IS NOT NULL`,
  `CREATE INDEX asks_joined ON asks (joined_to) WHERE joined_to IS NOT NULL`,
  `CREATE INDEX asks_of_addressed ON asks (addressed_id) WHERE addressed_id IS NOT NULL`,

  `CREATE TABLE answers (
     ask_id ${text} PRIMARY KEY REFERENCES asks (ask_id),
     job_id ${text} NOT NULL,
     step_id ${text} NOT NULL,
     status ${text} NOT NULL CHECK (status IN ('ANSWERED', 'REJECTED', 'TIMEOUT', 'ERROR')),
     answer_text ${text},
     answer_json ${text},
     artifacts_json ${text},
     policy_trace_json ${text},
     cacheable ${integer} NOT NULL DEFAULT 1 CHECK (cacheable IN (0, 1)),
     ask_back ${text},
     error ${text},
     created_at ${integer} NOT NULL,
     error_code ${text},
     source ${text} NOT NULL CHECK (source IN ('policy', 'cache', 'runner', 'person', 'service', 'server')),
     principal ${text} NOT NULL,
     answered_by ${text},
     attestation_json ${text},
     consent_digest ${text},
     truncated ${integer} NOT NULL CHECK (truncated IN (0, 1)),
     body_hash ${text}
   )${strict}`,
  `CREATE INDEX idx_answers_job ON answers (job_id, created_at)`,
  `CREATE INDEX answers_newest ON answers (created_at)`,

  `CREATE TABLE answer_deliveries (
     ask_id ${text} NOT NULL REFERENCES asks (ask_id),
     epoch ${integer} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (ask_id, epoch)
   )${strict}`,

  `CREATE TABLE late_answers (
     ask_id ${text} NOT NULL REFERENCES asks (ask_id),
     principal ${text} NOT NULL,
     status ${text} NOT NULL,
     answer_text ${text},
     answer_json ${text},
     at ${integer} NOT NULL
   )${strict}`,
  `CREATE INDEX late_answers_of_ask ON late_answers (ask_id)`,

  `CREATE TABLE decision_cache (
     decision_key ${text} PRIMARY KEY,
     answer_json ${text},
     answer_text ${text},
     policy_trace_json ${text},
     created_at ${integer} NOT NULL,
     ttl_seconds ${integer} NOT NULL,
     seed_key ${text} NOT NULL,
     attestation_json ${text},
     role ${text},
     source ${text} NOT NULL,
     answered_by ${text},
     hits ${integer} NOT NULL,
     last_hit_at ${integer}
   )${strict}`,
  `CREATE INDEX decision_cache_age ON decision_cache (created_at)`,

  `CREATE TABLE artifacts (
     job_id ${text} NOT NULL REFERENCES jobs (job_id),
     epoch ${integer} NOT NULL,
     path ${text} NOT NULL,
     size ${integer} NOT NULL,
     sha256 ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (job_id, epoch, path)
   )${strict}`,

  // One row: the policy file is to be read again on every server whose number is another.
  `CREATE TABLE policy_reloads (
     id ${integer} PRIMARY KEY CHECK (id = 1),
     number ${integer} NOT NULL
   )${strict}`,
  `INSERT INTO policy_reloads (id, number) VALUES (1, 0)`,

  `CREATE TABLE policy_grants (
     grant_id ${text} PRIMARY KEY,
     class_key ${text} NOT NULL,
     action ${text} NOT NULL,
     resource ${text} NOT NULL,
     env ${text} NOT NULL,
     tool ${text},
     repo ${text},
     agent ${text},
     ask_id ${text} NOT NULL,
     made_by ${text} NOT NULL,
     created_at ${integer} NOT NULL,
     expires_at ${integer} NOT NULL,
     revoked_at ${integer},
     revoked_by ${text},
     uses ${integer} NOT NULL,
     used_at ${integer},
     digest ${text}
   )${strict}`,
  `CREATE INDEX policy_grants_class ON policy_grants (class_key) WHERE revoked_at IS NULL`,

  `CREATE TABLE policy_savings (
     rule ${text} NOT NULL,
     policy_version ${text} NOT NULL,
     saved ${integer} NOT NULL,
     saved_at ${integer} NOT NULL,
     PRIMARY KEY (rule, policy_version)
   )${strict}`,

  `CREATE TABLE policy_approvals (
     ask_id ${text} PRIMARY KEY,
     class_key ${text} NOT NULL,
     approved_at ${integer} NOT NULL
   )${strict}`,
  `CREATE INDEX policy_approvals_class ON policy_approvals (class_key, approved_at)`,

  `CREATE TABLE policy_proposals (
     proposal_id ${text} PRIMARY KEY,
     class_key ${text} NOT NULL UNIQUE,
     rule ${text} NOT NULL,
     state ${text} NOT NULL CHECK (state IN ('open', 'accepted', 'dismissed', 'revoked')),
     approvals ${integer} NOT NULL,
     created_at ${integer} NOT NULL,
     decided_by ${text},
     decided_at ${integer}
   )${strict}`,

  `CREATE TABLE tool_pins (
     name ${text} PRIMARY KEY,
     hash ${text} NOT NULL,
     definition ${text} NOT NULL,
     pinned_at ${integer} NOT NULL,
     changed_hash ${text},
     changed_definition ${text},
     changed_at ${integer}
   )${strict}`,

  // The unit is nano-USD where prices are set, and tokens where they are not.
  `CREATE TABLE runner_spending (
     month ${text} NOT NULL,
     unit ${text} NOT NULL CHECK (unit IN ('nano_usd', 'tokens')),
     spent ${integer} NOT NULL,
     input_tokens ${integer} NOT NULL,
     output_tokens ${integer} NOT NULL,
     PRIMARY KEY (month, unit)
   )${strict}`,

  `CREATE TABLE runner_runs (
     decision_key ${text} PRIMARY KEY,
     ask_id ${text} NOT NULL,
     outcome ${text},
     claimed_until ${integer} NOT NULL
   )${strict}`,
  `CREATE INDEX runner_runs_over ON runner_runs (claimed_until)`,
  `CREATE INDEX relay_asks_newest ON asks (created_at, ask_id)`,
  `CREATE INDEX jobs_newest ON jobs (created_at, job_id)`,
];
