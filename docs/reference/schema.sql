-- The tables of a store, schema 53, as SQLite has them. Times are epoch milliseconds, `…_json` and most
-- long texts are JSON. PostgreSQL has the same tables: INTEGER is BIGINT, TEXT is TEXT COLLATE "C", and a counted
-- primary key is an identity. Written by scripts/schema.mjs; a test holds it equal to the migrations.

CREATE TABLE absences (
  person TEXT NOT NULL PRIMARY KEY,
  stand_in TEXT,
  from_at INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;
CREATE INDEX absences_stand_in ON absences (stand_in);

CREATE TABLE agent_notes (
  note_id TEXT NOT NULL PRIMARY KEY,
  agent TEXT NOT NULL,
  run TEXT NOT NULL,
  ask_id TEXT,
  person TEXT NOT NULL,
  words TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  given_at INTEGER
) STRICT;
CREATE INDEX agent_notes_of_asks ON agent_notes (ask_id) WHERE ask_id IS NOT NULL;
CREATE INDEX agent_notes_of_runs ON agent_notes (agent, run, sent_at, note_id);
CREATE INDEX agent_notes_sent ON agent_notes (sent_at);

CREATE TABLE answer_deliveries (
  ask_id TEXT NOT NULL REFERENCES asks (ask_id),
  epoch INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (ask_id, epoch)
) STRICT;

CREATE TABLE answers (
  ask_id TEXT PRIMARY KEY REFERENCES asks (ask_id),
  job_id TEXT NOT NULL,
  step_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ANSWERED', 'REJECTED', 'TIMEOUT', 'ERROR')),
  answer_text TEXT,
  answer_json TEXT,
  artifacts_json TEXT,
  policy_trace_json TEXT,
  cacheable INTEGER NOT NULL DEFAULT 1 CHECK (cacheable IN (0, 1)),
  ask_back TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  error_code TEXT,
  source TEXT NOT NULL CHECK (source IN ('policy', 'cache', 'runner', 'person', 'service', 'server')),
  principal TEXT NOT NULL,
  answered_by TEXT,
  attestation_json TEXT,
  consent_digest TEXT,
  truncated INTEGER NOT NULL CHECK (truncated IN (0, 1)),
  body_hash TEXT
) STRICT;
CREATE INDEX answers_newest ON answers (created_at);
CREATE INDEX idx_answers_job ON answers (job_id, created_at);

CREATE TABLE artifacts (
  job_id TEXT NOT NULL REFERENCES jobs (job_id),
  epoch INTEGER NOT NULL,
  path TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (job_id, epoch, path)
) STRICT;

CREATE TABLE ask_outcomes (
  ask_id TEXT NOT NULL PRIMARY KEY,
  asker TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('awaited', 'started', 'done', 'failed', 'unknown', 'not_run', 'withdrawn', 'not_reported')),
  at INTEGER NOT NULL,
  due_at INTEGER,
  run TEXT,
  result_digest TEXT,
  words TEXT
) STRICT;
CREATE INDEX ask_outcomes_at ON ask_outcomes (at);
CREATE INDEX ask_outcomes_due ON ask_outcomes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ask_outcomes_without_end ON ask_outcomes (at) WHERE state IN ('started', 'unknown');

CREATE TABLE asks (
  ask_id TEXT PRIMARY KEY,
  job_id TEXT NOT NULL REFERENCES jobs (job_id),
  step_id TEXT NOT NULL,
  ask_type TEXT NOT NULL CHECK (ask_type IN ('CLARIFICATION', 'RESOURCE_FETCH', 'POLICY_DECISION', 'APPROVAL', 'CHOICE')),
  prompt TEXT NOT NULL,
  context_hash TEXT NOT NULL,
  constraints_json TEXT NOT NULL,
  role_id TEXT,
  meta_json TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('PENDING', 'ANSWERED', 'REJECTED', 'TIMEOUT', 'ERROR')),
  epoch INTEGER NOT NULL,
  principal TEXT NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('intake', 'policy', 'cache', 'runner', 'people')),
  expires_at INTEGER NOT NULL,
  ended_at INTEGER CHECK ((status = 'PENDING') = (ended_at IS NULL)),
  same_hash TEXT NOT NULL,
  decision_key TEXT,
  consent_digest TEXT,
  joined_to TEXT,
  addressed_id TEXT,
  respond_at INTEGER,
  tries INTEGER NOT NULL,
  wire TEXT NOT NULL,
  question_id TEXT
) STRICT;
CREATE INDEX asks_by_decision_key ON asks (decision_key) WHERE decision_key IS NOT NULL;
CREATE INDEX asks_ended ON asks (ended_at, ask_id) WHERE ended_at IS NOT NULL;
CREATE INDEX asks_joined ON asks (joined_to) WHERE joined_to IS NOT NULL;
CREATE INDEX asks_of_addressed ON asks (addressed_id) WHERE addressed_id IS NOT NULL;
CREATE INDEX asks_pending ON asks (status, expires_at);
CREATE INDEX asks_pending_of_job ON asks (job_id, epoch) WHERE status = 'PENDING';
CREATE INDEX asks_pending_of_principal ON asks (principal) WHERE status = 'PENDING';
CREATE UNIQUE INDEX asks_question ON asks (question_id) WHERE question_id IS NOT NULL;
CREATE INDEX asks_to_respond ON asks (respond_at) WHERE respond_at IS NOT NULL;
CREATE INDEX idx_asks_job ON asks (job_id, created_at, ask_id);
CREATE INDEX relay_asks_newest ON asks (created_at, ask_id);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  seq INTEGER,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  agent TEXT,
  ask_id TEXT,
  call_id TEXT,
  entry TEXT NOT NULL,
  data TEXT,
  prev TEXT,
  hash TEXT,
  CHECK ((seq IS NULL) = (prev IS NULL) AND (seq IS NULL) = (hash IS NULL))
) STRICT;
CREATE UNIQUE INDEX audit_by_seq ON audit (seq);
CREATE INDEX audit_of_ask ON audit (ask_id) WHERE ask_id IS NOT NULL;
CREATE INDEX audit_of_call ON audit (call_id, action) WHERE call_id IS NOT NULL;
CREATE INDEX audit_of_freezes ON audit (at, id) WHERE action IN ('freeze.made', 'freeze.ended');
CREATE INDEX audit_unsealed ON audit (id) WHERE seq IS NULL;

