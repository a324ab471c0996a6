import type { SchemaWords } from "../migration.ts";

/** The crowd's questions and answers, points, notices to devices, keys and people. */
export const crowd = ({ integer, text, strict }: SchemaWords): readonly string[] => [
  `CREATE TABLE meta (
     id ${integer} PRIMARY KEY CHECK (id = 1),
     commit_no ${integer} NOT NULL,
     last_ms ${integer} NOT NULL
   )${strict}`,
  `INSERT INTO meta (id, commit_no, last_ms) VALUES (1, 0, 0)`,

  `CREATE TABLE questions (
     ask_id ${text} PRIMARY KEY,
     door ${text} NOT NULL,
     asker ${text} NOT NULL,
     kind ${text} NOT NULL CHECK (kind IN ('text', 'choice')),
     prompt ${text} NOT NULL,
     options ${text} CHECK ((kind = 'choice') = (options IS NOT NULL)),
     audience ${text} NOT NULL,
     need ${integer} NOT NULL CHECK (need >= 1),
     n ${integer} NOT NULL CHECK (n BETWEEN 0 AND need),
     state ${text} NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'cancelled')),
     version ${integer} NOT NULL,
     held ${integer} NOT NULL CHECK (held IN (0, 1)),
     created_at ${integer} NOT NULL,
     expires_at ${integer} NOT NULL CHECK (expires_at > created_at),
     last_answer_at ${integer},
     settled_at ${integer} CHECK ((state = 'open') = (settled_at IS NULL)),
     wire ${text} NOT NULL
   )${strict}`,
  `CREATE INDEX asks_due ON questions (expires_at) WHERE state = 'open'`,
  `CREATE INDEX asks_open_of_asker ON questions (asker, expires_at) WHERE state = 'open'`,
  `CREATE INDEX asks_of_asker ON questions (asker, created_at, ask_id)`,
  `CREATE INDEX asks_newest ON questions (created_at)`,
  `CREATE INDEX asks_settled ON questions (settled_at) WHERE state <> 'open'`,

  `CREATE TABLE responses (
     ask_id ${text} NOT NULL REFERENCES questions (ask_id),
     person ${text} NOT NULL,
     ord ${integer} NOT NULL,
     response_id ${text} NOT NULL,
     answer ${text},
     selected_option ${integer},
     confidence ${integer} CHECK (confidence BETWEEN 1 AND 5),
     tier ${text} NOT NULL CHECK (tier IN ('anonymous', 'returning', 'named')),
     network ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (ask_id, person),
     UNIQUE (ask_id, ord),
     CHECK ((answer IS NULL) <> (selected_option IS NULL))
   )${strict}`,

  `CREATE TABLE outcomes (
     ask_id ${text} PRIMARY KEY REFERENCES questions (ask_id),
     status ${text} NOT NULL,
     principal ${text} NOT NULL,
     source ${text} NOT NULL,
     consent_digest ${text},
     created_at ${integer} NOT NULL
   )${strict}`,

  `CREATE TABLE idempotency (
     principal ${text} NOT NULL,
     verb ${text} NOT NULL,
     key ${text} NOT NULL,
     body_hash ${text} NOT NULL,
     object_id ${text} NOT NULL,
     reply ${text},
     expires_at ${integer} NOT NULL,
     PRIMARY KEY (principal, verb, key)
   )${strict}`,
  `CREATE INDEX idempotency_due ON idempotency (expires_at)`,

  `CREATE TABLE limit_windows (
     bucket ${text} NOT NULL,
     subject ${text} NOT NULL,
     opened_at ${integer} NOT NULL,
     used ${integer} NOT NULL,
     PRIMARY KEY (bucket, subject)
   )${strict}`,
  `CREATE INDEX limit_windows_opened ON limit_windows (opened_at)`,

  `CREATE TABLE streams (
     id ${text} PRIMARY KEY,
     seq ${integer} NOT NULL,
     kept_from ${integer} NOT NULL
   )${strict}`,

  `CREATE TABLE events (
     stream ${text} NOT NULL,
     seq ${integer} NOT NULL,
     kind ${text} NOT NULL,
     ask_id ${text} NOT NULL,
     version ${integer} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (stream, seq)
   )${strict}`,
  `CREATE INDEX events_at ON events (at)`,

  `CREATE TABLE participants (
     participant_id ${text} PRIMARY KEY,
     person ${text},
     presented ${integer} NOT NULL CHECK (presented IN (0, 1)),
     time_zone ${text},
     time_zone_at ${integer},
     last_fingerprint ${text},
     recovery_hash ${text} UNIQUE,
     recovery_expires_at ${integer},
     created_at ${integer} NOT NULL,
     seen_at ${integer} NOT NULL
   )${strict}`,
  `CREATE INDEX participants_of_person ON participants (person) WHERE person IS NOT NULL`,
  `CREATE INDEX participants_seen ON participants (seen_at)`,

  `CREATE TABLE fingerprints (
     fingerprint ${text} PRIMARY KEY,
     participant_id ${text} NOT NULL
   )${strict}`,
  `CREATE INDEX fingerprints_of_participant ON fingerprints (participant_id)`,

  `CREATE TABLE ledger (
     person ${text} NOT NULL,
     ask_id ${text} NOT NULL,
     at ${integer} NOT NULL,
     category ${text} NOT NULL,
     points ${integer} NOT NULL CHECK (points >= 0),
     capped_points ${integer} NOT NULL,
     entries ${text} NOT NULL,
     day ${text} NOT NULL,
     streak_days ${integer} NOT NULL CHECK (streak_days >= 1),
     early ${integer} NOT NULL CHECK (early IN (0, 1)),
     night ${integer} NOT NULL CHECK (night IN (0, 1)),
     speedy ${integer} NOT NULL CHECK (speedy IN (0, 1)),
     confident ${integer} NOT NULL CHECK (confident IN (0, 1)),
     PRIMARY KEY (person, ask_id)
   )${strict}`,
  `CREATE INDEX ledger_of_person ON ledger (person, at)`,

  `CREATE TABLE badges (
     person ${text} NOT NULL,
     badge ${text} NOT NULL,
     ask_id ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (person, badge)
   )${strict}`,

  `CREATE TABLE views (
     ask_id ${text} NOT NULL,
     person ${text} NOT NULL,
     first_at ${integer} NOT NULL,
     PRIMARY KEY (ask_id, person)
   )${strict}`,
  `CREATE INDEX views_first_at ON views (first_at)`,

  `CREATE TABLE skips (
     person ${text} NOT NULL,
     ask_id ${text} NOT NULL,
     until ${integer} NOT NULL,
     PRIMARY KEY (person, ask_id)
   )${strict}`,
  `CREATE INDEX skips_until ON skips (until)`,

  `CREATE TABLE reports (
     ask_id ${text} NOT NULL,
     person ${text} NOT NULL,
     reason ${text} NOT NULL,
     comment ${text},
     network ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (ask_id, person)
   )${strict}`,
  `CREATE INDEX reports_of_person ON reports (person)`,

  `CREATE TABLE push_subscriptions (
     subscription_id ${text} PRIMARY KEY,
     person ${text} NOT NULL,
     kind ${text} NOT NULL CHECK (kind IN ('fcm', 'web')),
     address ${text} NOT NULL,
     keys ${text},
     min_interval_minutes ${integer} NOT NULL,
     audience ${text} NOT NULL,
     quiet_hours ${text},
     active ${integer} NOT NULL CHECK (active IN (0, 1)),
     last_notified_at ${integer},
     created_at ${integer} NOT NULL,
     updated_at ${integer} NOT NULL,
     UNIQUE (kind, address)
   )${strict}`,
  `CREATE INDEX push_subscriptions_of_person ON push_subscriptions (person)`,

  `CREATE TABLE people (
     person_id ${text} PRIMARY KEY,
     name ${text} NOT NULL,
     role ${text} NOT NULL CHECK (role IN ('admin', 'member')),
     created_at ${integer} NOT NULL,
     number ${integer},
     description ${text},
     title ${text},
     sees_all ${integer} NOT NULL DEFAULT 0 CHECK (sees_all IN (0, 1)),
     channels ${text} NOT NULL DEFAULT '[]',
     updated_at ${integer},
     left_at ${integer}
   )${strict}`,

  `CREATE TABLE keys (
     key_id ${text} PRIMARY KEY,
     name ${text} NOT NULL,
     scope ${text} NOT NULL CHECK (scope IN ('agent', 'executor', 'answer', 'assign', 'admin')),
     hash ${text} NOT NULL UNIQUE,
     person ${text} REFERENCES people (person_id),
     self_respond ${integer} NOT NULL CHECK (self_respond IN (0, 1)),
     created_at ${integer} NOT NULL,
     expires_at ${integer},
     revoked_at ${integer},
     conversation ${integer},
     channel ${text},
     used_at ${integer},
     repos_json ${text}
   )${strict}`,

  `CREATE TABLE sign_in_codes (
     hash ${text} PRIMARY KEY,
     person ${text} NOT NULL REFERENCES people (person_id),
     expires_at ${integer} NOT NULL,
     used_at ${integer}
   )${strict}`,

  `CREATE TABLE sign_ins (
     hash ${text} PRIMARY KEY,
     person ${text} NOT NULL REFERENCES people (person_id),
     created_at ${integer} NOT NULL,
     seen_at ${integer} NOT NULL
   )${strict}`,

  `CREATE TABLE sealed_secrets (
     name ${text} PRIMARY KEY,
     sealed ${text} NOT NULL
   )${strict}`,

  `CREATE TABLE waits (
     wait_id ${text} PRIMARY KEY,
     asker ${text} NOT NULL,
     ask_id ${text} NOT NULL REFERENCES questions (ask_id),
     wanted ${integer} NOT NULL CHECK (wanted >= 1),
     created_at ${integer} NOT NULL,
     kept_until ${integer} NOT NULL CHECK (kept_until > created_at),
     cancelled_at ${integer}
   )${strict}`,
  `CREATE INDEX waits_of_ask ON waits (ask_id, kept_until)`,

  `CREATE TABLE notices (
     ask_id ${text} NOT NULL,
     subscription_id ${text} NOT NULL,
     person ${text} NOT NULL,
     kind ${text} NOT NULL CHECK (kind IN ('crowd', 'addressed')),
     state ${text} NOT NULL CHECK (state IN ('queued', 'sent', 'failed', 'dropped')),
     due_at ${integer} NOT NULL,
     attempt ${integer} NOT NULL,
     epoch ${integer} NOT NULL,
     told_at ${integer} NOT NULL,
     PRIMARY KEY (ask_id, subscription_id)
   )${strict}`,
  `CREATE UNIQUE INDEX notices_once ON notices (ask_id, person) WHERE kind = 'crowd'`,
  `CREATE INDEX notices_due ON notices (due_at) WHERE state = 'queued'`,
  `CREATE INDEX notices_of_person ON notices (person)`,
  `CREATE INDEX notices_told ON notices (told_at)`,

  `CREATE TABLE fallbacks (
     ask_id ${text} PRIMARY KEY REFERENCES questions (ask_id),
     person ${text} NOT NULL,
     due_at ${integer} NOT NULL,
     addressed_id ${text},
     over ${integer} NOT NULL CHECK (over IN (0, 1))
   )${strict}`,
  `CREATE INDEX fallbacks_due ON fallbacks (due_at) WHERE over = 0`,

  `CREATE TABLE standings (
       period ${text} NOT NULL CHECK (period IN ('daily', 'weekly', 'all_time')),
       from_at ${integer} NOT NULL,
       person ${text} NOT NULL,
       points ${integer} NOT NULL CHECK (points >= 0),
       answers ${integer} NOT NULL CHECK (answers >= 1),
       reached_at ${integer} CHECK ((reached_at IS NULL) = (points = 0)),
       PRIMARY KEY (person, period, from_at)
     )${strict}`,
  `CREATE INDEX standings_best ON standings (period, from_at, points DESC, reached_at, person)`,
  `CREATE INDEX ledger_at ON ledger (at)`,
];
