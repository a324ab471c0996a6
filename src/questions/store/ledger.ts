import type { Tag } from "../model/question.ts";
import type { LedgerFacts } from "../model/badges.ts";
import type { PointEntries } from "../model/points.ts";
import type { StreakMark } from "../model/streak.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** One accepted answer's entry: what it earned and what it counts for. */
export interface LedgerRow {
  person: string;
  askId: string;
  at: number;
  category: Tag;
  points: number;
  cappedPoints: number;
  entries: PointEntries;
  streak: StreakMark;
  early: boolean;
  night: boolean;
  speedy: boolean;
  confident: boolean;
}

/** Appends the entry of one answer. @throws when that person has one for that ask: our bug */
export async function insertLedgerRow(tx: Tx, row: LedgerRow): Promise<void> {
  await tx.all(sql`INSERT INTO ledger (person, ask_id, at, category, points, capped_points, entries, day, streak_days,
      early, night, speedy, confident)
    VALUES (${row.person}, ${row.askId}, ${row.at}, ${row.category}, ${row.points}, ${row.cappedPoints},
      ${JSON.stringify(row.entries)}, ${row.streak.day}, ${row.streak.days},
      ${Number(row.early)}, ${Number(row.night)}, ${Number(row.speedy)}, ${Number(row.confident)})`);
}

/** Adds up a person's ledger. */
export async function readFacts(on: Queryable, person: string): Promise<LedgerFacts> {
  const rows = await on.all<{
    category: Tag;
    answers: number;
    points: number;
    longest: number;
    early: number;
    night: number;
    speedy: number;
    confident: number;
  }>(sql`SELECT category, count(*) AS answers, sum(points) AS points, max(streak_days) AS longest, sum(early) AS early,
      sum(night) AS night, sum(speedy) AS speedy, sum(confident) AS confident
    FROM ledger WHERE person = ${person} GROUP BY category ORDER BY category`);
  const total = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((sum, row) => sum + pick(row), 0);
  return {
    answers: total((row) => row.answers),
    points: total((row) => row.points),
    byCategory: Object.fromEntries(rows.map((row) => [row.category, row.answers])),
    longestStreak: Math.max(0, ...rows.map((row) => row.longest)),
    early: total((row) => row.early),
    night: total((row) => row.night),
    speedy: total((row) => row.speedy),
    confident: total((row) => row.confident),
  };
}

/** Returns where a person's streak stands, or nothing before the first answer. */
export async function findLastStreak(on: Queryable, person: string): Promise<StreakMark | null> {
  const row = await first<{ day: string; streak_days: number }>(
    on,
    sql`SELECT day, streak_days FROM ledger WHERE person = ${person} ORDER BY day DESC, at DESC LIMIT 1`,
  );
  return row ? { day: row.day, days: row.streak_days } : null;
}

/** Adds up what a person earned since `from`: all points, and those that count against the daily cap. */
export async function sumSince(
  on: Queryable,
  person: string,
  from: number,
): Promise<{ points: number; capped: number }> {
  return one(
    on,
    sql`SELECT coalesce(sum(points), 0) AS points, coalesce(sum(capped_points), 0) AS capped
      FROM ledger WHERE person = ${person} AND at >= ${from}`,
  );
}

/** Returns the streak lengths whose bonus the person has had. */
export async function listRewardedStreaks(on: Queryable, person: string): Promise<Set<number>> {
  const rows = await on.all<{ streak_days: number }>(
    sql`SELECT DISTINCT streak_days FROM ledger WHERE person = ${person} AND points > capped_points`,
  );
  return new Set(rows.map((row) => row.streak_days));
}

/** Returns a person's badges. */
export async function listBadges(on: Queryable, person: string): Promise<{ id: string; earnedAt: number }[]> {
  const rows = await on.all<{ badge: string; at: number }>(sql`SELECT badge, at FROM badges WHERE person = ${person}`);
  return rows.map((row) => ({ id: row.badge, earnedAt: row.at }));
}

/** Gives a badge, once and for ever; false when the person holds it. */
export async function insertBadgeIfNew(
  tx: Tx,
  badge: { person: string; id: string; askId: string; at: number },
): Promise<boolean> {
  const row = await first(
    tx,
    sql`INSERT INTO badges (person, badge, ask_id, at) VALUES (${badge.person}, ${badge.id}, ${badge.askId}, ${badge.at})
      ON CONFLICT (person, badge) DO NOTHING RETURNING badge`,
  );
  return row !== undefined;
}
