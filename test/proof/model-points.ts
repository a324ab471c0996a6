/**
 * Points, badges and streaks once more, written from spec/ask-a-human 5 and sharing nothing with the product:
 * where the two differ, one of them is wrong.
 */

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Zones without summer time, by their distance from UTC. */
export const ZONES: Readonly<Record<string, number>> = {
  UTC: 0,
  "Asia/Tokyo": 9 * HOUR,
  "Pacific/Honolulu": -10 * HOUR,
};

export interface PointRules {
  bonuses: boolean;
  dailyCap: number;
}

/** One accepted answer, as a person's ledger knows it. */
export interface Credit {
  at: number;
  category: string;
  points: number;
  capped: number;
  /** The last counted local day, as a number of days, and how many in a row it ended. */
  day: number;
  streak: number;
  early: boolean;
  night: boolean;
  speedy: boolean;
  confident: boolean;
}

export interface Badge {
  id: string;
  at: number;
}

interface NewCredit {
  at: number;
  zone: string;
  question: { type: string; audience: readonly string[]; need: number; createdAt: number; answersBefore: number };
  given: { answer?: unknown; confidence?: unknown };
  firstView: number | undefined;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const utcDay = (at: number) => Math.floor(at / DAY);
const localDay = (at: number, zone: string) => Math.floor((at + (ZONES[zone] ?? 0)) / DAY);

const STREAK_POINTS = new Map([
  [3, 10],
  [7, 25],
  [30, 100],
  [100, 500],
]);

/** Adds the answer to the ledger and returns the person's receipt. */
export function credit(ledger: Credit[], badges: Badge[], rules: PointRules, next: NewCredit) {
  const { at, question, given } = next;
  const { day, streak } = nextStreak(ledger, localDay(at, next.zone));
  const entries: Record<string, number> = { base: question.type === "text" ? 10 : 5 };
  if (rules.bonuses) {
    if (given.confidence !== undefined) entries["confidence"] = 2;
    if (question.type === "text" && [...String(given.answer)].length > 100) entries["thoughtful"] = 5;
    if (question.answersBefore < question.need / 2) entries["in_demand"] = 5;
  }
  const earned = sum(Object.values(entries));
  const today = sum(ledger.filter((one) => utcDay(one.at) === utcDay(at)).map((one) => one.capped));
  const capped = Math.max(0, Math.min(earned, rules.dailyCap - today));
  if (capped < earned) entries["cap"] = capped - earned;
  const isFirstTime = !ledger.some((one) => one.streak === streak);
  if (rules.bonuses && isFirstTime && STREAK_POINTS.has(streak)) entries["streak"] = STREAK_POINTS.get(streak) ?? 0;

  const points = sum(Object.values(entries));
  const hour = Math.floor(((at + (ZONES[next.zone] ?? 0)) % DAY) / HOUR);
  ledger.push({
    at,
    points,
    capped,
    day,
    streak,
    category: question.audience[0] ?? "general",
    early: at - question.createdAt <= 2 * MINUTE,
    night: hour < 6,
    speedy: next.firstView !== undefined && at - next.firstView < 30_000,
    confident: given.confidence === 5,
  });
  const fresh = progressOf(ledger).filter(({ id, have, need }) => have >= need && !badges.some((one) => one.id === id));
  badges.push(...fresh.map(({ id }) => ({ id, at })));
  return {
    points_earned: points,
    new_badges: fresh.map(({ id }) => id),
    total_points: sum(ledger.map((one) => one.points)),
    points_breakdown: entries,
    streak_days: streak,
  };
}

function nextStreak(ledger: readonly Credit[], today: number): { day: number; streak: number } {
  const last = ledger.at(-1);
  if (!last) return { day: today, streak: 1 };
  if (today <= last.day) return last;
  return { day: today, streak: today === last.day + 1 ? last.streak + 1 : 1 };
}

/** Every badge in the order of the table, left column first. */
function progressOf(ledger: readonly Credit[]) {
  const longest = Math.max(0, ...ledger.map((one) => one.streak));
  const count = (holds: (one: Credit) => boolean) => ledger.filter(holds).length;
  const of = (id: string, name: string, have: number, need: number) => ({ id, name, have, need });
  const expert = (tag: string, name: string) =>
    of(
      `expert_${tag}`,
      name,
      count((one) => one.category === tag),
      25,
    );
  return [
    of("first_answer", "First Steps", ledger.length, 1),
    of("answers_10", "Getting Started", ledger.length, 10),
    of("answers_100", "Century", ledger.length, 100),
    of("answers_500", "Veteran", ledger.length, 500),
    of("answers_1000", "Legend", ledger.length, 1000),
    of("streak_3", "On a Roll", longest, 3),
    of("streak_7", "Week Warrior", longest, 7),
    of("streak_30", "Monthly Maven", longest, 30),
    of("streak_100", "Centurion", longest, 100),
    expert("technical", "Tech Expert"),
    expert("product", "Product Pro"),
    expert("ethics", "Ethics Advocate"),
    expert("creative", "Creative Mind"),
    expert("general", "Generalist"),
    of(
      "early_bird",
      "Early Bird",
      count((one) => one.early),
      1,
    ),
    of(
      "night_owl",
      "Night Owl",
      count((one) => one.night),
      10,
    ),
    of(
      "speed_demon",
      "Speed Demon",
      count((one) => one.speedy),
      5,
    ),
    of(
      "confident",
      "Confident",
      count((one) => one.confident),
      10,
    ),
  ];
}

const wireTime = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

/** Returns the body of `/human/stats` for a ledger, without the rank. */
export function statsOf(ledger: readonly Credit[], badges: readonly Badge[], now: number, zone: string) {
  const last = ledger.at(-1);
  const all = progressOf(ledger);
  const categories = [...new Set(ledger.map((one) => one.category))];
  return {
    total_points: sum(ledger.map((one) => one.points)),
    total_answers: ledger.length,
    streak_days: last && localDay(now, zone) - last.day <= 1 ? last.streak : 0,
    badges: badges.map(({ id, at }) => ({ id, name: all.find((one) => one.id === id)?.name, earned_at: wireTime(at) })),
    answers_by_category: Object.fromEntries(
      categories.map((tag) => [tag, ledger.filter((one) => one.category === tag).length]),
    ),
    points_today: sum(ledger.filter((one) => utcDay(one.at) === utcDay(now)).map((one) => one.points)),
    badge_progress: all
      .filter(({ id }) => !badges.some((one) => one.id === id))
      .map((one) => ({ ...one, have: Math.min(one.have, one.need) })),
  };
}

export const PERIODS = ["daily", "weekly", "all_time"] as const;

/** Returns the ranking of a period. Ranks are shared; within one, the person who got there first is listed first. */
export function standingsOf<Who>(ledgers: ReadonlyMap<Who, readonly Credit[]>, period: string, now: number) {
  const today = utcDay(now) * DAY;
  // 1 January 1970 was a Thursday.
  const monday = today - ((utcDay(now) + 3) % 7) * DAY;
  const from = { daily: today, weekly: monday }[period] ?? 0;
  const scores = [...ledgers].map(([who, ledger]) => {
    const rows = ledger.filter((one) => one.at >= from);
    const reachedAt = Math.max(0, ...rows.filter((one) => one.points > 0).map((one) => one.at));
    return { who, points: sum(rows.map((one) => one.points)), answers: rows.length, reachedAt };
  });
  const sorted = scores
    .filter((one) => one.points > 0)
    .sort((one, other) => other.points - one.points || one.reachedAt - other.reachedAt);
  return sorted.map((one) => ({ ...one, rank: 1 + sorted.filter((other) => other.points > one.points).length }));
}
