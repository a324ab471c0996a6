import { NO_TOTALS, type PersonTotals } from "../model/totals.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { json, rowsOf } from "../../core/store/rows.ts";
import { sql } from "../../core/store/sql.ts";

/** The columns of `person_totals` beside the person. */
export const TOTALS_COLUMNS = sql`answers, points, by_category, longest_streak, early, night, speedy, confident, last_day,
  streak_days, rewarded_streaks, capped_day, capped_points, badges`;

/** The rows of `person_totals`. */
export const totalsRows = rowsOf<PersonTotals>()({
  answers: "answers",
  points: "points",
  byCategory: json("by_category"),
  longestStreak: "longest_streak",
  early: "early",
  night: "night",
  speedy: "speedy",
  confident: "confident",
  streak: (row: { last_day: string | null; streak_days: number }) =>
    row.last_day === null ? null : { day: row.last_day, days: row.streak_days },
  rewardedStreaks: json("rewarded_streaks"),
  cappedDay: "capped_day",
  cappedPoints: "capped_points",
  badges: json("badges"),
});

/** Returns a person's totals. */
export async function readTotals(on: Queryable, person: string): Promise<PersonTotals> {
  const statement = sql`SELECT ${TOTALS_COLUMNS} FROM person_totals WHERE person = ${person}`;
  return (await totalsRows.first(on, statement)) ?? NO_TOTALS;
}

/**
 * Returns a person's totals and holds their row, so that an answer and the erasure of one person wait for each other,
 * the first answer too: a missing row is made. The transaction must then update the row or delete it.
 */
export async function lockTotals(tx: Tx, person: string): Promise<PersonTotals> {
  return totalsRows.one(
    tx,
    sql`INSERT INTO person_totals (person) VALUES (${person})
      ON CONFLICT (person) DO UPDATE SET answers = person_totals.answers RETURNING ${TOTALS_COLUMNS}`,
  );
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
