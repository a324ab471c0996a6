import type { LedgerFacts } from "./badges.ts";
import { utcDayStart } from "./points.ts";
import type { Tag } from "./question.ts";
import type { StreakMark } from "./streak.ts";

/** All that an answer needs of its person's ledger and badges. */
export interface PersonTotals extends LedgerFacts {
  /** The person's streak after the newest day of the ledger; nothing before the first answer. */
  streak: StreakMark | null;
  /** Streak lengths whose bonus the person has had, in ascending order. */
  rewardedStreaks: readonly number[];
  /** Start of the newest UTC day of the ledger, epoch ms, and what was earned since then that counts against the cap. */
  cappedDay: number;
  cappedPoints: number;
  /** Ids of the badges that the person holds, in alphabetical order. */
  badges: readonly string[];
}

/** The totals of an empty ledger. */
export const NO_TOTALS: PersonTotals = {
  answers: 0,
  points: 0,
  byCategory: {},
  longestStreak: 0,
  early: 0,
  night: 0,
  speedy: 0,
  confident: 0,
  streak: null,
  rewardedStreaks: [],
  cappedDay: 0,
  cappedPoints: 0,
  badges: [],
};

/** The part of a ledger entry that counts for the totals. */
export interface CountedEntry {
  at: number;
  category: Tag;
  points: number;
  cappedPoints: number;
  streak: StreakMark;
  early: boolean;
  night: boolean;
  speedy: boolean;
  confident: boolean;
}

/** Returns the totals with the newest entry of the ledger; the badges stay as they are. */
export function addEntry(before: PersonTotals, entry: CountedEntry): PersonTotals {
  const { category, streak } = entry;
  const day = utcDayStart(entry.at);
  const counts = Object.entries({ ...before.byCategory, [category]: (before.byCategory[category] ?? 0) + 1 });
  const isRewarded = entry.points > entry.cappedPoints && !before.rewardedStreaks.includes(streak.days);
  return {
    answers: before.answers + 1,
    points: before.points + entry.points,
    byCategory: Object.fromEntries(counts.sort(([one], [other]) => (one < other ? -1 : 1))),
    longestStreak: Math.max(before.longestStreak, streak.days),
    early: before.early + Number(entry.early),
    night: before.night + Number(entry.night),
    speedy: before.speedy + Number(entry.speedy),
    confident: before.confident + Number(entry.confident),
    streak,
    rewardedStreaks: isRewarded
      ? [...before.rewardedStreaks, streak.days].sort((one, other) => one - other)
      : before.rewardedStreaks,
    // After a step of the clock to an earlier day, the entry is no part of the newest day.
    cappedDay: Math.max(day, before.cappedDay),
    cappedPoints:
      (day > before.cappedDay ? 0 : before.cappedPoints) + (day < before.cappedDay ? 0 : entry.cappedPoints),
    badges: before.badges,
  };
}
