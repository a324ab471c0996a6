import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { asOf, atVersion, categoryOf, TAGS, type Answer, type Question } from "../../src/questions/model/question.ts";
import { BADGES, badgeProgress, newBadges, type LedgerFacts } from "../../src/questions/model/badges.ts";
import { checkAnswer } from "../../src/questions/model/check-answer.ts";
import { DEFAULT_CROWD_RULES } from "../../src/questions/model/rules.ts";
import { integerProblem, lengthOf, refuseFields, textProblem } from "../../src/core/model/field-problem.ts";
import { periodStart, pointsFor, utcDayStart } from "../../src/questions/model/points.ts";
import {
  continueStreak,
  isTimeZone,
  localDay,
  localHour,
  streakOn,
  type StreakMark,
} from "../../src/questions/model/streak.ts";
import { Refusal } from "../../src/refusals.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 1, 2, 12);
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Pago_Pago"];

const ask: Question = {
  id: "q",
  door: "ask-a-human",
  asker: "open:ana-bot",
  prompt: "Which label is clearer?",
  form: { kind: "text" },
  audience: ["product", "ethics"],
  need: 5,
  n: 3,
  state: "open",
  version: 4,
  held: false,
  createdAt: NOON,
  expiresAt: NOON + 60 * MINUTE,
  lastAnswerAt: NOON + MINUTE,
  settledAt: null,
  wire: {},
};

describe("an ask", () => {
  it("is expired from its deadline on, whatever the store says, and settled at that very time", () => {
    assert.equal(asOf(ask, ask.expiresAt - 1), ask);
    const late = asOf(ask, ask.expiresAt + 5000);
    assert.deepEqual([late.state, late.settledAt, late.version], ["expired", ask.expiresAt, 5]);
    const answered: Question = { ...ask, state: "answered", settledAt: NOON };
    assert.equal(asOf(answered, ask.expiresAt), answered);
  });

  it("can be seen as it was at each of its versions", () => {
    const final: Question = { ...ask, n: 5, version: 6, state: "answered", settledAt: NOON + 2 * MINUTE };
    for (let version = 1; version < 6; version += 1) {
      const then = atVersion(final, version);
      assert.deepEqual([then.n, then.state, then.settledAt, then.version], [version - 1, "open", null, version]);
    }
    assert.equal(atVersion(final, 6), final);
  });

  it("is counted under its first tag", () => {
    assert.deepEqual([categoryOf(ask), categoryOf({ audience: [] })], ["product", "general"]);
  });
});

