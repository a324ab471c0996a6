import { OFFERED } from "../model/task.ts";
import { checkRows, type Check } from "../../core/store/check.ts";
import { sql, type Sql } from "../../core/store/sql.ts";
import { SHOWN_JOBS } from "../../asks/store/tables.ts";

const QUICK_TASKS = 2000;
/** The holder of an attempt ends it within a minute of its job. If the holder is away, others end it an hour later. */
const LONG_OVER_MS = 2 * 3_600_000;

/** Invariants of tasks and their attempts that the tables themselves do not enforce. */
export const ASSIGNMENT_CHECKS: readonly Check[] = [
  checkRows(
    "G1",
    "a task has a commit exactly while it is completed",
    (quick) => sql`SELECT t.repo || '/' || t.id AS offender FROM tasks t
      WHERE ${some(quick)} AND (t.commit_sha IS NOT NULL) <> (t.state IN ('review', 'approved'))`,
  ),
  checkRows(
    "J8",
    "a task is in line only when all it waits for is completed, and blocked only while something is not approved",
    () => sql`SELECT t.repo || '/' || t.id AS offender FROM tasks t
      WHERE t.state = 'queued' AND EXISTS (SELECT 1 FROM task_dependencies d LEFT JOIN tasks o ON o.repo = d.repo
          AND o.id = d.depends_on WHERE d.repo = t.repo AND d.id = t.id
            AND (o.id IS NULL OR o.state NOT IN ('review', 'approved')))
        OR t.state = 'blocked' AND NOT EXISTS (SELECT 1 FROM task_dependencies d LEFT JOIN tasks o ON o.repo = d.repo
          AND o.id = d.depends_on WHERE d.repo = t.repo AND d.id = t.id AND (o.id IS NULL OR o.state <> 'approved'))`,
  ),
  checkRows(
    "J7",
    "a task that is blocked, failed, rejected or canceled says why",
    (quick) => sql`SELECT t.repo || '/' || t.id AS offender FROM tasks t
      WHERE ${some(quick)} AND (t.state = 'blocked' AND t.blocked_reason IS NULL
        OR t.state IN ('failed', 'rejected', 'canceled') AND t.error IS NULL)`,
  ),
  checkRows(
    "J9",
    // One that is offered to workers elsewhere belongs to a task in line.
    "a task has one live attempt at most, which is of its present submission or ending; one in progress has one",
    () => sql`SELECT a.repo || '/' || a.id AS offender FROM task_attempts a LEFT JOIN tasks t
        ON t.repo = a.repo AND t.id = a.id
      WHERE a.ended_at IS NULL AND a.state <> 'ending' AND (t.id IS NULL OR t.generation <> a.generation
        OR t.state NOT IN ('preparing', 'running', 'awaiting_answer', 'interrupted', 'committing')
          AND NOT (a.holder = ${OFFERED} AND t.state = 'queued'))
      UNION SELECT repo || '/' || id FROM task_attempts WHERE ended_at IS NULL GROUP BY repo, id HAVING count(*) > 1
      UNION SELECT t.repo || '/' || t.id FROM tasks t
        WHERE t.state IN ('preparing', 'running', 'awaiting_answer', 'committing')
          AND NOT EXISTS (SELECT 1 FROM task_attempts a WHERE a.repo = t.repo AND a.id = t.id AND a.ended_at IS NULL)`,
  ),
  checkRows(
    "J2",
    "nothing that an attempt did which was ended is a task's commit",
    (quick) => sql`SELECT t.repo || '/' || t.id AS offender FROM tasks t JOIN task_attempts a
        ON a.repo = t.repo AND a.id = t.id AND a.n = t.attempt
      WHERE ${some(quick)} AND t.commit_sha IS NOT NULL
        AND (a.outcome IN ('superseded', 'canceled') OR a.generation <> t.generation OR a.ended_at IS NULL)`,
  ),
  checkRows(
    "J2",
    "the job of an attempt that is to end, or has ended, has ended, or is the next attempt's",
    // After a worker was lost, the next attempt goes on as the same job.
    (quick) => sql`SELECT a.attempt_id AS offender FROM task_attempts a JOIN ${SHOWN_JOBS} j ON j.job_id = a.job_id
      WHERE ${quick ? sql`a.ended_at IS NULL` : sql`1 = 1`} AND a.state IN ('ending', 'ended') AND j.ended_at IS NULL
        AND NOT (a.outcome = 'lost' AND EXISTS
          (SELECT 1 FROM task_attempts later WHERE later.job_id = a.job_id AND later.n > a.n))`,
  ),
  checkRows(
    "J2",
    "an attempt whose job ended two hours ago is to end, or has ended",
    () => sql`SELECT a.attempt_id AS offender FROM task_attempts a JOIN ${SHOWN_JOBS} j ON j.job_id = a.job_id
      WHERE a.ended_at IS NULL AND a.state <> 'ending' AND j.ended_at < (SELECT parley_now()) - ${LONG_OVER_MS}`,
  ),
  checkRows(
    "S1, S3",
    "the numbers of a task's log have no holes above its retention mark, and the last state in it is the task's",
    (quick) => sql`SELECT t.repo || '/' || t.id AS offender FROM tasks t
      WHERE ${some(quick)} AND t.swept = 0 AND (t.seq <> (SELECT coalesce(max(e.seq), 0) ${eventsOf})
        OR (SELECT max(e.seq) - min(e.seq) + 1 - count(*) ${eventsOf}) <> 0
        OR NOT (SELECT e.data_json ${eventsOf} AND e.type = 'state' ORDER BY e.seq DESC LIMIT 1)
          LIKE '{"state":"' || t.state || '"%')`,
  ),
  checkRows(
    "S1",
    "the numbers of a repository's board have no holes",
    () => sql`SELECT b.repo AS offender FROM task_boards b
      WHERE b.seq <> (SELECT max(e.seq) FROM task_board_events e WHERE e.repo = b.repo)
        OR (SELECT max(e.seq) - min(e.seq) + 1 - count(*) FROM task_board_events e WHERE e.repo = b.repo) <> 0`,
  ),
  checkRows(
    "A1",
    "work is approved or rejected by the one review of its attempt",
    (quick) => sql`SELECT t.repo || '/' || t.id AS offender FROM tasks t
      WHERE ${some(quick)} AND t.state IN ('approved', 'rejected') AND NOT EXISTS
        (SELECT 1 FROM task_reviews r WHERE r.repo = t.repo AND r.id = t.id AND r.attempt = t.attempt
          AND r.verdict = CASE WHEN t.state = 'approved' THEN 'approve' ELSE 'reject' END)`,
  ),
];

const eventsOf = sql`FROM task_events e WHERE e.repo = t.repo AND e.id = t.id`;

/** The tasks a check looks at: all, or those that were submitted last. */
function some(quick: boolean): Sql {
  if (!quick) return sql`1 = 1`;
  return sql`(t.repo, t.id) IN (SELECT repo, id FROM
    (SELECT repo, id FROM tasks ORDER BY submitted_at DESC LIMIT ${QUICK_TASKS}) AS newest)`;
}
