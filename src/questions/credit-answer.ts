import { findNotifiedAt } from "./store/notified.ts";
import type { Context } from "../context.ts";
import { categoryOf, type Answer, type Question } from "./model/question.ts";
import { EARLY_BIRD_MS, newBadges, NIGHT_ENDS_HOUR, SPEED_DEMON_MS } from "./model/badges.ts";
import type { AnsweringIdentity } from "./model/participant.ts";
import { pointsFor, utcDayStart, type PointEntries } from "./model/points.ts";
import { continueStreak, localDay, localHour, streakOn } from "./model/streak.ts";
import { findFirstView } from "./store/marks.ts";
import type { Tx } from "../core/store/db.ts";
import { insertBadgeIfNew, insertLedgerRow, sumSince, type LedgerRow } from "./store/ledger.ts";
import { addToScores } from "./store/scores.ts";
import { lockTotals, updateTotals } from "./store/totals.ts";
import { addEntry, type PersonTotals } from "./model/totals.ts";

/** The points and badges that an answer earned. */
export interface Credit {
  points: number;
  entries: PointEntries;
  /** Ids of the badges this answer earned, in table order. */
  badges: readonly string[];
  totalPoints: number;
  streakDays: number;
}

/**
 * Appends the one ledger row of an accepted answer, adds it to the scores and to the person's totals, and gives the badges
 * it earned. Runs in the answer's transaction with the person's limit window held, so that two answers of one person
 * cannot both be the tenth.
 */
export async function creditAnswer(
  ctx: Context,
  tx: Tx,
  given: { question: Question; identity: AnsweringIdentity; answer: Answer; at: number },
): Promise<Credit> {
  const { question, answer, at } = given;
  const { person, names, timeZone } = given.identity;
  const rules = ctx.crowd.points;

  const [before, firstView] = await Promise.all([lockTotals(tx, person), findFirstView(tx, question.id, names)]);
  const today = localDay(at, timeZone);
  const streak = continueStreak(before.streak, today);
  const { points, cappedPoints, entries } = pointsFor({
    question,
    answersBefore: question.n - 1,
    answer,
    at,
    notifiedAt: rules.bonuses ? await findNotifiedAt(tx, question.id, names) : null,
    streakDays: streak.days,
    rewardedStreaks: new Set(before.rewardedStreaks),
    cappedToday: await cappedSince(tx, { person, totals: before, from: utcDayStart(at) }),
    rules,
  });
  const row: LedgerRow = {
    person,
    questionId: question.id,
    at,
    category: categoryOf(question),
    points,
    cappedPoints,
    entries,
    streak,
    early: at - question.createdAt <= EARLY_BIRD_MS,
    night: localHour(at, timeZone) < NIGHT_ENDS_HOUR,
    speedy: firstView !== null && at - firstView < SPEED_DEMON_MS,
    confident: answer.confidence === 5,
  };
  const totals = addEntry(before, row);
  const earned = newBadges(totals, new Set(before.badges));
  await Promise.all([
    insertLedgerRow(tx, row),
    addToScores(tx, { person, points, at }),
    updateTotals(tx, person, { ...totals, badges: [...before.badges, ...earned].sort() }),
  ]);
  const badges: string[] = [];
  for (const id of earned) {
    if (await insertBadgeIfNew(tx, { person, id, questionId: question.id, at })) badges.push(id);
  }
  return { points, entries, badges, totalPoints: totals.points, streakDays: streakOn(streak, today) };
}

/** Returns what a person has earned since `from` that counts against the cap: the ledger knows it of days before the newest. */
async function cappedSince(
  tx: Tx,
  { person, totals, from }: { person: string; totals: PersonTotals; from: number },
): Promise<number> {
  if (from < totals.cappedDay) return (await sumSince(tx, person, from)).capped;
  return from > totals.cappedDay ? 0 : totals.cappedPoints;
}