describe("points", () => {
  const given = fc.record({
    kind: fc.constantFrom("text" as const, "choice" as const),
    text: fc.string({ unit: "binary", maxLength: 220 }),
    confidence: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    answersBefore: fc.integer({ min: 0, max: 49 }),
    need: fc.integer({ min: 1, max: 50 }),
    streakDays: fc.integer({ min: 1, max: 120 }),
    notified: fc.option(fc.integer({ min: 0, max: 10 * MINUTE }), { nil: null }),
  });
  const earn = (
    one: typeof given extends fc.Arbitrary<infer T> ? T : never,
    cappedToday: number,
    bonuses: boolean,
    rewarded: Set<number>,
  ) => {
    const answer: Answer = one.kind === "text" ? { text: one.text } : { selectedOption: 0 };
    if (one.confidence !== undefined) answer.confidence = one.confidence;
    return pointsFor({
      question: {
        form: one.kind === "text" ? { kind: "text" } : { kind: "choice", options: ["a", "b"] },
        need: one.need,
      },
      answersBefore: one.answersBefore,
      answer,
      at: NOON,
      notifiedAt: one.notified === null ? null : NOON - one.notified,
      streakDays: one.streakDays,
      rewardedStreaks: rewarded,
      cappedToday,
      rules: { ...DEFAULT_CROWD_RULES.points, bonuses },
    });
  };

  it("are the sum of their entries, and never less than nothing", () => {
    fc.assert(
      fc.property(given, fc.integer({ min: 0, max: 500 }), fc.boolean(), (one, today, bonuses) => {
        const { points, cappedPoints, entries } = earn(one, today, bonuses, new Set());
        const sum = Object.values(entries as unknown as Record<string, number>).reduce((all, each) => all + each, 0);
        assert.equal(points, sum);
        assert.ok(points >= 0 && cappedPoints >= 0 && today + cappedPoints <= 500);
        assert.equal(points - cappedPoints, entries.streak ?? 0);
      }),
    );
  });

  it("of a day never pass the limit, streaks aside", () => {
    fc.assert(
      fc.property(fc.array(given, { minLength: 30, maxLength: 80 }), (day) => {
        const rewarded = new Set<number>();
        let capped = 0;
        for (const one of day) {
          const earned = earn(one, capped, true, rewarded);
          if (earned.entries.streak) rewarded.add(one.streakDays);
          capped += earned.cappedPoints;
          assert.ok(capped <= 500);
        }
      }),
    );
  });

  it("hold the bonuses of the table, and none unless they are on", () => {
    const one = {
      kind: "text",
      text: "",
      confidence: undefined,
      answersBefore: 5,
      need: 10,
      streakDays: 1,
      notified: null,
    } as const;
    const entriesOf = (change: object, bonuses = true, rewarded = new Set<number>()) =>
      earn({ ...one, ...change }, 0, bonuses, rewarded).entries;
    assert.deepEqual(entriesOf({}), { base: 10 });
    assert.deepEqual(entriesOf({ kind: "choice" }), { base: 5 });
    assert.deepEqual(entriesOf({ confidence: 1 }), { base: 10, confidence: 2 });
    assert.deepEqual(entriesOf({ text: "x".repeat(100) }), { base: 10 });
    assert.deepEqual(entriesOf({ text: "x".repeat(101) }), { base: 10, thoughtful: 5 });
    assert.deepEqual(entriesOf({ notified: 5 * MINUTE }), { base: 10, quick: 3 });
    assert.deepEqual(entriesOf({ notified: 5 * MINUTE + 1 }), { base: 10 });
    assert.deepEqual(entriesOf({ answersBefore: 4 }), { base: 10, in_demand: 5 });
    for (const [days, bonus] of [
      [3, 10],
      [7, 25],
      [30, 100],
      [100, 500],
    ] as const) {
      assert.deepEqual(entriesOf({ streakDays: days }), { base: 10, streak: bonus });
      assert.deepEqual(entriesOf({ streakDays: days }, true, new Set([days])), { base: 10 });
    }
    const all = { confidence: 5, text: "x".repeat(200), notified: 0, answersBefore: 0, streakDays: 7 };
    assert.deepEqual(entriesOf(all, false), { base: 10 });
    // The worked example: ten for a text with confidence 4.
    assert.deepEqual(entriesOf({ confidence: 4 }, false), { base: 10 });
  });

  it("are counted by the UTC day, and by the week from Monday", () => {
    fc.assert(
      fc.property(fc.integer({ min: 9e11, max: 4e12 }), (now) => {
        const day = new Date(periodStart("daily", now)).toISOString();
        assert.equal(day, `${new Date(now).toISOString().slice(0, 10)}T00:00:00.000Z`);
        assert.equal(utcDayStart(now), Date.parse(day));
        const week = periodStart("weekly", now);
        assert.equal(new Date(week).getUTCDay(), 1);
        assert.equal(week % DAY, 0);
        assert.ok(week <= now && now - week < 7 * DAY);
        assert.equal(periodStart("all_time", now), 0);
      }),
    );
  });
});

describe("streaks", () => {
  const days = (at: number, timeZone: string) =>
    Date.parse(
      new Date(at).toLocaleDateString("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }),
    ) / DAY;

  it("are the days in a row with an answer, by the local calendar", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.array(fc.integer({ min: 0, max: 40 * 3600 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 0, max: 4 * 86_400 }),
        (zone, gapsS, restS) => {
          let at = NOON;
          let mark: StreakMark | null = null;
          const answered = new Set<number>();
          for (const gap of gapsS) {
            at += gap * 1000;
            mark = continueStreak(mark, localDay(at, zone));
            answered.add(days(at, zone));
          }
          const today = days(at + restS * 1000, zone);
          let last = today;
          if (!answered.has(last)) last -= 1;
          let length = 0;
          while (answered.has(last - length)) length += 1;
          assert.equal(streakOn(mark, localDay(at + restS * 1000, zone)), length);
        },
      ),
    );
  });

  it("are unchanged by an answer on an earlier day", () => {
    const mark = { day: "2026-02-10", days: 4 };
    assert.deepEqual(continueStreak(mark, "2026-02-09"), mark);
    assert.deepEqual(continueStreak(mark, "2026-02-10"), mark);
    assert.deepEqual(continueStreak(mark, "2026-02-11"), { day: "2026-02-11", days: 5 });
    assert.deepEqual(continueStreak(mark, "2026-02-12"), { day: "2026-02-12", days: 1 });
    assert.deepEqual(
      [streakOn(mark, "2026-02-09"), streakOn(mark, "2026-02-11"), streakOn(mark, "2026-02-12")],
      [4, 4, 0],
    );
    assert.equal(streakOn(null, "2026-02-09"), 0);
  });

  it("cross the end of months, of years, and the days of 23 and 25 hours", () => {
    for (const [zone, first, second] of [
      ["UTC", "2026-12-31T12:00Z", "2027-01-01T12:00Z"],
      ["UTC", "2028-02-28T12:00Z", "2028-02-29T12:00Z"],
      ["Europe/Berlin", "2026-03-28T22:59Z", "2026-03-29T21:59Z"],
      ["Europe/Berlin", "2026-10-24T21:59Z", "2026-10-25T22:59Z"],
    ] as const) {
      const mark = continueStreak(null, localDay(Date.parse(first), zone));
      assert.equal(continueStreak(mark, localDay(Date.parse(second), zone)).days, 2, first);
    }
    assert.equal(localHour(Date.parse("2026-07-01T22:30Z"), "Europe/Berlin"), 0);
    assert.equal(localHour(Date.parse("2026-07-01T03:59Z"), "Europe/Berlin"), 5);
  });

  it("know zones by their names, and nothing else", () => {
    for (const zone of [...ZONES, "GMT", "Etc/GMT+5", "europe/berlin"]) assert.equal(isTimeZone(zone), true, zone);
    for (const zone of ["", "+02:00", "-05", "Mars/Phobos", "../UTC", "UTC\0", "x".repeat(100)])
      assert.equal(isTimeZone(zone), false, zone);
  });
});