CREATE TABLE audit_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT;

CREATE TABLE badges (
  person TEXT NOT NULL,
  badge TEXT NOT NULL,
  ask_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (person, badge)
) STRICT;

CREATE TABLE call_outcomes (
  ask_id TEXT NOT NULL PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('awaited', 'started', 'done', 'failed', 'unknown', 'not_run', 'withdrawn', 'not_reported')),
  at INTEGER NOT NULL,
  due_at INTEGER,
  run TEXT,
  result_digest TEXT,
  words TEXT
) STRICT;
CREATE INDEX call_outcomes_at ON call_outcomes (at);
CREATE INDEX call_outcomes_due ON call_outcomes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX call_outcomes_without_end ON call_outcomes (at) WHERE state IN ('started', 'unknown');

CREATE TABLE conversation_messages (
  uid TEXT PRIMARY KEY,
  seq INTEGER NOT NULL UNIQUE,
  conversation INTEGER NOT NULL REFERENCES conversations (number),
  agent TEXT NOT NULL,
  source TEXT NOT NULL UNIQUE,
  words TEXT NOT NULL,
  raw TEXT NOT NULL,
  follow_up INTEGER NOT NULL CHECK (follow_up IN (0, 1)),
  created_at INTEGER NOT NULL,
  acked_at INTEGER
) STRICT;
CREATE INDEX conversation_messages_of ON conversation_messages (conversation, seq);
CREATE INDEX conversation_messages_of_agent ON conversation_messages (agent, seq);
CREATE INDEX conversation_messages_untaken ON conversation_messages (agent, seq) WHERE acked_at IS NULL;

CREATE TABLE conversation_threads (
  thread TEXT PRIMARY KEY,
  conversation INTEGER NOT NULL REFERENCES conversations (number)
) STRICT;
CREATE INDEX conversation_threads_of ON conversation_threads (conversation);

CREATE TABLE conversations (
  number INTEGER PRIMARY KEY,
  entry TEXT NOT NULL,
  agent TEXT NOT NULL,
  channel TEXT NOT NULL CHECK (channel IN ('slack', 'email', 'sms', 'whatsapp', 'inbox')),
  person TEXT REFERENCES people (person_id),
  opener TEXT NOT NULL,
  target TEXT NOT NULL,
  sealed_key TEXT,
  created_at INTEGER NOT NULL,
  said_at INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_of_person ON conversations (person, said_at) WHERE person IS NOT NULL;
CREATE INDEX conversations_quiet ON conversations (said_at);

CREATE TABLE decision_cache (
  decision_key TEXT PRIMARY KEY,
  answer_json TEXT,
  answer_text TEXT,
  policy_trace_json TEXT,
  created_at INTEGER NOT NULL,
  ttl_seconds INTEGER NOT NULL,
  seed_key TEXT NOT NULL,
  attestation_json TEXT,
  role TEXT,
  source TEXT NOT NULL,
  answered_by TEXT,
  hits INTEGER NOT NULL,
  last_hit_at INTEGER
) STRICT;
CREATE INDEX decision_cache_age ON decision_cache (created_at);

CREATE TABLE decisions (
  ask_id TEXT NOT NULL REFERENCES requests (ask_id),
  ord INTEGER NOT NULL,
  by_id TEXT NOT NULL,
  responder TEXT NOT NULL,
  counted TEXT NOT NULL,
  PRIMARY KEY (ask_id, by_id),
  UNIQUE (ask_id, ord)
) STRICT;

CREATE TABLE deliveries (
  delivery_id TEXT PRIMARY KEY,
  ask_id TEXT NOT NULL REFERENCES requests (ask_id),
  kind TEXT NOT NULL CHECK (kind IN ('ask', 'remind', 'tell')),
  channel TEXT NOT NULL,
  target TEXT NOT NULL,
  person TEXT,
  step INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'closing', 'closed', 'failed', 'skipped')),
  due_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  external_ids TEXT,
  thread TEXT,
  words TEXT,
  shown_digest TEXT,
  link_hash TEXT UNIQUE,
  reply_hash TEXT UNIQUE,
  tries INTEGER NOT NULL,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  long_target TEXT,
  exposed_at INTEGER,
  tried_at INTEGER,
  UNIQUE (ask_id, kind, step, channel, target)
) STRICT;
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state IN ('queued', 'sending', 'closing');
CREATE INDEX deliveries_of_thread ON deliveries (thread) WHERE thread IS NOT NULL;

