import type { Context } from "../context.ts";
import { badgeName, badgeProgress, compareEarned } from "./model/badges.ts";
import type { AnsweringIdentity } from "./model/participant.ts";
import { utcDayStart, type Period } from "./model/points.ts";
import { localDay, streakOn } from "./model/streak.ts";
import { NO_TOTALS } from "./model/totals.ts";
import { listBadges, sumSince } from "./store/ledger.ts";
import { storeNow } from "../core/store/db.ts";
import { findLeaderboardNames } from "./store/leaderboard-names.ts";
import { readScores, type Score } from "./store/scores.ts";
import { readTotals } from "./store/totals.ts";

export interface PersonStats {
  totalPoints: number;
  totalAnswers: number;
  streakDays: number;
  badges: readonly { id: string; name: string; earnedAt: number }[];
  rank: number | null;
  answersByCategory: Readonly<Partial<Record<string, number>>>;
  pointsToday: number;
  badgeProgress: ReturnType<typeof badgeProgress>;
}

/** Returns what a person's ledger adds up to; zeros for somebody unknown. */
export async function readStats(ctx: Context, identity: AnsweringIdentity | null): Promise<PersonStats> {
  if (!identity) {
    return {
      totalPoints: 0,
      totalAnswers: 0,
      streakDays: 0,
      badges: [],
      rank: null,
      answersByCategory: {},
      pointsToday: 0,
      badgeProgress: badgeProgress(NO_TOTALS, new Set()),
    };
  }
  const { person, timeZone } = identity;
  const now = await storeNow(ctx.db);
  const totals = await readTotals(ctx.db, person);
  const badges = (await listBadges(ctx.db, person)).toSorted(compareEarned);
  const { own } = await readScores(ctx.db, { period: "all_time", now }, 1, person);
  return {
    totalPoints: totals.points,
    totalAnswers: totals.answers,
    streakDays: streakOn(totals.streak, localDay(now, timeZone)),
    badges: badges.map((badge) => ({ ...badge, name: badgeName(badge.id) })),
    rank: own?.rank ?? null,
    answersByCategory: totals.byCategory,
    pointsToday: (await sumSince(ctx.db, person, utcDayStart(now))).points,
    badgeProgress: badgeProgress(totals, new Set(badges.map(({ id }) => id))),
  };
}

/** Returns the best scores of a period with the names that their people chose, and the caller's own. */
export async function readLeaderboard(
  ctx: Context,
  identity: AnsweringIdentity | null,
  period: Period,
  limit: number,
): Promise<{ top: readonly (Score & { name: string | null })[]; own: Score | null; ownName: string | null }> {
  const now = await storeNow(ctx.db);
  const person = identity?.person ?? null;
  const { top, own } = await readScores(ctx.db, { period, now }, limit, person);
  const people = new Set([...top.map((score) => score.person), ...(person === null ? [] : [person])]);
  const names = await findLeaderboardNames(ctx.db, [...people]);
  const nameOf = (id: string): string | null => names.get(id) ?? null;
  return {
    top: top.map((score) => ({ ...score, name: nameOf(score.person) })),
    own,
    ownName: person === null ? null : nameOf(person),
  };
}