describe("badges", () => {
  const facts = fc.record<LedgerFacts>({
    answers: fc.nat(1500),
    points: fc.nat(),
    byCategory: fc.record(Object.fromEntries(TAGS.map((tag) => [tag, fc.nat(40)]))),
    longestStreak: fc.nat(150),
    early: fc.nat(3),
    night: fc.nat(15),
    speedy: fc.nat(8),
    confident: fc.nat(15),
  });

  it("are earned by at least so much, once, in the order of the table", () => {
    fc.assert(
      fc.property(facts, fc.subarray(BADGES.map(({ id }) => id)), (one, held) => {
        const has = new Set(held);
        const earned = newBadges(one, has);
        assert.deepEqual(
          earned,
          BADGES.filter(({ id }) => !has.has(id))
            .filter((badge) => badge.have(one) >= badge.need)
            .map(({ id }) => id),
        );
        const progress = badgeProgress(one, new Set([...held, ...earned]));
        assert.equal(progress.length, BADGES.length - held.length - earned.length);
        for (const { have, need } of progress) assert.ok(have < need);
      }),
    );
  });
});

describe("fields", () => {
  it("are as long as their code points", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => assert.equal(lengthOf(text), [...text].length)));
  });

  it("are texts within bounds: the most as sent, the least without white space around", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 12 }), fc.nat(6), fc.nat(6), (text, min, more) => {
        const problem = textProblem("x", text, min, min + more);
        const storable = !text.includes("\0") && !/[\ud800-\udfff]/u.test(text);
        const fits = [...text].length <= min + more && [...text.trim()].length >= min;
        assert.equal(problem === null, storable && fits);
        if (problem) assert.equal(problem.constraint, storable ? "length" : "characters");
      }),
    );
  });

  it("are integers of any spelling, and never booleans, texts or fractions", () => {
    for (const value of [true, "5", 2.5, NaN, Infinity, null, undefined, [], {}, 5n]) {
      assert.equal(integerProblem("x", value, 1, 50)?.constraint, "type");
    }
    for (const value of [0, 51, -1, 1e300]) assert.equal(integerProblem("x", value, 1, 50)?.constraint, "range");
    for (const value of [1, 50, 5.0, 5]) assert.equal(integerProblem("x", value, 1, 50), null);
  });

  it("are all told of when several are wrong, the first in front", () => {
    const one = { message: "a is required", field: "a", constraint: "required" };
    const other = { message: "b is odd", field: "b", constraint: "range", min: 1, max: 2 };
    assert.deepEqual(refuseFields([one]).details, { field: "a", constraint: "required" });
    const both = refuseFields([one, other]);
    assert.equal(both.message, "a is required");
    assert.deepEqual(both.details["errors"], [
      { field: "a", constraint: "required" },
      { field: "b", constraint: "range", min: 1, max: 2 },
    ]);
  });
});

describe("an answer", () => {
  it("of any kind is taken or refused, and what is taken fits the question", () => {
    const anything = fc.jsonValue();
    fc.assert(
      fc.property(anything, anything, anything, fc.boolean(), (answer, selectedOption, confidence, isText) => {
        const form = isText ? ({ kind: "text" } as const) : ({ kind: "choice", options: ["a", "b", "c"] } as const);
        const given = { answer, selectedOption, ...(confidence !== null && { confidence }) };
        try {
          const taken = checkAnswer(form, given);
          if (isText)
            assert.ok(typeof taken.text === "string" && taken.text === answer && taken.selectedOption === undefined);
          else assert.ok([0, 1, 2].includes(taken.selectedOption ?? -1) && taken.text === undefined);
          assert.ok(taken.confidence === undefined || [1, 2, 3, 4, 5].includes(taken.confidence));
        } catch (error) {
          assert.ok(error instanceof Refusal && error.code === "invalid_input", String(error));
        }
      }),
    );
  });
});