CREATE TABLE events (
  stream TEXT NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  ask_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (stream, seq)
) STRICT;
CREATE INDEX events_at ON events (at);

CREATE TABLE fallbacks (
  ask_id TEXT PRIMARY KEY REFERENCES questions (ask_id),
  person TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  addressed_id TEXT,
  over INTEGER NOT NULL CHECK (over IN (0, 1))
) STRICT;
CREATE INDEX fallbacks_due ON fallbacks (due_at) WHERE over = 0;

CREATE TABLE fingerprints (
  fingerprint TEXT PRIMARY KEY,
  participant_id TEXT NOT NULL
) STRICT;
CREATE INDEX fingerprints_of_participant ON fingerprints (participant_id);

CREATE TABLE freezes (
  freeze_id TEXT NOT NULL PRIMARY KEY,
  scope TEXT NOT NULL CHECK (scope IN ('all', 'person', 'agent')),
  subject TEXT NOT NULL,
  made_by TEXT NOT NULL,
  made_by_kind TEXT NOT NULL,
  via TEXT NOT NULL,
  reason TEXT,
  made_at INTEGER NOT NULL,
  settled_at INTEGER NOT NULL,
  UNIQUE (scope, subject)
) STRICT;

CREATE TABLE gate_calls (
  ask_id TEXT PRIMARY KEY,
  asker TEXT NOT NULL,
  gate TEXT NOT NULL,
  tool TEXT NOT NULL,
  same_hash TEXT NOT NULL,
  policy_version TEXT NOT NULL,
  good_until INTEGER NOT NULL,
  digest TEXT NOT NULL,
  repeatable INTEGER NOT NULL CHECK (repeatable IN (0, 1)),
  again_of TEXT,
  state TEXT NOT NULL CHECK (state IN ('asked', 'dropped', 'started', 'ended', 'unknown', 'settled')),
  run TEXT,
  consent_digest TEXT,
  started_at INTEGER,
  held_until INTEGER,
  ended_at INTEGER,
  outcome TEXT CHECK (outcome IN ('result', 'error')),
  result_digest TEXT,
  frozen_ms INTEGER NOT NULL DEFAULT 0,
  CHECK ((run IS NULL) = (state IN ('asked', 'dropped'))),
  CHECK ((run IS NULL) = (started_at IS NULL) AND (run IS NULL) = (held_until IS NULL) AND (run IS NULL) = (consent_digest IS NULL)),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL) AND (state = 'ended') = (outcome IS NOT NULL) AND (state = 'ended') = (result_digest IS NOT NULL))
) STRICT;
CREATE INDEX gate_calls_held ON gate_calls (held_until) WHERE state = 'started';
CREATE INDEX gate_calls_same ON gate_calls (asker, same_hash) WHERE state IN ('asked', 'started', 'unknown');

CREATE TABLE idempotency (
  principal TEXT NOT NULL,
  verb TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  object_id TEXT NOT NULL,
  reply TEXT,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (principal, verb, key)
) STRICT;
CREATE INDEX idempotency_due ON idempotency (expires_at);

CREATE TABLE identities (
  kind TEXT NOT NULL CHECK (kind IN ('slack', 'email', 'phone')),
  value TEXT NOT NULL,
  person TEXT NOT NULL REFERENCES people (person_id),
  PRIMARY KEY (kind, value)
) STRICT;
CREATE INDEX identities_of_person ON identities (person);

CREATE TABLE inbound_messages (
  provider TEXT NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (provider, id)
) STRICT;
CREATE INDEX heard_to_forget ON inbound_messages (at) WHERE provider <> 'twilio';

CREATE TABLE job_claims (
  job_id TEXT NOT NULL REFERENCES jobs (job_id),
  epoch INTEGER NOT NULL,
  holder TEXT NOT NULL,
  worker TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (job_id, epoch)
) STRICT;

