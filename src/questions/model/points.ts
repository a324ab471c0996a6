import type { Answer, Question } from "./question.ts";
import type { CrowdRules } from "./rules.ts";
import { lengthOf } from "../../core/model/field-problem.ts";

/** The points that an answer earned, entry by entry; the entries sum to the points. */
export interface PointEntries {
  base: number;
  confidence?: number;
  thoughtful?: number;
  quick?: number;
  in_demand?: number;
  streak?: number;
  cap?: number;
}

export interface EarnedPoints {
  points: number;
  /** The part that counts against the daily cap. */
  cappedPoints: number;
  entries: PointEntries;
}

const STREAK_BONUS: Readonly<Record<number, number>> = { 3: 10, 7: 25, 30: 100, 100: 500 };
const QUICK_MS = 5 * 60_000;
const THOUGHTFUL_OVER = 100;

/** The points a question of this form earns before any bonus. */
export function basePoints(question: Pick<Question, "form">, rules: CrowdRules["points"]): number {
  return question.form.kind === "text" ? rules.text : rules.multipleChoice;
}

/**
 * Returns what an answer earns: the base, the bonuses that are on, and a negative `cap` entry down to the day's limit
 * (spec/ask-a-human 5.1).
 */
export function pointsFor(input: {
  question: Pick<Question, "form" | "need">;
  /** How many answers the question had before this one. */
  answersBefore: number;
  answer: Answer;
  at: number;
  /** The time when this person was notified of this question, if ever. */
  notifiedAt: number | null;
  streakDays: number;
  /** Streak lengths whose bonus this person has had. */
  rewardedStreaks: ReadonlySet<number>;
  /** Points earned this UTC day that count against the cap. */
  cappedToday: number;
  rules: CrowdRules["points"];
}): EarnedPoints {
  const { question, answer, rules } = input;
  const entries: PointEntries = { base: basePoints(question, rules) };
  if (rules.bonuses) {
    if (answer.confidence !== undefined) entries.confidence = 2;
    if (answer.text !== undefined && lengthOf(answer.text) > THOUGHTFUL_OVER) entries.thoughtful = 5;
    if (input.notifiedAt !== null && input.at - input.notifiedAt <= QUICK_MS) entries.quick = 3;
    if (input.answersBefore * 2 < question.need) entries.in_demand = 5;
  }
  const uncapped = sum(entries);
  const over = Math.max(0, input.cappedToday + uncapped - rules.dailyCap);
  const cut = Math.min(over, uncapped);
  if (cut > 0) entries.cap = -cut;

  const streakBonus = STREAK_BONUS[input.streakDays];
  if (rules.bonuses && streakBonus !== undefined && !input.rewardedStreaks.has(input.streakDays)) {
    entries.streak = streakBonus;
  }
  return { points: sum(entries), cappedPoints: uncapped - cut, entries };
}

function sum(entries: PointEntries): number {
  return Object.values(entries).reduce((total: number, points: number) => total + points, 0);
}

/** Start of the UTC day that holds `at`, epoch ms. */
export function utcDayStart(at: number): number {
  return at - (at % 86_400_000);
}

export const PERIODS = ["daily", "weekly", "all_time"] as const;
export type Period = (typeof PERIODS)[number];

/** Returns when a leaderboard's period began: 00:00 UTC today, Monday 00:00 UTC, or ever. */
export function periodStart(period: Period, now: number): number {
  if (period === "all_time") return 0;
  const today = utcDayStart(now);
  if (period === "daily") return today;
  const daysSinceMonday = (new Date(today).getUTCDay() + 6) % 7;
  return today - daysSinceMonday * 86_400_000;
}
