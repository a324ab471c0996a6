import { checkRows, type Check } from "../../core/store/check.ts";
import { empty, raw, sql, type Sql } from "../../core/store/sql.ts";
import { isFrozen } from "../../policy/store/freezes.ts";
import { SHOWN_KEYS } from "../../access/store/tables.ts";
import { SHOWN_ENTRIES } from "../../core/store/tables.ts";
import { SHOWN_QUESTIONS } from "../../questions/store/tables.ts";
import { SHOWN_REQUESTS } from "../../requests/store/tables.ts";

const QUICK_JOBS = 200;
const LONG_UNREPORTED_MS = 120_000;

/** The invariants of jobs and of their executors' asks, beyond those that the tables enforce. */
export const RELAY_CHECKS: readonly Check[] = [
  checkRows(
    "J5",
    "a job waits exactly while an ask of its present number is pending, and counts those that are",
    (quick) => sql`SELECT j.job_id AS offender FROM jobs j
      WHERE ${openOrAll(quick)} AND (j.state IN ('RUNNING', 'WAITING_ON_ANSWER')
          AND (j.state = 'WAITING_ON_ANSWER') <> (${pendingOf} > 0)
        OR j.pending_asks <> CASE WHEN j.state IN ('RUNNING', 'WAITING_ON_ANSWER') THEN (${pendingOf}) ELSE 0 END)`,
  ),
  checkRows(
    "J1",
    "a lease is held of a job that somebody has claimed and works on, and of no other",
    (quick) => sql`SELECT j.job_id AS offender FROM jobs j
      WHERE ${openOrAll(quick)}
        AND ((j.lease_until IS NOT NULL) <> (j.external = 0 AND j.state IN ('RUNNING', 'WAITING_ON_ANSWER'))
          OR j.lease_hash IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM job_claims c WHERE c.job_id = j.job_id AND c.epoch = j.epoch AND c.holder = j.holder)
          OR j.attempts > j.max_attempts
          OR EXISTS (SELECT 1 FROM job_claims c WHERE c.job_id = j.job_id AND c.epoch > j.epoch))`,
  ),
  checkRows(
    "J3",
    "no lease ran out more than two seconds ago, and no job has outlived its time by more",
    () => sql`SELECT job_id AS offender FROM jobs WHERE lease_until < (SELECT parley_now()) - 2000
      UNION SELECT job_id FROM jobs WHERE ended_at IS NULL AND ttl_until < (SELECT parley_now()) - 2000`,
  ),
  checkRows(
    "J4",
    "the end of a job is among its events and in the record once",
    (quick) => sql`SELECT j.job_id AS offender FROM
        (SELECT job_id, state, created_at, seq FROM jobs WHERE ended_at IS NOT NULL ORDER BY ended_at DESC
          ${quick ? sql`LIMIT ${QUICK_JOBS}` : empty}) AS j
      WHERE 1 <> (SELECT count(*) FROM ${SHOWN_ENTRIES} r WHERE r.call_id = j.job_id AND r.at >= j.created_at
          AND r.action IN ('job.succeeded', 'job.failed', 'job.canceled', 'job.expired')
          AND r.action = 'job.' || lower(j.state))
        OR 1 <> (SELECT count(*) FROM job_events e WHERE e.job_id = j.job_id AND e.event = 'status'
          AND e.body LIKE '%"state":"' || j.state || '"%')`,
  ),
  checkRows(
    "A1, A2",
    "an ask of a job that is over has exactly one answer, a pending one none, and the two agree",
    (quick) => sql`SELECT a.ask_id AS offender FROM ${newestAsks(quick)} AS a
        LEFT JOIN answers s ON s.ask_id = a.ask_id
      WHERE CASE WHEN a.status = 'PENDING' THEN s.ask_id IS NOT NULL
        ELSE s.ask_id IS NULL OR s.status <> a.status OR s.job_id <> a.job_id OR s.step_id <> a.step_id END`,
  ),
  checkRows(
    "K1",
    "nothing was asked, and no job or key was made, under a key in place of a name; whoever sees one here revokes that key",
    () => sql`SELECT offender FROM
        (SELECT ask_id AS offender, asker AS name FROM ${SHOWN_QUESTIONS} asked
          UNION ALL SELECT ask_id, asker FROM ${SHOWN_REQUESTS} requested
          UNION ALL SELECT job_id, owner FROM jobs
          UNION ALL SELECT key_id, name FROM ${SHOWN_KEYS} made) AS named
      WHERE name LIKE 'open:parley#_%' ESCAPE '#' OR name LIKE '%parley#_agent#_%' ESCAPE '#'
        OR name LIKE '%parley#_executor#_%' ESCAPE '#' OR name LIKE '%parley#_answer#_%' ESCAPE '#'
        OR name LIKE '%parley#_assign#_%' ESCAPE '#' OR name LIKE '%parley#_admin#_%' ESCAPE '#'`,
  ),
  checkRows(
    "A2",
    "an ask that joined another ends as that one does",
    (quick) => sql`SELECT a.ask_id AS offender FROM ${newestAsks(quick)} AS a JOIN asks o ON o.ask_id = a.joined_to
      WHERE a.status = 'PENDING' AND o.status <> 'PENDING'`,
  ),
  checkRows(
    "A2, A11",
    "what the public is asked for an executor is no decision, and does not end before what it stands for",
    (
      quick,
    ) => sql`SELECT a.ask_id AS offender FROM ${newestAsks(quick)} AS a LEFT JOIN ${SHOWN_QUESTIONS} q ON q.ask_id = a.question_id
      WHERE a.question_id IS NOT NULL AND (a.ask_type IN ('APPROVAL', 'POLICY_DECISION') OR a.addressed_id IS NOT NULL
        OR a.status = 'PENDING' AND (q.ask_id IS NULL OR q.state <> 'open' OR q.need <> 1 OR q.expires_at <> a.expires_at)
        OR q.state = 'answered' AND a.status <> 'ANSWERED')`,
  ),
  checkRows(
    "T1",
    "no ask of a job is pending more than two seconds past its deadline, or after its job",
    () => sql`SELECT ask_id AS offender FROM asks
        WHERE status = 'PENDING' AND expires_at < (SELECT parley_now()) - 2000
          AND NOT ${isFrozen(raw("principal"))}
      UNION SELECT a.ask_id FROM asks a JOIN jobs j ON j.job_id = a.job_id
        WHERE a.status = 'PENDING' AND j.ended_at IS NOT NULL`,
  ),
  checkRows(
    "W4",
    "an ask that allows a call whose executor promised a report has an end two minutes after the time for it",
    () => sql`SELECT o.ask_id AS offender FROM ask_outcomes o
      WHERE o.due_at < (SELECT parley_now()) - ${LONG_UNREPORTED_MS}
        AND NOT (o.state = 'awaited' AND ${isFrozen(raw("o.asker"))})`,
  ),
  checkRows(
    "W4",
    "what became of a call is stored for an allowed ask alone, and not beside a request to people",
    (quick) => sql`SELECT o.ask_id AS offender FROM (SELECT ask_id FROM ask_outcomes ORDER BY at DESC
        ${quick ? sql`LIMIT ${QUICK_JOBS}` : empty}) AS o LEFT JOIN asks a ON a.ask_id = o.ask_id
      WHERE coalesce(a.status, '') <> 'ANSWERED' OR a.addressed_id IS NOT NULL OR a.joined_to IS NOT NULL`,
  ),
  checkRows(
    "S1, S3",
    "the numbers of a job's events have no holes above its retention mark, and every answer is among them",
    (quick) => sql`SELECT j.job_id AS offender FROM jobs j
      WHERE ${openOrAll(quick)} AND (j.seq - j.kept_from + 1 <>
          (SELECT count(*) FROM job_events e WHERE e.job_id = j.job_id AND e.seq BETWEEN j.kept_from AND j.seq)
        OR EXISTS (SELECT 1 FROM job_events e WHERE e.job_id = j.job_id AND e.seq > j.seq)
        OR j.kept_from = 1 AND (SELECT count(*) FROM answers s WHERE s.job_id = j.job_id) <>
          (SELECT count(*) FROM job_events e WHERE e.job_id = j.job_id AND e.event = 'answer'))`,
  ),
];

const pendingOf = sql`(SELECT count(*) FROM asks a
  WHERE a.job_id = j.job_id AND a.epoch = j.epoch AND a.status = 'PENDING')`;

const newestOpen = sql`SELECT job_id FROM jobs WHERE ended_at IS NULL ORDER BY ttl_until DESC LIMIT ${QUICK_JOBS}`;

/** The jobs a check looks at: all, or those that have not ended and will live longest. */
function openOrAll(quick: boolean): Sql {
  return quick ? sql`j.job_id IN (SELECT job_id FROM (${newestOpen}) AS open)` : sql`1 = 1`;
}

function newestAsks(quick: boolean): Sql {
  if (!quick) return sql`asks`;
  return sql`(SELECT * FROM asks WHERE job_id IN (SELECT job_id FROM (${newestOpen}) AS open
    UNION ALL SELECT job_id FROM (SELECT job_id FROM jobs WHERE ended_at IS NOT NULL
      ORDER BY ended_at DESC LIMIT ${QUICK_JOBS}) AS ended))`;
}