CREATE TABLE job_events (
  job_id TEXT NOT NULL REFERENCES jobs (job_id),
  seq INTEGER NOT NULL,
  event TEXT NOT NULL CHECK (event IN ('answer', 'status', 'log')),
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (job_id, seq)
) STRICT;

CREATE TABLE jobs (
  job_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('QUEUED', 'RUNNING', 'WAITING_ON_ANSWER', 'SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED')),
  reason TEXT,
  epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  external INTEGER NOT NULL CHECK (external IN (0, 1)),
  owner TEXT NOT NULL,
  holder TEXT,
  lease_hash TEXT,
  lease_until INTEGER,
  lease_ms INTEGER,
  spec_json TEXT,
  result_json TEXT,
  artifacts_json TEXT,
  env TEXT,
  repo TEXT,
  labels_json TEXT NOT NULL,
  priority TEXT NOT NULL CHECK (priority IN ('P0', 'P1', 'P2')),
  pending_asks INTEGER NOT NULL CHECK (pending_asks >= 0),
  seq INTEGER NOT NULL,
  kept_from INTEGER NOT NULL,
  body_hash TEXT NOT NULL,
  ttl_until INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  ended_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  awaits_reports INTEGER NOT NULL DEFAULT 0 CHECK (awaits_reports IN (0, 1)),
  CHECK (state NOT IN ('SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED') = (ended_at IS NULL)),
  CHECK (state <> 'WAITING_ON_ANSWER' OR pending_asks > 0)
) STRICT;
CREATE INDEX jobs_claimable ON jobs (state, priority, created_at);
CREATE INDEX jobs_due ON jobs (ttl_until) WHERE ended_at IS NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_leases ON jobs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX jobs_newest ON jobs (created_at, job_id);
CREATE INDEX jobs_of_holder ON jobs (holder, created_at, job_id) WHERE holder IS NOT NULL;
CREATE INDEX jobs_of_owner ON jobs (owner, created_at, job_id);

CREATE TABLE keys (
  key_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('agent', 'executor', 'answer', 'assign', 'admin')),
  hash TEXT NOT NULL UNIQUE,
  person TEXT REFERENCES people (person_id),
  self_respond INTEGER NOT NULL CHECK (self_respond IN (0, 1)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  conversation INTEGER,
  channel TEXT,
  used_at INTEGER,
  repos_json TEXT,
  held_at INTEGER
) STRICT;

