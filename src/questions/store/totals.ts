import { NO_TOTALS, type PersonTotals } from "../model/totals.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** A row of `person_totals`, whose lists are JSON. */
export interface TotalsRow {
  answers: number;
  points: number;
  by_category: string;
  longest_streak: number;
  early: number;
  night: number;
  speedy: number;
  confident: number;
  last_day: string | null;
  streak_days: number;
  rewarded_streaks: string;
  capped_day: number;
  capped_points: number;
  badges: string;
}

/** The columns of `person_totals` beside the person. */
export const TOTALS_COLUMNS = sql`answers, points, by_category, longest_streak, early, night, speedy, confident, last_day,
  streak_days, rewarded_streaks, capped_day, capped_points, badges`;

/** Returns what a row means. */
export function toTotals(row: TotalsRow): PersonTotals {
  return {
    answers: row.answers,
    points: row.points,
    byCategory: JSON.parse(row.by_category) as PersonTotals["byCategory"],
    longestStreak: row.longest_streak,
    early: row.early,
    night: row.night,
    speedy: row.speedy,
    confident: row.confident,
    streak: row.last_day === null ? null : { day: row.last_day, days: row.streak_days },
    rewardedStreaks: JSON.parse(row.rewarded_streaks) as number[],
    cappedDay: row.capped_day,
    cappedPoints: row.capped_points,
    badges: JSON.parse(row.badges) as string[],
  };
}

/** Returns a person's totals. */
export async function readTotals(on: Queryable, person: string): Promise<PersonTotals> {
  const row = await first<TotalsRow>(on, sql`SELECT ${TOTALS_COLUMNS} FROM person_totals WHERE person = ${person}`);
  return row ? toTotals(row) : NO_TOTALS;
}

/**
 * Returns a person's totals and holds their row, so that an answer and the erasure of one person wait for each other,
 * the first answer too: a missing row is made. The transaction must then update the row or delete it.
 */
export async function lockTotals(tx: Tx, person: string): Promise<PersonTotals> {
  const row = await one<TotalsRow>(
    tx,
    sql`INSERT INTO person_totals (person) VALUES (${person})
      ON CONFLICT (person) DO UPDATE SET answers = person_totals.answers RETURNING ${TOTALS_COLUMNS}`,
  );
  return toTotals(row);
}

/** Keeps the totals of a person whose row is held. */
export async function updateTotals(tx: Tx, person: string, totals: PersonTotals): Promise<void> {
  await tx.all(sql`UPDATE person_totals SET answers = ${totals.answers}, points = ${totals.points},
      by_category = ${JSON.stringify(totals.byCategory)}, longest_streak = ${totals.longestStreak},
      early = ${totals.early}, night = ${totals.night}, speedy = ${totals.speedy}, confident = ${totals.confident},
      last_day = ${totals.streak?.day ?? null}, streak_days = ${totals.streak?.days ?? 0},
      rewarded_streaks = ${JSON.stringify(totals.rewardedStreaks)}, capped_day = ${totals.cappedDay},
      capped_points = ${totals.cappedPoints}, badges = ${JSON.stringify(totals.badges)}
    WHERE person = ${person}`);
}
