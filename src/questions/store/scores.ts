import { periodStart, PERIODS, type Period } from "../model/points.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

const DAY_MS = 86_400_000;
/** A week that has just ended on one node may not have on another. */
const KEPT_MS = 8 * DAY_MS;

export interface Score {
  rank: number;
  person: string;
  points: number;
  answers: number;
}

/**
 * Adds one ledger entry to the person's score in every period that it falls into, in the entry's transaction, so that a
 * score is the sum of the ledger (spec/invariants A13).
 */
export async function addToScores(
  tx: Tx,
  { person, points, at }: { person: string; points: number; at: number },
): Promise<void> {
  const reachedAt = points > 0 ? at : null;
  const rows = PERIODS.map(
    (period) => sql`(${period}, ${periodStart(period, at)}, ${person}, ${points}, 1, ${reachedAt})`,
  );
  await tx.all(sql`INSERT INTO scores (period, from_at, person, points, answers, reached_at) VALUES ${join(rows)}
    ON CONFLICT (person, period, from_at) DO UPDATE SET
      points = scores.points + excluded.points,
      answers = scores.answers + 1,
      reached_at = CASE WHEN scores.reached_at IS NULL OR scores.reached_at < excluded.reached_at
        THEN excluded.reached_at ELSE scores.reached_at END`);
}

/**
 * Returns the first `limit` scores of the period that holds `now`, and the named person's own. Equal points share a
 * rank; inside a tie the person who reached the score first comes first (spec/ask-a-human 4.7).
 */
export async function readScores(
  on: Queryable,
  { period, now }: { period: Period; now: number },
  limit: number,
  person: string | null,
): Promise<{ top: Score[]; own: Score | null }> {
  const within = sql`period = ${period} AND from_at = ${periodStart(period, now)}`;
  const best = await on.all<Omit<Score, "rank">>(
    sql`SELECT person, points, answers FROM scores WHERE ${within} AND points > 0
      ORDER BY points DESC, reached_at, person LIMIT ${limit}`,
  );
  const top = best.map((score) => ({
    rank: 1 + best.findIndex(({ points }) => points === score.points),
    ...score,
  }));
  const listed = top.find((score) => score.person === person);
  if (listed || person === null) return { top, own: listed ?? null };

  const own = await first<Omit<Score, "rank">>(
    on,
    sql`SELECT person, points, answers FROM scores WHERE person = ${person} AND ${within} AND points > 0`,
  );
  if (!own) return { top, own: null };
  const { ahead } = await one<{ ahead: number }>(
    on,
    sql`SELECT count(*) AS ahead FROM scores WHERE ${within} AND points > ${own.points}`,
  );
  return { top, own: { rank: 1 + ahead, ...own } };
}

/** Deletes up to `limit` scores of days and weeks that are over; true when there may be more. */
export async function deleteOldScores(tx: Tx, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM scores WHERE (person, period, from_at) IN
      (SELECT person, period, from_at FROM scores
        WHERE period IN ('daily', 'weekly') AND from_at < (SELECT parley_now()) - ${KEPT_MS} LIMIT ${limit})
      RETURNING person`,
  );
  return rows.length === limit;
}