CREATE TABLE late_answers (
  ask_id TEXT NOT NULL REFERENCES asks (ask_id),
  principal TEXT NOT NULL,
  status TEXT NOT NULL,
  answer_text TEXT,
  answer_json TEXT,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX late_answers_of_ask ON late_answers (ask_id);

CREATE TABLE leaderboard_names (
  name_key TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  person TEXT UNIQUE,
  chosen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE ledger (
  person TEXT NOT NULL,
  ask_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  category TEXT NOT NULL,
  points INTEGER NOT NULL CHECK (points >= 0),
  capped_points INTEGER NOT NULL,
  entries TEXT NOT NULL,
  day TEXT NOT NULL,
  streak_days INTEGER NOT NULL CHECK (streak_days >= 1),
  early INTEGER NOT NULL CHECK (early IN (0, 1)),
  night INTEGER NOT NULL CHECK (night IN (0, 1)),
  speedy INTEGER NOT NULL CHECK (speedy IN (0, 1)),
  confident INTEGER NOT NULL CHECK (confident IN (0, 1)),
  PRIMARY KEY (person, ask_id)
) STRICT;
CREATE INDEX ledger_at ON ledger (at);
CREATE INDEX ledger_of_person ON ledger (person, at);

CREATE TABLE limit_windows (
  bucket TEXT NOT NULL,
  subject TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (bucket, subject)
) STRICT;
CREATE INDEX limit_windows_opened ON limit_windows (opened_at);

CREATE TABLE meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  commit_no INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  clock_boot TEXT,
  clock_zero_ms INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE migrations (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);

CREATE TABLE notices (
  ask_id TEXT NOT NULL,
  subscription_id TEXT NOT NULL,
  person TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('crowd', 'addressed')),
  state TEXT NOT NULL CHECK (state IN ('queued', 'sent', 'failed', 'dropped')),
  due_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  told_at INTEGER NOT NULL,
  PRIMARY KEY (ask_id, subscription_id)
) STRICT;
CREATE INDEX notices_due ON notices (due_at) WHERE state = 'queued';
CREATE INDEX notices_of_person ON notices (person);
CREATE UNIQUE INDEX notices_once ON notices (ask_id, person) WHERE kind = 'crowd';
CREATE INDEX notices_told ON notices (told_at);

CREATE TABLE numbers (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT;

CREATE TABLE outcomes (
  ask_id TEXT PRIMARY KEY REFERENCES questions (ask_id),
  status TEXT NOT NULL,
  principal TEXT NOT NULL,
  source TEXT NOT NULL,
  consent_digest TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE participants (
  participant_id TEXT PRIMARY KEY,
  person TEXT,
  presented INTEGER NOT NULL CHECK (presented IN (0, 1)),
  time_zone TEXT,
  time_zone_at INTEGER,
  last_fingerprint TEXT,
  recovery_hash TEXT UNIQUE,
  recovery_expires_at INTEGER,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX participants_of_person ON participants (person) WHERE person IS NOT NULL;
CREATE INDEX participants_seen ON participants (seen_at);

CREATE TABLE people (
  person_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  created_at INTEGER NOT NULL,
  number INTEGER,
  description TEXT,
  title TEXT,
  sees_all INTEGER NOT NULL DEFAULT 0 CHECK (sees_all IN (0, 1)),
  channels TEXT NOT NULL DEFAULT '[]',
  updated_at INTEGER,
  left_at INTEGER,
  former_id TEXT,
  is_operator INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX people_number ON people (number);
CREATE UNIQUE INDEX people_operator ON people (is_operator) WHERE is_operator = 1;

CREATE TABLE person_totals (
  person TEXT PRIMARY KEY,
  answers INTEGER NOT NULL DEFAULT 0 CHECK (answers >= 0),
  points INTEGER NOT NULL DEFAULT 0 CHECK (points >= 0),
  by_category TEXT NOT NULL DEFAULT '{}',
  longest_streak INTEGER NOT NULL DEFAULT 0,
  early INTEGER NOT NULL DEFAULT 0,
  night INTEGER NOT NULL DEFAULT 0,
  speedy INTEGER NOT NULL DEFAULT 0,
  confident INTEGER NOT NULL DEFAULT 0,
  last_day TEXT,
  streak_days INTEGER NOT NULL DEFAULT 0 CHECK ((streak_days = 0) = (last_day IS NULL)),
  rewarded_streaks TEXT NOT NULL DEFAULT '[]',
  capped_day INTEGER NOT NULL DEFAULT 0,
  capped_points INTEGER NOT NULL DEFAULT 0,
  badges TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE TABLE phones (
  kind TEXT NOT NULL CHECK (kind IN ('sms', 'whatsapp')),
  number TEXT NOT NULL,
  opted_out INTEGER NOT NULL CHECK (opted_out IN (0, 1)),
  heard_at INTEGER,
  PRIMARY KEY (kind, number)
) STRICT;

CREATE TABLE plan_images (
  plan TEXT NOT NULL,
  ord INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (plan, ord)
) STRICT;

CREATE TABLE policy_allowances (
  rule TEXT NOT NULL,
  subject TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (rule, subject)
) STRICT;
CREATE INDEX policy_allowances_opened ON policy_allowances (opened_at);

CREATE TABLE policy_approvals (
  ask_id TEXT PRIMARY KEY,
  class_key TEXT NOT NULL,
  approved_at INTEGER NOT NULL
) STRICT;
CREATE INDEX policy_approvals_class ON policy_approvals (class_key, approved_at);

CREATE TABLE policy_grants (
  grant_id TEXT PRIMARY KEY,
  class_key TEXT NOT NULL,
  action TEXT NOT NULL,
  resource TEXT NOT NULL,
  env TEXT NOT NULL,
  tool TEXT,
  repo TEXT,
  agent TEXT,
  ask_id TEXT NOT NULL,
  made_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  revoked_by TEXT,
  uses INTEGER NOT NULL,
  used_at INTEGER,
  digest TEXT,
  pattern TEXT
) STRICT;
CREATE INDEX policy_grants_class ON policy_grants (class_key) WHERE revoked_at IS NULL;

CREATE TABLE policy_proposals (
  proposal_id TEXT PRIMARY KEY,
  class_key TEXT NOT NULL UNIQUE,
  rule TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'dismissed', 'revoked')),
  approvals INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  decided_by TEXT,
  decided_at INTEGER
) STRICT;

CREATE TABLE policy_reloads (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL
) STRICT;

CREATE TABLE policy_savings (
  rule TEXT NOT NULL,
  policy_version TEXT NOT NULL,
  saved INTEGER NOT NULL,
  saved_at INTEGER NOT NULL,
  PRIMARY KEY (rule, policy_version)
) STRICT;

CREATE TABLE policy_servers (
  server_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  policy_version TEXT NOT NULL,
  policy TEXT NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE push_subscriptions (
  subscription_id TEXT PRIMARY KEY,
  person TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('fcm', 'web')),
  address TEXT NOT NULL,
  keys TEXT,
  min_interval_minutes INTEGER NOT NULL,
  audience TEXT NOT NULL,
  quiet_hours TEXT,
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  last_notified_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  credential TEXT,
  UNIQUE (kind, address)
) STRICT;
CREATE INDEX push_subscriptions_of_credential ON push_subscriptions (credential) WHERE credential IS NOT NULL;
CREATE INDEX push_subscriptions_of_person ON push_subscriptions (person);

CREATE TABLE questions (
  ask_id TEXT PRIMARY KEY,
  door TEXT NOT NULL,
  asker TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('text', 'choice')),
  prompt TEXT NOT NULL,
  options TEXT CHECK ((kind = 'choice') = (options IS NOT NULL)),
  audience TEXT NOT NULL,
  need INTEGER NOT NULL CHECK (need >= 1),
  n INTEGER NOT NULL CHECK (n BETWEEN 0 AND need),
  state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'cancelled')),
  version INTEGER NOT NULL,
  held INTEGER NOT NULL CHECK (held IN (0, 1)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL CHECK (expires_at > created_at),
  last_answer_at INTEGER,
  settled_at INTEGER CHECK ((state = 'open') = (settled_at IS NULL)),
  wire TEXT NOT NULL
) STRICT;
CREATE INDEX asks_due ON questions (expires_at) WHERE state = 'open';
CREATE INDEX asks_newest ON questions (created_at);
CREATE INDEX asks_of_asker ON questions (asker, created_at, ask_id);
CREATE INDEX asks_open_of_asker ON questions (asker, expires_at) WHERE state = 'open';
CREATE INDEX asks_settled ON questions (settled_at) WHERE state <> 'open';

CREATE TABLE reports (
  ask_id TEXT NOT NULL,
  person TEXT NOT NULL,
  reason TEXT NOT NULL,
  comment TEXT,
  network TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (ask_id, person)
) STRICT;
CREATE INDEX reports_of_person ON reports (person);

CREATE TABLE request_hand_ons (
  ask_id TEXT NOT NULL,
  person TEXT NOT NULL,
  receiver TEXT NOT NULL,
  group_name TEXT,
  note TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (ask_id, person, receiver)
) STRICT;
CREATE INDEX request_hand_ons_to ON request_hand_ons (receiver);

CREATE TABLE request_recipients (
  reader TEXT NOT NULL,
  ask_id TEXT NOT NULL REFERENCES requests (ask_id),
  PRIMARY KEY (reader, ask_id)
) STRICT;
CREATE INDEX addressees_of_ask ON request_recipients (ask_id);

CREATE TABLE request_snoozes (
  ask_id TEXT NOT NULL,
  person TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (ask_id, person)
) STRICT;
CREATE INDEX request_snoozes_of_people ON request_snoozes (person, until);

CREATE TABLE request_waits (
  wait_id TEXT PRIMARY KEY,
  asker TEXT NOT NULL,
  ask_id TEXT NOT NULL REFERENCES requests (ask_id) ON DELETE CASCADE,
  owns_ask INTEGER NOT NULL CHECK (owns_ask IN (0, 1)),
  created_at INTEGER NOT NULL,
  kept_until INTEGER NOT NULL CHECK (kept_until > created_at),
  cancelled_at INTEGER
) STRICT;
CREATE INDEX addressed_waits_of_ask ON request_waits (ask_id);

CREATE TABLE requests (
  ask_id TEXT PRIMARY KEY,
  door TEXT NOT NULL,
  asker TEXT NOT NULL,
  ref TEXT NOT NULL,
  same_hash TEXT NOT NULL,
  title TEXT NOT NULL,
  words TEXT NOT NULL,
  form TEXT NOT NULL,
  audience TEXT NOT NULL,
  digest TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'cancelled')),
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL CHECK (expires_at > created_at),
  settled_at INTEGER CHECK ((state = 'open') = (settled_at IS NULL)),
  outcome TEXT CHECK ((state = 'open') = (outcome IS NULL)),
  refused TEXT,
  wire TEXT NOT NULL,
  conversation INTEGER,
  kind TEXT CHECK (kind IN ('approval', 'reply', 'value')),
  prompt_of TEXT,
  waited_until INTEGER,
  lease_ms INTEGER,
  fn TEXT,
  presses TEXT,
  press_due_at INTEGER,
  plan TEXT,
  plan_ord INTEGER,
  used_by TEXT,
  used_at INTEGER,
  inquiries TEXT,
  run TEXT,
  UNIQUE (asker, ref)
) STRICT;
CREATE INDEX addressed_asks_due ON requests (expires_at) WHERE state = 'open';
CREATE INDEX addressed_asks_of_asker ON requests (asker, created_at, ask_id);
CREATE INDEX addressed_asks_of_conversation ON requests (conversation, created_at) WHERE conversation IS NOT NULL;
CREATE INDEX addressed_asks_open_of_asker ON requests (asker, created_at, ask_id) WHERE state = 'open';
CREATE INDEX addressed_asks_ref ON requests (ref);
CREATE INDEX addressed_asks_settled ON requests (settled_at) WHERE state <> 'open';
CREATE INDEX requests_of_askers_prompts ON requests (asker, prompt_of, created_at, ask_id) WHERE prompt_of IS NOT NULL;
CREATE INDEX requests_of_functions ON requests (asker, fn, settled_at) WHERE fn IS NOT NULL AND state = 'answered';
CREATE UNIQUE INDEX requests_of_plans ON requests (plan, plan_ord) WHERE plan IS NOT NULL;
CREATE INDEX requests_of_prompts ON requests (prompt_of, created_at, ask_id) WHERE prompt_of IS NOT NULL;
CREATE INDEX requests_of_runs ON requests (run, created_at, ask_id) WHERE run IS NOT NULL;
CREATE INDEX requests_pressed ON requests (press_due_at) WHERE press_due_at IS NOT NULL;
CREATE INDEX requests_waited_for ON requests (waited_until) WHERE state = 'open' AND waited_until IS NOT NULL;

