import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { raw, sql } from "../../core/store/sql.ts";
import { isFrozen, stoodFor } from "../../policy/store/freezes.ts";

export const QUESTION_TABLES: OwnedTables = {
  names: [
    "badges",
    "fallbacks",
    "fingerprints",
    "leaderboard_names",
    "ledger",
    "outcomes",
    "participants",
    "person_totals",
    "questions",
    "reports",
    "responses",
    "scores",
    "skips",
    "views",
    "waits",
  ],
  atRestore: {
    badges: "stays",
    fallbacks: "stays",
    fingerprints: "stays",
    leaderboard_names: "stays",
    ledger: "stays",
    outcomes: "stays",
    participants: {
      ends: () => [sql`UPDATE participants SET recovery_hash = NULL, recovery_expires_at = NULL`],
    },
    person_totals: "stays",
    questions: "stays",
    reports: "stays",
    responses: "stays",
    scores: "stays",
    skips: "stays",
    views: "stays",
    waits: "stays",
  },
  moveOpen: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE questions SET created_at = created_at - ${by}, expires_at = expires_at - ${by}
        WHERE state = 'open' AND created_at > ${nowMs} RETURNING 1 AS moved`,
    ];
  },
  standStill: (time) => [
    sql`UPDATE questions SET expires_at = expires_at + ${stoodFor(raw("created_at"), time)}
      WHERE state = ${"open"} AND ${isFrozen(raw("asker"))}`,
  ],
  moveTimes: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE waits SET created_at = created_at - ${by}, kept_until = kept_until - ${by} WHERE created_at > ${nowMs}`,
      sql`UPDATE participants SET recovery_expires_at = recovery_expires_at - ${by}
        WHERE recovery_expires_at > ${wrongMs}`,
      sql`UPDATE fallbacks SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
      sql`UPDATE skips SET until = until - ${by} WHERE until > ${wrongMs}`,
    ];
  },
  countPassed: (sinceMs) => sql`SELECT count(*) FROM questions
    WHERE state = 'open' AND expires_at > ${sinceMs} AND expires_at <= (SELECT parley_now())
      AND NOT ${isFrozen(raw("asker"))}`,
  followed: [{ from: "responses", by: "ask_id", to: "questions", column: "ask_id" }],
};

/** The columns of questions that other rooms read. */
export const SHOWN_QUESTIONS = sql`(SELECT ask_id, asker, door, state, held, audience, need, n, created_at, expires_at,
  last_answer_at FROM questions)`;
