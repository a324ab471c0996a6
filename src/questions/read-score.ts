import type { Context } from "../context.ts";
import { badgeName, badgeProgress, compareEarned } from "./model/badges.ts";
import type { AnsweringIdentity } from "./model/participant.ts";
import { utcDayStart, type Period } from "./model/points.ts";
import { localDay, streakOn } from "./model/streak.ts";
import { findLastStreak, listBadges, readFacts, sumSince } from "./store/ledger.ts";
import { storeNow } from "../core/store/db.ts";
import { readScores, type Score } from "./store/scores.ts";

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

const NOTHING_YET = {
  answers: 0,
  points: 0,
  byCategory: {},
  longestStreak: 0,
  early: 0,
  night: 0,
  speedy: 0,
  confident: 0,
};

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
      badgeProgress: badgeProgress(NOTHING_YET, new Set()),
    };
  }
  const { person, timeZone } = identity;
  const now = await storeNow(ctx.db);
  const facts = await readFacts(ctx.db, person);
  const badges = (await listBadges(ctx.db, person)).toSorted(compareEarned);
  const { own } = await readScores(ctx.db, { period: "all_time", now }, 1, person);
  return {
    totalPoints: facts.points,
    totalAnswers: facts.answers,
    streakDays: streakOn(await findLastStreak(ctx.db, person), localDay(now, timeZone)),
    badges: badges.map((badge) => ({ ...badge, name: badgeName(badge.id) })),
    rank: own?.rank ?? null,
    answersByCategory: facts.byCategory,
    pointsToday: (await sumSince(ctx.db, person, utcDayStart(now))).points,
    badgeProgress: badgeProgress(facts, new Set(badges.map(({ id }) => id))),
  };
}

/** Returns the best scores of a period and the caller's own. */
export async function readLeaderboard(
  ctx: Context,
  identity: AnsweringIdentity | null,
  period: Period,
  limit: number,
): Promise<{ top: readonly Score[]; own: Score | null }> {
  const now = await storeNow(ctx.db);
  return readScores(ctx.db, { period, now }, limit, identity?.person ?? null);
}
