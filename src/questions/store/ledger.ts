import type { QuestionId } from "../../core/model/ids.ts";
import type { PointEntries } from "../model/points.ts";
import type { CountedEntry } from "../model/totals.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** One accepted answer's entry: what it earned and what it counts for. */
export interface LedgerRow extends CountedEntry {
  person: string;
  questionId: QuestionId;
  entries: PointEntries;
}

/** Appends the entry of one answer. @throws when that person has one for that question: our bug */
export async function insertLedgerRow(tx: Tx, row: LedgerRow): Promise<void> {
  await tx.all(sql`INSERT INTO ledger (person, ask_id, at, category, points, capped_points, entries, day, streak_days,
      early, night, speedy, confident)
    VALUES (${row.person}, ${row.questionId}, ${row.at}, ${row.category}, ${row.points}, ${row.cappedPoints},
      ${JSON.stringify(row.entries)}, ${row.streak.day}, ${row.streak.days},
      ${Number(row.early)}, ${Number(row.night)}, ${Number(row.speedy)}, ${Number(row.confident)})`);
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

/** Returns a person's badges. */
export async function listBadges(on: Queryable, person: string): Promise<{ id: string; earnedAt: number }[]> {
  const rows = await on.all<{ badge: string; at: number }>(sql`SELECT badge, at FROM badges WHERE person = ${person}`);
  return rows.map((row) => ({ id: row.badge, earnedAt: row.at }));
}

/** Gives a badge, once and for ever; false when the person holds it. */
export async function insertBadgeIfNew(
  tx: Tx,
  badge: { person: string; id: string; questionId: QuestionId; at: number },
): Promise<boolean> {
  const row = await first(
    tx,
    sql`INSERT INTO badges (person, badge, ask_id, at) VALUES (${badge.person}, ${badge.id}, ${badge.questionId}, ${badge.at})
      ON CONFLICT (person, badge) DO NOTHING RETURNING badge`,
  );
  return row !== undefined;
}
