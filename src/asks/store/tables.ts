import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { raw, sql } from "../../core/store/sql.ts";
import { isFrozen, stoodFor } from "../../policy/store/freezes.ts";
import { SHOWN_QUESTIONS } from "../../questions/store/tables.ts";

export const RELAY_TABLES: OwnedTables = {
  names: [
    "answer_deliveries",
    "answers",
    "artifacts",
    "ask_outcomes",
    "asks",
    "decision_cache",
    "job_claims",
    "job_events",
    "jobs",
    "late_answers",
    "runner_runs",
    "runner_spending",
    "tool_pins",
  ],
  atRestore: {
    // An approval that was answered may have been used since the backup: no later executor joins it.
    answer_deliveries: {
      ends: (atMs) => [
        sql`INSERT INTO answer_deliveries (ask_id, epoch, at) SELECT ask_id, epoch, ${atMs} FROM asks
          WHERE ask_type IN ('APPROVAL', 'POLICY_DECISION') AND status <> 'PENDING' ON CONFLICT DO NOTHING`,
      ],
    },
    answers: "stays",
    artifacts: "stays",
    // An approval may have been used since the backup.
    ask_outcomes: {
      ends: (atMs) => [
        sql`UPDATE ask_outcomes SET state = 'unknown', at = ${atMs}, due_at = NULL WHERE state IN ('awaited', 'started')`,
      ],
    },
    asks: "stays",
    decision_cache: { ends: () => [sql`DELETE FROM decision_cache`] },
    job_claims: "stays",
    job_events: "stays",
    // A lease that nobody holds is taken away by the first server that starts.
    jobs: {
      ends: (atMs) => [
        sql`UPDATE jobs SET lease_hash = NULL, lease_until = ${atMs} WHERE lease_until IS NOT NULL`,
        sql`UPDATE jobs SET lease_hash = NULL WHERE lease_hash IS NOT NULL`,
      ],
    },
    late_answers: "stays",
    runner_runs: {
      ends: (atMs) => [sql`UPDATE runner_runs SET claimed_until = ${atMs} WHERE claimed_until > ${atMs}`],
    },
    runner_spending: "stays",
    tool_pins: "stays",
  },
  moveOpen: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE asks SET created_at = created_at - ${by}, expires_at = expires_at - ${by}, respond_at = respond_at - ${by}
        WHERE status = 'PENDING' AND created_at > ${nowMs} RETURNING 1 AS moved`,
      sql`UPDATE jobs SET created_at = created_at - ${by}, queued_at = queued_at - ${by}, ttl_until = ttl_until - ${by}
        WHERE ended_at IS NULL AND created_at > ${nowMs} RETURNING 1 AS moved`,
    ];
  },
  standStill: (time) => [
    sql`UPDATE jobs SET ttl_until = ttl_until + ${stoodFor(raw("created_at"), time)}
      WHERE ended_at IS NULL AND ${isFrozen(raw("owner"))}`,
    // One that stands for a question to the public ends with it.
    sql`UPDATE asks SET expires_at = coalesce((SELECT q.expires_at FROM ${SHOWN_QUESTIONS} q WHERE q.ask_id = question_id),
        expires_at + ${stoodFor(raw("created_at"), time)})
      WHERE status = ${"PENDING"} AND ${isFrozen(raw("principal"))}`,
    sql`UPDATE ask_outcomes SET due_at = due_at + ${stoodFor(raw("at"), time)}
      WHERE state = ${"awaited"} AND due_at IS NOT NULL AND ${isFrozen(raw("asker"))}`,
  ],
  moveTimes: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE jobs SET lease_until = lease_until - ${by} WHERE lease_until > ${wrongMs}`,
      sql`UPDATE runner_runs SET claimed_until = claimed_until - ${by} WHERE claimed_until > ${wrongMs}`,
      sql`UPDATE ask_outcomes SET at = at - ${by}, due_at = due_at - ${by} WHERE at > ${nowMs}`,
    ];
  },
  countPassed: (sinceMs) => sql`SELECT count(*) FROM asks
    WHERE status = 'PENDING' AND expires_at > ${sinceMs} AND expires_at <= (SELECT parley_now())
      AND NOT ${isFrozen(raw("principal"))}`,
  sealed: [
    {
      table: "asks",
      key: "ask_id",
      column: "wire",
      where: `wire LIKE '%"call":"%'`,
      find(text, key) {
        const { call } = JSON.parse(text) as { call?: unknown };
        return typeof call === "string" ? { sealed: call, rowId: key } : null;
      },
    },
  ],
  ownSentences: ["answers.error", "job_events.body"],
  unchanging: ["tool_pins.definition"],
  followed: [
    { from: "answers", by: "ask_id", to: "asks", column: "ask_id" },
    { from: "ask_outcomes", by: "ask_id", to: "asks", column: "ask_id" },
  ],
};

/** The columns of jobs that other rooms read. */
export const SHOWN_JOBS = sql`(SELECT job_id, ended_at FROM jobs)`;
/** The columns of executors' asks that other rooms read. */
export const SHOWN_ASKS = sql`(SELECT ask_id, job_id, status, prompt, joined_to, addressed_id, created_at FROM asks)`;
