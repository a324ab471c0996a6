import { isDeepStrictEqual } from "node:util";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import type { Tag } from "../model/question.ts";
import { BADGES, type LedgerFacts } from "../model/badges.ts";
import { utcDayStart, type PointEntries } from "../model/points.ts";
import { continueStreak, type StreakMark } from "../model/streak.ts";
import { NO_TOTALS, type PersonTotals } from "../model/totals.ts";
import type { Queryable } from "../../core/store/db.ts";
import type { RowOf } from "../../core/store/rows.ts";
import { join, sql } from "../../core/store/sql.ts";
import { TOTALS_COLUMNS, totalsRows } from "./totals.ts";

interface Entry {
  person: string;
  ask_id: string;
  at: number;
  category: Tag;
  points: number;
  capped_points: number;
  entries: string;
  day: string;
  streak_days: number;
  early: number;
  night: number;
  speedy: number;
  confident: number;
}

interface BadgeRow {
  person: string;
  badge: string;
  ask_id: string;
}

const PEOPLE_PER_PAGE = 200;
/** Read at once: few, so that a server that examines its store goes on answering. */
const PEOPLE_AT_ONCE = 10;
/** Longer ledgers are left to the examination that is not quick. */
const QUICK_ENTRIES = 2000;

/** Returns the people with points, a streak, a badge or totals that their ledger does not add up to. */
export async function examineLedger(on: Queryable, quick: boolean): Promise<string[]> {
  const offenders: string[] = [];
  for (let after = ""; ;) {
    const people = quick ? await newestPeople(on) : await nextPeople(on, after);
    const last = people.at(-1);
    if (last === undefined) return offenders;
    for (let i = 0; i < people.length; i += PEOPLE_AT_ONCE) {
      await yieldToEventLoop();
      offenders.push(...(await examinePeople(on, people.slice(i, i + PEOPLE_AT_ONCE))));
    }
    if (quick || offenders.length > PEOPLE_PER_PAGE) return offenders;
    after = last;
  }
}

async function newestPeople(on: Queryable): Promise<string[]> {
  const rows = await on.all<{ person: string }>(
    sql`SELECT person FROM ledger WHERE person IN
        (SELECT person FROM (SELECT person FROM ledger ORDER BY at DESC LIMIT ${PEOPLE_PER_PAGE}) AS newest)
      GROUP BY person HAVING count(*) <= ${QUICK_ENTRIES}`,
  );
  return rows.map(({ person }) => person);
}

async function nextPeople(on: Queryable, after: string): Promise<string[]> {
  const rows = await on.all<{ person: string }>(
    sql`SELECT person FROM (SELECT person FROM ledger WHERE person > ${after} UNION SELECT person FROM badges WHERE person > ${after}
      UNION SELECT person FROM person_totals WHERE person > ${after}) AS known ORDER BY person LIMIT ${PEOPLE_PER_PAGE}`,
  );
  return rows.map(({ person }) => person);
}

async function examinePeople(on: Queryable, people: readonly string[]): Promise<string[]> {
  const entries = await on.all<Entry>(
    sql`SELECT person, ask_id, at, category, points, capped_points, entries, day, streak_days, early, night, speedy, confident
      FROM ledger WHERE person IN (${join([...people])}) ORDER BY person, day, at`,
  );
  const badges = await on.all<BadgeRow>(
    sql`SELECT person, badge, ask_id FROM badges WHERE person IN (${join([...people])})`,
  );
  const totals = await on.all<RowOf<typeof totalsRows> & { person: string }>(
    sql`SELECT person, ${TOTALS_COLUMNS} FROM person_totals WHERE person IN (${join([...people])})`,
  );
  const totalsOf = new Map(totals.map((row) => [row.person, totalsRows.read(row)]));
  const entriesOf = Map.groupBy(entries, ({ person }) => person);
  const badgesOf = Map.groupBy(badges, ({ person }) => person);
  return people.flatMap((person) => {
    const [own, held] = [entriesOf.get(person) ?? [], badgesOf.get(person) ?? []];
    const isAddedUp = isDeepStrictEqual(totalsOf.get(person) ?? NO_TOTALS, expectedTotals(own, held));
    const problems = [...pointProblems(own), ...streakProblems(own), ...badgeProblems(own, held)];
    return [...problems, ...(isAddedUp ? [] : ["the totals"])].map((what) => `${person}: ${what}`);
  });
}

function pointProblems(own: readonly Entry[]): string[] {
  return own.flatMap((entry) => {
    const parts = JSON.parse(entry.entries) as PointEntries;
    const sum = Object.values(parts).reduce((total: number, points: number) => total + points, 0);
    const capped = sum - (parts.streak ?? 0);
    return sum === entry.points && capped === entry.capped_points ? [] : [`the points for ${entry.ask_id}`];
  });
}

/** In order of days each entry continues the one before it, and entries of one day agree. */
function streakProblems(own: readonly Entry[]): string[] {
  let mark: StreakMark | null = null;
  return own.flatMap((entry) => {
    mark = continueStreak(mark, entry.day);
    return mark.days === entry.streak_days ? [] : [`the streak at ${entry.ask_id}`];
  });
}

function badgeProblems(own: readonly Entry[], held: readonly BadgeRow[]): string[] {
  const facts = factsOf(own);
  const earned = new Set(BADGES.filter((badge) => badge.have(facts) >= badge.need).map(({ id }) => id));
  const given = new Set(held.map(({ badge }) => badge));
  const asks = new Set(own.map((entry) => entry.ask_id));
  return [
    ...[...given].filter((id) => !earned.has(id)).map((id) => `the badge ${id} was not earned`),
    ...[...earned].filter((id) => !given.has(id)).map((id) => `the badge ${id} was not given`),
    ...held.filter(({ ask_id }) => !asks.has(ask_id)).map(({ badge }) => `the badge ${badge} comes from no answer`),
  ];
}

function expectedTotals(own: readonly Entry[], held: readonly BadgeRow[]): PersonTotals {
  const newest = own.at(-1);
  const cappedDay = utcDayStart(Math.max(0, ...own.map(({ at }) => at)));
  const rewarded = own.filter((entry) => entry.points > entry.capped_points).map((entry) => entry.streak_days);
  return {
    ...factsOf(own),
    streak: newest ? { day: newest.day, days: newest.streak_days } : null,
    rewardedStreaks: [...new Set(rewarded)].sort((one, other) => one - other),
    cappedDay,
    cappedPoints: own.reduce((sum, entry) => sum + (entry.at >= cappedDay ? entry.capped_points : 0), 0),
    badges: held.map(({ badge }) => badge).sort(),
  };
}

function factsOf(own: readonly Entry[]): LedgerFacts {
  const sum = (pick: (entry: Entry) => number) => own.reduce((total, entry) => total + pick(entry), 0);
  const byCategory: Partial<Record<Tag, number>> = {};
  for (const { category } of own) byCategory[category] = (byCategory[category] ?? 0) + 1;
  return {
    answers: own.length,
    points: sum(({ points }) => points),
    byCategory,
    longestStreak: Math.max(0, ...own.map((entry) => entry.streak_days)),
    early: sum(({ early }) => early),
    night: sum(({ night }) => night),
    speedy: sum(({ speedy }) => speedy),
    confident: sum(({ confident }) => confident),
  };
}
