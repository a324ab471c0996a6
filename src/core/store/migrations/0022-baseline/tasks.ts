import type { SchemaWords } from "../migration.ts";

/**
 * Tasks for coding agents under the names of spec/assignment 14; times are milliseconds. The asks of an attempt are in
 * the relay's tables.
 */
export const tasks = ({ integer, text, strict }: SchemaWords): readonly string[] => [
  `CREATE TABLE aa_tasks (
     repo ${text} NOT NULL,
     id ${text} NOT NULL,
     slug ${text} NOT NULL,
     prompt ${text} NOT NULL,
     warnings_json ${text} NOT NULL,
     agent ${text},
     base ${text},
     start_on ${text} CHECK (start_on IN ('completed', 'approved')),
     state ${text} NOT NULL CHECK (state IN ('blocked', 'queued', 'conflict', 'preparing', 'running', 'awaiting_answer',
       'interrupted', 'committing', 'review', 'approved', 'rejected', 'failed', 'canceled')),
     attempt ${integer} NOT NULL,
     generation ${integer} NOT NULL,
     started ${integer} NOT NULL,
     submitted_at ${integer} NOT NULL,
     place ${integer} NOT NULL,
     updated_at ${integer} NOT NULL,
     blocked_reason ${text},
     error ${text},
     stale ${integer} NOT NULL CHECK (stale IN (0, 1)),
     resolve_conflict ${integer} NOT NULL CHECK (resolve_conflict IN (0, 1)),
     commit_sha ${text},
     changed ${integer} CHECK (changed IN (0, 1)),
     diffstat_json ${text},
     branch ${text},
     published_sha ${text},
     review_ask ${text},
     feedback_json ${text},
     after_json ${text},
     principal ${text} NOT NULL,
     seq ${integer} NOT NULL,
     swept ${integer} NOT NULL DEFAULT 0 CHECK (swept IN (0, 1)),
     PRIMARY KEY (repo, id),
     CHECK ((commit_sha IS NOT NULL) OR state NOT IN ('review', 'approved'))
   )${strict}`,
  // With the state in it, though it is always the same: else SQLite may walk through all that is over instead.
  `CREATE INDEX aa_tasks_queued ON aa_tasks (repo, state, submitted_at, place) WHERE state = 'queued'`,
  `CREATE INDEX aa_tasks_open ON aa_tasks (repo, state)
     WHERE state NOT IN ('review', 'approved', 'rejected', 'failed', 'canceled')`,
  `CREATE INDEX aa_tasks_in_order ON aa_tasks (repo, submitted_at, place)`,
  // Whose log is still there, though they are over.
  `CREATE INDEX aa_tasks_over ON aa_tasks (updated_at)
     WHERE swept = 0 AND state IN ('approved', 'rejected', 'failed', 'canceled')`,
  // The tasks whose review leaves work to be done in git.
  `CREATE INDEX aa_tasks_after ON aa_tasks (repo, id) WHERE after_json IS NOT NULL`,
  `CREATE INDEX aa_tasks_of_ask ON aa_tasks (review_ask) WHERE review_ask IS NOT NULL`,

  `CREATE TABLE aa_deps (
     repo ${text} NOT NULL,
     id ${text} NOT NULL,
     depends_on ${text} NOT NULL,
     place ${integer} NOT NULL,
     used_commit ${text},
     PRIMARY KEY (repo, id, depends_on)
   )${strict}`,
  `CREATE INDEX aa_deps_on ON aa_deps (repo, depends_on)`,

  `CREATE TABLE aa_attempts (
     attempt_id ${text} PRIMARY KEY,
     repo ${text} NOT NULL,
     id ${text} NOT NULL,
     n ${integer} NOT NULL,
     generation ${integer} NOT NULL,
     job_id ${text} NOT NULL,
     epoch ${integer} NOT NULL,
     state ${text} NOT NULL CHECK (state IN ('preparing', 'running', 'committing', 'ending', 'ended')),
     outcome ${text},
     holder ${text} NOT NULL,
     agent ${text} NOT NULL,
     key_id ${text},
     pid ${integer},
     starttime ${text},
     session_id ${text},
     resumes ${integer} NOT NULL,
     start_sha ${text},
     commit_sha ${text},
     changed ${integer} CHECK (changed IN (0, 1)),
     sandbox ${text} CHECK (sandbox IN ('bubblewrap', 'none')),
     agent_version ${text},
     usage_json ${text},
     log_seq ${integer} NOT NULL,
     started_at ${integer} NOT NULL,
     ended_at ${integer},
     UNIQUE (repo, id, n),
     CHECK ((state = 'ended') = (ended_at IS NOT NULL))
   )${strict}`,
  `CREATE INDEX aa_attempts_live ON aa_attempts (repo, id) WHERE ended_at IS NULL`,
  `CREATE INDEX aa_attempts_of_job ON aa_attempts (job_id)`,

  `CREATE TABLE aa_events (
     repo ${text} NOT NULL,
     id ${text} NOT NULL,
     seq ${integer} NOT NULL,
     attempt ${integer} NOT NULL,
     type ${text} NOT NULL,
     data_json ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (repo, id, seq)
   )${strict}`,

  // The events of all tasks of a repository, numbered for those who follow them all.
  `CREATE TABLE aa_board (
     repo ${text} NOT NULL,
     seq ${integer} NOT NULL,
     id ${text} NOT NULL,
     attempt ${integer} NOT NULL,
     type ${text} NOT NULL,
     data_json ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (repo, seq)
   )${strict}`,

  `CREATE TABLE aa_boards (
     repo ${text} PRIMARY KEY,
     seq ${integer} NOT NULL
   )${strict}`,

  // Held by every transaction that changes tasks of a repository, before anything else of it; the board is numbered
  // last.
  `CREATE TABLE aa_repos (
     repo ${text} PRIMARY KEY,
     places ${integer} NOT NULL
   )${strict}`,

  `CREATE TABLE aa_reviews (
     repo ${text} NOT NULL,
     id ${text} NOT NULL,
     attempt ${integer} NOT NULL,
     verdict ${text} NOT NULL CHECK (verdict IN ('approve', 'request_changes', 'reject')),
     comment ${text},
     comments_json ${text} NOT NULL,
     principal ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (repo, id, attempt)
   )${strict}`,

  `CREATE TABLE aa_idempotency (
     key_hash ${text} NOT NULL,
     repo ${text} NOT NULL,
     idem_key ${text} NOT NULL,
     body_hash ${text} NOT NULL,
     id ${text} NOT NULL,
     at ${integer} NOT NULL,
     PRIMARY KEY (key_hash, repo, idem_key)
   )${strict}`,
  `CREATE INDEX aa_idempotency_age ON aa_idempotency (at)`,

  `CREATE TABLE aa_workshops (
     holder ${text} PRIMARY KEY,
     seen_at ${integer} NOT NULL
   )${strict}`,
];