CREATE TABLE responses (
  ask_id TEXT NOT NULL REFERENCES questions (ask_id),
  person TEXT NOT NULL,
  ord INTEGER NOT NULL,
  response_id TEXT NOT NULL,
  answer TEXT,
  selected_option INTEGER,
  confidence INTEGER CHECK (confidence BETWEEN 1 AND 5),
  tier TEXT NOT NULL CHECK (tier IN ('anonymous', 'returning', 'named')),
  network TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (ask_id, person),
  UNIQUE (ask_id, ord),
  CHECK ((answer IS NULL) <> (selected_option IS NULL))
) STRICT;

CREATE TABLE runner_runs (
  decision_key TEXT PRIMARY KEY,
  ask_id TEXT NOT NULL,
  outcome TEXT,
  claimed_until INTEGER NOT NULL
) STRICT;
CREATE INDEX runner_runs_over ON runner_runs (claimed_until);

CREATE TABLE runner_spending (
  month TEXT NOT NULL,
  unit TEXT NOT NULL CHECK (unit IN ('nano_usd', 'tokens')),
  spent INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (month, unit)
) STRICT;

CREATE TABLE scores (
  period TEXT NOT NULL CHECK (period IN ('daily', 'weekly', 'all_time')),
  from_at INTEGER NOT NULL,
  person TEXT NOT NULL,
  points INTEGER NOT NULL CHECK (points >= 0),
  answers INTEGER NOT NULL CHECK (answers >= 1),
  reached_at INTEGER CHECK ((reached_at IS NULL) = (points = 0)),
  PRIMARY KEY (person, period, from_at)
) STRICT;
CREATE INDEX standings_best ON scores (period, from_at, points DESC, reached_at, person);

