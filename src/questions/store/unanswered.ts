import type { QuestionId } from "../../core/model/ids.ts";
import { first, type Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** An open question that nobody has answered. */
export interface UnansweredQuestion {
  id: QuestionId;
  prompt: string;
  asker: string;
  sinceMs: number;
}

const PROMPT_LENGTH = 280;
/** The first answer is late after so long, or after half of the time that there is for answers. */
const LATE_MS = 3_600_000;

/** Returns up to `limit` open questions without any answer whose first answer is late, the soonest deadline first, and how many there are. */
export async function listUnanswered(
  on: Queryable,
  limit: number,
): Promise<{ questions: UnansweredQuestion[]; count: number }> {
  const isLate = sql`state = 'open' AND expires_at > (SELECT parley_now()) AND n = 0
    AND created_at + CASE WHEN expires_at - created_at < ${2 * LATE_MS} THEN (expires_at - created_at) / 2
      ELSE ${LATE_MS} END <= (SELECT parley_now())`;
  const questions = await on.all<UnansweredQuestion & Record<string, unknown>>(
    sql`SELECT ask_id AS id, substr(prompt, 1, ${PROMPT_LENGTH}) AS prompt, asker, created_at AS "sinceMs"
      FROM questions WHERE ${isLate} ORDER BY expires_at, ask_id LIMIT ${limit}`,
  );
  if (questions.length < limit) return { questions, count: questions.length };
  const counted = await on.all<{ count: number }>(sql`SELECT count(*) AS count FROM questions WHERE ${isLate}`);
  return { questions, count: counted[0]?.count ?? questions.length };
}

/** Returns when an agent asked last, and how many of its questions are open. */
export async function findNewestAndOpen(
  on: Queryable,
  asker: string,
): Promise<{ askedAt: number | null; waiting: number }> {
  const row = await first<{ asked_at: number | null; waiting: number }>(
    on,
    sql`SELECT (SELECT max(created_at) FROM questions WHERE asker = ${asker}) AS asked_at,
      (SELECT count(*) FROM questions WHERE asker = ${asker} AND state = 'open'
        AND expires_at > (SELECT parley_now())) AS waiting`,
  );
  return { askedAt: row?.asked_at ?? null, waiting: row?.waiting ?? 0 };
}
