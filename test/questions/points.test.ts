import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LABELS, MINUTE, ROOMY, assertCommonHeaders, fresh, sharedWorld } from "../support/contract.ts";
import { DATABASES, type Person, type Reply, type World } from "../support/world.ts";

const earned = ({ status, body }: Reply) => [status, body.points_earned, body.points_breakdown, body.total_points];
const asked = async (world: World, question: object = {}): Promise<string> =>
  (await world.agent(fresh("ana-bot")).ask({ timeout_seconds: 86_400, min_responses: 50, ...question })).id;
const statsOf = async (person: Person) => (await person.get("/human/stats")).body;

for (const on of DATABASES) {
  describe(`points on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    it("are 10 for a text and 5 for a choice, and nothing more unless bonuses are on", async () => {
      const bo = world().person(fresh("bo"));
      const long = "x".repeat(200);
      assert.deepEqual(earned(await bo.answer(await asked(world()), long, { confidence: 4 })), [
        201,
        10,
        { base: 10 },
        10,
      ]);
      const choice = await bo.answer(await asked(world(), { options: LABELS }), 0, { confidence: 5 });
      assert.deepEqual(earned(choice), [201, 5, { base: 5 }, 15]);
    });

    it("end at 500 a UTC day, and the answers beyond still count", async () => {
      const bo = world().person(fresh("bo"));
      for (let i = 1; i < 50; i += 1) await bo.answer(await asked(world()), "yes");
      await bo.answer(await asked(world(), { options: LABELS }), 0);
      assert.deepEqual(earned(await bo.answer(await asked(world()), "yes")), [201, 5, { base: 10, cap: -5 }, 500]);
      const beyond = await bo.answer(await asked(world()), "yes");
      assert.deepEqual(earned(beyond), [201, 0, { base: 10, cap: -10 }, 500]);
      const stats = await statsOf(bo);
      assert.deepEqual([stats.total_points, stats.points_today, stats.total_answers], [500, 500, 52]);

      // Twelve hours later it is the next day in UTC.
      await world().advance(12 * 60 * MINUTE);
      assert.deepEqual(earned(await bo.answer(await asked(world()), "yes")), [201, 10, { base: 10 }, 510]);
      assert.equal((await statsOf(bo)).points_today, 10);
      await world().advance(12 * 60 * MINUTE);
    });

    it("are told in full, zeros for whoever is unknown", async () => {
      const reply = await world().person(fresh("mallory")).get("/human/stats");
      assertCommonHeaders(reply);
      const { badge_progress: progress, ...rest } = reply.body;
      assert.deepEqual(rest, {
        total_points: 0,
        total_answers: 0,
        streak_days: 0,
        badges: [],
        rank: null,
        answers_by_category: {},
        points_today: 0,
      });
      assert.equal(progress.length, 18);
      assert.deepEqual(progress[0], { id: "first_answer", name: "First Steps", have: 0, need: 1 });
    });

    it("are counted with answers under the first audience of each question", async () => {
      const bo = world().person(fresh("bo"));
      const { headers } = bo;
      for (const audience of [["technical"], ["product", "technical"], ["product"], []]) {
        await world().advance(3 * MINUTE);
        await bo.answer(await asked(world(), { audience }), "yes");
      }
      const { body } = await world().call("GET", "/human/stats", { headers });
      assert.deepEqual(body.answers_by_category, { technical: 1, product: 2, general: 1 });
      assert.deepEqual([body.total_points, body.total_answers, body.streak_days], [40, 4, 1]);
      assert.equal(body.badges[0].id, "first_answer");
      assert.match(body.badges[0].earned_at, /^2026-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    });
  });

  describe(`points with bonuses on ${on}`, () => {
    const world = sharedWorld({
      on,
      env: {
        ...ROOMY,
        PARLEY_ASK_A_HUMAN_POINTS_BONUSES: "true",
        PARLEY_ASK_A_HUMAN_POINTS_TEXT: "20",
        PARLEY_ASK_A_HUMAN_POINTS_MULTIPLE_CHOICE: "7",
        PARLEY_ASK_A_HUMAN_POINTS_DAILY_CAP: "60",
      },
    });

    it("reward confidence, thought and demand, as the operator set them", async () => {
      const bo = () => world().person(fresh("bo"));
      const id = await asked(world(), { min_responses: 4 });
      const cases: [text: string, more: object, breakdown: Record<string, number>][] = [
        ["x".repeat(101), { confidence: 1 }, { base: 20, confidence: 2, thoughtful: 5, in_demand: 5 }],
        ["x".repeat(100), {}, { base: 20, in_demand: 5 }],
        ["😀".repeat(101), {}, { base: 20, thoughtful: 5 }],
        ["yes", { confidence: 5 }, { base: 20, confidence: 2 }],
      ];
      for (const [text, more, breakdown] of cases) {
        const sum = Object.values(breakdown).reduce((one, other) => one + other, 0);
        assert.deepEqual(earned(await bo().answer(id, text, more as Record<string, unknown>)), [
          201,
          sum,
          breakdown,
          sum,
        ]);
      }
      const odd = await asked(world(), { options: LABELS, min_responses: 3 });
      for (const breakdown of [{ base: 7, in_demand: 5 }, { base: 7, in_demand: 5 }, { base: 7 }]) {
        assert.deepEqual((await bo().answer(odd, 0)).body.points_breakdown, breakdown);
      }
    });

    it("reward a streak once for each length, the day's limit aside", async () => {
      const bo = world().person(fresh("bo"));
      const day = async () => {
        await world().advance(24 * 60 * MINUTE);
        const { body } = await bo.answer(await asked(world()), "yes");
        return [body.streak_days, body.points_breakdown.streak, body.points_earned];
      };
      const first = [];
      for (let i = 0; i < 3; i += 1) first.push(await day());
      assert.deepEqual(first, [
        [1, undefined, 25],
        [2, undefined, 25],
        [3, 10, 35],
      ]);
      const again = await bo.answer(await asked(world()), "yes");
      assert.deepEqual([again.body.streak_days, again.body.points_breakdown], [3, { base: 20, in_demand: 5 }]);
      const capped = await bo.answer(await asked(world()), "yes");
      assert.deepEqual(capped.body.points_breakdown, { base: 20, in_demand: 5, cap: -15 });
      // The streak is broken, and begun again: its third day is not rewarded a second time.
      await world().advance(2 * 24 * 60 * MINUTE);
      const second = [];
      for (let i = 0; i < 3; i += 1) second.push(await day());
      assert.deepEqual(
        second.map(([days, streak]) => [days, streak]),
        [
          [1, undefined],
          [2, undefined],
          [3, undefined],
        ],
      );
    });
  });

  describe(`the leaderboard on ${on}`, () => {
    // A Tuesday, 12:00 UTC.
    const world = sharedWorld({ on, at: Date.UTC(2026, 1, 3, 12), env: ROOMY });
    const board = async (person: Person | null, query = "") => {
      const reply = await world().call("GET", `/human/leaderboard${query}`, { headers: person?.headers ?? {} });
      assert.equal(reply.status, 200);
      return reply.body;
    };
    const score = async (person: Person, texts: number, choices = 0) => {
      for (let i = 0; i < texts; i += 1) await person.answer(await asked(world()), "yes");
      for (let i = 0; i < choices; i += 1) await person.answer(await asked(world(), { options: LABELS }), 0);
      await world().advance(1000);
    };

    it("ranks people by points in the period, equals together, whoever was there first on top", async () => {
      const [ana, bo, cy, dee] = ["ana", "bo", "cy", "dee"].map((name) => world().person(fresh(name)));
      assert.ok(ana && bo && cy && dee);
      assert.deepEqual(await board(null), {
        period: "all_time",
        entries: [],
        your_rank: null,
        your_points: 0,
        your_name: null,
      });
      await score(bo, 2);
      await score(cy, 0, 4);
      await score(ana, 3);
      await score(dee, 1);
      const you = (rank: number, points: number, answers: number, is_current_user = false) => ({
        rank,
        points,
        answers,
        is_current_user,
        name: null,
      });
      assert.deepEqual(await board(cy), {
        period: "all_time",
        entries: [you(1, 30, 3), you(2, 20, 2), you(2, 20, 4, true), you(4, 10, 1)],
        your_rank: 2,
        your_points: 20,
        your_name: null,
      });
      assert.deepEqual(await board(dee, "?limit=1"), {
        period: "all_time",
        entries: [you(1, 30, 3)],
        your_rank: 4,
        your_points: 10,
        your_name: null,
      });
      for (const person of [ana, bo, cy, dee])
        assert.equal((await statsOf(person)).rank, (await board(person)).your_rank);
      const stranger = await board(world().person(fresh("mallory")));
      assert.deepEqual([stranger.your_rank, stranger.your_points, stranger.entries.length], [null, 0, 4]);

      // A person who draws level later is ranked behind.
      await score(dee, 1);
      const { entries } = await board(dee);
      assert.deepEqual(
        entries.map((entry: { answers: number }) => entry.answers),
        [3, 2, 4, 2],
      );
      assert.equal(entries[3].is_current_user, true);

      // The next day, the board of the day is empty, that of the week is not.
      await world().advance(12 * 60 * MINUTE);
      assert.deepEqual(await board(ana, "?period=daily"), {
        period: "daily",
        entries: [],
        your_rank: null,
        your_points: 0,
        your_name: null,
      });
      await score(dee, 2);
      assert.deepEqual((await board(dee, "?period=daily")).entries, [you(1, 20, 2, true)]);
      assert.deepEqual((await board(dee, "?period=weekly")).entries[0], you(1, 40, 4, true));
      assert.equal((await board(dee, "?period=weekly")).your_rank, 1);
      // From Monday, 00:00 UTC, the week is another.
      await world().advance(Date.UTC(2026, 1, 9) - world().clock.now() - 1);
      assert.equal((await board(dee, "?period=weekly")).entries.length, 4);
      await world().advance(1);
      assert.deepEqual((await board(dee, "?period=weekly")).entries, []);
      assert.deepEqual(await board(dee, "?period=all_time"), await board(dee));
      assert.equal((await board(dee)).your_points, 40);
    });

    it("shows ten, and from 1 to 100, and nobody's name", async () => {
      for (const person of world().people(12)) await person.answer(await asked(world(), { options: LABELS }), 0);
      for (const [query, count] of [
        ["", 10],
        ["?limit=3", 3],
        ["?limit=0", 1],
        ["?limit=-5", 1],
        ["?limit=1000", 16],
      ] as const) {
        assert.equal((await board(null, query)).entries.length, count, query);
      }
      assert.doesNotMatch(JSON.stringify(await board(null, "?limit=100")), /p_|person|device/);
    });

    it("leaves out whoever has earned nothing in the period", async () => {
      const { text } = await world().call("GET", "/human/leaderboard?limit=100");
      assert.doesNotMatch(text, /"points":0/);
      assert.equal((await board(null, "?period=daily&limit=100")).entries.length, 12);
    });
  });
}