CREATE TABLE sealed_secrets (
  name TEXT PRIMARY KEY,
  sealed TEXT NOT NULL
) STRICT;

CREATE TABLE sign_in_codes (
  hash TEXT PRIMARY KEY,
  person TEXT NOT NULL REFERENCES people (person_id),
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;

CREATE TABLE sign_ins (
  hash TEXT PRIMARY KEY,
  person TEXT NOT NULL REFERENCES people (person_id),
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE skips (
  person TEXT NOT NULL,
  ask_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (person, ask_id)
) STRICT;
CREATE INDEX skips_until ON skips (until);

CREATE TABLE streams (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  kept_from INTEGER NOT NULL
) STRICT;

CREATE TABLE task_attempts (
  attempt_id TEXT PRIMARY KEY,
  repo TEXT NOT NULL,
  id TEXT NOT NULL,
  n INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('preparing', 'running', 'committing', 'ending', 'ended')),
  outcome TEXT,
  holder TEXT NOT NULL,
  agent TEXT NOT NULL,
  key_id TEXT,
  pid INTEGER,
  starttime TEXT,
  session_id TEXT,
  resumes INTEGER NOT NULL,
  start_sha TEXT,
  commit_sha TEXT,
  changed INTEGER CHECK (changed IN (0, 1)),
  sandbox TEXT CHECK (sandbox IN ('bubblewrap', 'none')),
  agent_version TEXT,
  usage_json TEXT,
  log_seq INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (repo, id, n),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL))
) STRICT;
CREATE INDEX aa_attempts_live ON task_attempts (repo, id) WHERE ended_at IS NULL;
CREATE INDEX aa_attempts_of_job ON task_attempts (job_id);

CREATE TABLE task_board_events (
  repo TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  type TEXT NOT NULL,
  data_json TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (repo, seq)
) STRICT;

CREATE TABLE task_boards (
  repo TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;

CREATE TABLE task_dependencies (
  repo TEXT NOT NULL,
  id TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  place INTEGER NOT NULL,
  used_commit TEXT,
  PRIMARY KEY (repo, id, depends_on)
) STRICT;
CREATE INDEX aa_deps_on ON task_dependencies (repo, depends_on);

CREATE TABLE task_events (
  repo TEXT NOT NULL,
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  type TEXT NOT NULL,
  data_json TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (repo, id, seq)
) STRICT;

CREATE TABLE task_idempotency (
  key_hash TEXT NOT NULL,
  repo TEXT NOT NULL,
  idem_key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key_hash, repo, idem_key)
) STRICT;
CREATE INDEX aa_idempotency_age ON task_idempotency (at);

CREATE TABLE task_repositories (
  repo TEXT PRIMARY KEY,
  places INTEGER NOT NULL
) STRICT;

CREATE TABLE task_reviews (
  repo TEXT NOT NULL,
  id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('approve', 'request_changes', 'reject')),
  comment TEXT,
  comments_json TEXT NOT NULL,
  principal TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (repo, id, attempt)
) STRICT;

CREATE TABLE task_workshops (
  holder TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tasks (
  repo TEXT NOT NULL,
  id TEXT NOT NULL,
  slug TEXT NOT NULL,
  prompt TEXT NOT NULL,
  warnings_json TEXT NOT NULL,
  agent TEXT,
  base TEXT,
  start_on TEXT CHECK (start_on IN ('completed', 'approved')),
  state TEXT NOT NULL CHECK (state IN ('blocked', 'queued', 'conflict', 'preparing', 'running', 'awaiting_answer', 'interrupted', 'committing', 'review', 'approved', 'rejected', 'failed', 'canceled')),
  attempt INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  started INTEGER NOT NULL,
  submitted_at INTEGER NOT NULL,
  place INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  blocked_reason TEXT,
  error TEXT,
  stale INTEGER NOT NULL CHECK (stale IN (0, 1)),
  resolve_conflict INTEGER NOT NULL CHECK (resolve_conflict IN (0, 1)),
  commit_sha TEXT,
  changed INTEGER CHECK (changed IN (0, 1)),
  diffstat_json TEXT,
  branch TEXT,
  published_sha TEXT,
  review_ask TEXT,
  feedback_json TEXT,
  after_json TEXT,
  principal TEXT NOT NULL,
  seq INTEGER NOT NULL,
  swept INTEGER NOT NULL DEFAULT 0 CHECK (swept IN (0, 1)),
  conflict_json TEXT,
  PRIMARY KEY (repo, id),
  CHECK ((commit_sha IS NOT NULL) OR state NOT IN ('review', 'approved'))
) STRICT;
CREATE INDEX aa_tasks_after ON tasks (repo, id) WHERE after_json IS NOT NULL;
CREATE INDEX aa_tasks_in_order ON tasks (repo, submitted_at, place);
CREATE INDEX aa_tasks_of_ask ON tasks (review_ask) WHERE review_ask IS NOT NULL;
CREATE INDEX aa_tasks_open ON tasks (repo, state) WHERE state NOT IN ('review', 'approved', 'rejected', 'failed', 'canceled');
CREATE INDEX aa_tasks_over ON tasks (updated_at) WHERE swept = 0 AND state IN ('approved', 'rejected', 'failed', 'canceled');
CREATE INDEX aa_tasks_queued ON tasks (repo, state, submitted_at, place) WHERE state = 'queued';

CREATE TABLE tool_pins (
  name TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  definition TEXT NOT NULL,
  pinned_at INTEGER NOT NULL,
  changed_hash TEXT,
  changed_definition TEXT,
  changed_at INTEGER
) STRICT;

CREATE TABLE views (
  ask_id TEXT NOT NULL,
  person TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  PRIMARY KEY (ask_id, person)
) STRICT;
CREATE INDEX views_first_at ON views (first_at);

CREATE TABLE waits (
  wait_id TEXT PRIMARY KEY,
  asker TEXT NOT NULL,
  ask_id TEXT NOT NULL REFERENCES questions (ask_id),
  wanted INTEGER NOT NULL CHECK (wanted >= 1),
  created_at INTEGER NOT NULL,
  kept_until INTEGER NOT NULL CHECK (kept_until > created_at),
  cancelled_at INTEGER
) STRICT;
CREATE INDEX waits_of_ask ON waits (ask_id, kept_until);

CREATE TABLE webhook_endpoints (
  endpoint_id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  url TEXT NOT NULL,
  format TEXT NOT NULL,
  events TEXT NOT NULL,
  description TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  secrets TEXT NOT NULL,
  failing_since INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_endpoints_of_agent ON webhook_endpoints (agent, created_at, endpoint_id);

CREATE TABLE webhook_events (
  event_id TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (endpoint_id),
  event TEXT NOT NULL,
  ask_id TEXT,
  body TEXT,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
  due_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  reply TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  message TEXT
) STRICT;
CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE state = 'pending';
CREATE INDEX webhook_events_of_endpoint ON webhook_events (endpoint_id, created_at, event_id);
