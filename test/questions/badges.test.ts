import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DAY, HOUR, LABELS, MINUTE, ROOMY, fresh, sharedWorld } from "../support/contract.ts";
import { DATABASES, type Person, type World, onOneDatabase } from "../support/world.ts";

const TABLE = [
  ["first_answer", "First Steps", 1],
  ["answers_10", "Getting Started", 10],
  ["answers_100", "Century", 100],
  ["answers_500", "Veteran", 500],
  ["answers_1000", "Legend", 1000],
  ["streak_3", "On a Roll", 3],
  ["streak_7", "Week Warrior", 7],
  ["streak_30", "Monthly Maven", 30],
  ["streak_100", "Centurion", 100],
  ["expert_technical", "Tech Expert", 25],
  ["expert_product", "Product Pro", 25],
  ["expert_ethics", "Ethics Advocate", 25],
  ["expert_creative", "Creative Mind", 25],
  ["expert_general", "Generalist", 25],
  ["early_bird", "Early Bird", 1],
  ["night_owl", "Night Owl", 10],
  ["speed_demon", "Speed Demon", 5],
  ["confident", "Confident", 10],
] as const;

const asked = async (world: World, question: object = {}): Promise<string> =>
  (
    await world
      .agent(fresh("ana-bot"))
      .ask({ timeout_seconds: 86_400, min_responses: 50, options: LABELS, ...question })
  ).id;
const idsOf = async (person: Person): Promise<string[]> =>
  (await person.get("/human/stats")).body.badges.map((badge: { id: string }) => badge.id);

for (const on of DATABASES) {
  describe(`badges on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    const world = sharedWorld({ on, env: ROOMY });
    /** Answers a question that is too old for an early bird. */
    const answer = async (
      person: Person,
      question: object = {},
      more: Record<string, unknown> = {},
    ): Promise<string[]> => {
      const id = await asked(world(), question);
      await world().advance(2 * MINUTE + 1000);
      return (await person.answer(id, 0, more)).body.new_badges;
    };

    itOnOne("are these, with so much to go", async () => {
      const { body } = await world().person(fresh("bo")).get("/human/stats");
      assert.deepEqual(
        body.badge_progress,
        TABLE.map(([id, name, need]) => ({ id, name, have: 0, need })),
      );
    });

    it("are earned once, told by the answer that earned them, and shown oldest first", async () => {
      const bo = world().person(fresh("bo"));
      const earned: string[][] = [];
      for (let i = 0; i < 11; i += 1) earned.push(await answer(bo, {}, { confidence: 5 }));
      assert.deepEqual(earned[0], ["first_answer"]);
      assert.deepEqual(earned[9], ["answers_10", "confident"]);
      assert.deepEqual(earned.flat(), ["first_answer", "answers_10", "confident"]);

      const { body } = await bo.get("/human/stats");
      assert.deepEqual(
        body.badges.map(({ id, name }: { id: string; name: string }) => [id, name]),
        [
          ["first_answer", "First Steps"],
          ["answers_10", "Getting Started"],
          ["confident", "Confident"],
        ],
      );
      const progress = body.badge_progress as { id: string; have: number; need: number }[];
      assert.equal(progress.length, 15);
      assert.deepEqual(progress.find(({ id }) => id === "answers_100")?.have, 11);
      assert.deepEqual(progress.find(({ id }) => id === "expert_general")?.have, 11);
    });

    itOnOne("earned by one answer are told and shown in the order of the table", async () => {
      const bo = world().person(fresh("bo"));
      const { body } = await bo.answer(await asked(world()), 0);
      assert.deepEqual(body.new_badges, ["first_answer", "early_bird"]);
      assert.deepEqual(await idsOf(bo), ["first_answer", "early_bird"]);
      for (let i = 0; i < 8; i += 1) await answer(bo, { audience: ["creative"] }, { confidence: 5 });
      await answer(bo, {}, { confidence: 5 });
      await answer(bo, {}, { confidence: 5 });
      assert.deepEqual(await idsOf(bo), ["first_answer", "early_bird", "answers_10", "confident"]);
    });

    it("are earned by exactly one of many answers that come at once", async () => {
      const bo = world().person(fresh("bo"));
      const ids = await Promise.all(Array.from({ length: 14 }, () => asked(world())));
      await world().advance(3 * MINUTE);
      const replies = await Promise.all(ids.map((id) => bo.answer(id, 0, { confidence: 5 })));
      const earned = replies.flatMap((reply) => reply.body.new_badges as string[]);
      assert.deepEqual(earned.toSorted(), ["answers_10", "confident", "first_answer"]);
      assert.equal(new Set(replies.map((reply) => reply.body.total_points)).size, 14);
      assert.equal((await idsOf(bo)).length, 3);
    });

    itOnOne("tell an early bird by two minutes", async () => {
      const [bo, cy] = [world().person(fresh("bo")), world().person(fresh("cy"))];
      const id = await asked(world());
      await world().advance(2 * MINUTE);
      assert.ok((await bo.answer(id, 0)).body.new_badges.includes("early_bird"));
      await world().advance(1);
      assert.ok(!(await cy.answer(id, 0)).body.new_badges.includes("early_bird"));
    });

    itOnOne("tell a speed demon by half a minute from the first view", async () => {
      const bo = world().person(fresh("bo"));
      await answer(bo);
      const quick = async (ms: number, views = 1) => {
        const id = await asked(world());
        for (let i = 0; i < views; i += 1) await bo.get(`/human/questions/${id}`);
        await world().advance(ms);
        if (views === 2) await bo.get(`/human/questions/${id}`);
        return (await bo.answer(id, 0)).body.new_badges as string[];
      };
      await quick(30_000);
      await quick(30_000, 2);
      await quick(0, 0);
      const progressOf = async (badge: string) =>
        (await bo.get("/human/stats")).body.badge_progress.find(({ id }: { id: string }) => id === badge)?.have;
      assert.equal(await progressOf("speed_demon"), 0);
      for (let i = 0; i < 4; i += 1) assert.ok(!(await quick(29_999)).includes("speed_demon"));
      assert.equal(await progressOf("speed_demon"), 4);
      assert.ok((await quick(29_999)).includes("speed_demon"));
    });

    itOnOne("tell a night owl by the local hour, from midnight to six", async () => {
      const zone = { "x-time-zone": "Asia/Tokyo" };
      const { headers } = world().person(fresh("bo"));
      const respond = async () => {
        const id = await asked(world());
        await world().advance(2 * MINUTE + 1000);
        const body = { question_id: id, selected_option: 0 };
        await world().call("POST", "/human/responses", { headers: { ...headers, ...zone }, body });
        const stats = await world().call("GET", "/human/stats", { headers });
        return stats.body.badge_progress.find(({ id: badge }: { id: string }) => badge === "night_owl")?.have as
          number | undefined;
      };
      const toHour = async (utc: number) => {
        const now = new Date(world().clock.now());
        const then = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1, utc) - 2 * MINUTE - 1000;
        await world().advance(then - now.getTime());
      };
      // Tokyo is nine hours ahead of UTC.
      await toHour(15);
      assert.equal(await respond(), 1);
      await toHour(21);
      assert.equal(await respond(), 1);
      await toHour(20);
      assert.equal(await respond(), 2);
      await toHour(14);
      assert.equal(await respond(), 2);
      await toHour(2);
      assert.equal(await respond(), 2);
      await toHour(15);
      for (let have = 3; have < 10; have += 1) assert.equal(await respond(), have);
      assert.equal(await respond(), undefined);
    });

    it("tell experts by the first audience of what they answered", async () => {
      const bo = world().person(fresh("bo"));
      const earned: string[] = [];
      for (let i = 0; i < 24; i += 1) earned.push(...(await answer(bo, { audience: ["ethics", "product"] })));
      assert.deepEqual(earned, ["first_answer", "answers_10"]);
      assert.deepEqual(await answer(bo, { audience: ["ethics"] }), ["expert_ethics"]);
    });

    it("tell how long somebody came back every day", async () => {
      const bo = world().person(fresh("bo"));
      const days: string[][] = [];
      for (let i = 0; i < 7; i += 1) {
        days.push(await answer(bo));
        await world().advance(DAY - 2 * MINUTE - 1000);
      }
      assert.deepEqual(days, [["first_answer"], [], ["streak_3"], [], [], [], ["streak_7"]]);
      // They are kept when the streak is broken.
      await world().advance(5 * DAY);
      assert.deepEqual(await answer(bo), []);
      assert.deepEqual(await idsOf(bo), ["first_answer", "streak_3", "streak_7"]);
    });
  });

  describe(`streaks on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    const world = sharedWorld({ on, env: ROOMY });
    const someone = () => {
      const { headers } = world().person(fresh("bo"));
      return {
        async answer(zone?: string): Promise<number> {
          const body = { question_id: await asked(world()), selected_option: 0 };
          const more: Record<string, string> = zone === undefined ? {} : { "x-time-zone": zone };
          const reply = await world().call("POST", "/human/responses", { headers: { ...headers, ...more }, body });
          assert.equal(reply.status, 201);
          return reply.body.streak_days;
        },
        days: async (): Promise<number> => (await world().call("GET", "/human/stats", { headers })).body.streak_days,
      };
    };
    const to = async (day: number, hour: number, minute = 0) =>
      world().advance(Date.UTC(2026, 2, day, hour, minute) - world().clock.now());

    itOnOne("count days with an answer, up to today or yesterday", async () => {
      await to(1, 12);
      const bo = someone();
      assert.equal(await bo.answer(), 1);
      assert.equal(await bo.answer(), 1);
      await to(2, 23, 59);
      assert.equal(await bo.days(), 1);
      assert.equal(await bo.answer(), 2);
      await to(3, 0, 1);
      assert.equal(await bo.answer(), 3);
      await to(4, 23, 59);
      assert.equal(await bo.days(), 3);
      await to(5, 0);
      assert.equal(await bo.days(), 0);
      assert.equal(await bo.answer(), 1);
    });

    itOnOne("go by the local calendar, which may change once a day", async () => {
      // 23:30 in Berlin and 22:30 in UTC: the next hour is another day in Berlin only.
      await to(10, 22, 30);
      const [bo, cy] = [someone(), someone()];
      assert.deepEqual([await bo.answer("Europe/Berlin"), await cy.answer()], [1, 1]);
      await to(10, 23, 30);
      assert.deepEqual([await bo.answer("Europe/Berlin"), await cy.answer()], [2, 1]);
      // The zone is kept; another is ignored for a day, and an unknown one always.
      await to(11, 22, 20);
      assert.equal(await bo.answer("Pacific/Kiritimati"), 2);
      await to(11, 22, 30);
      assert.equal(await bo.answer("Mars/Phobos"), 2);
      assert.equal(await bo.answer(), 2);
      // A day after the first choice Kiritimati counts, where it is the 12th already.
      assert.equal(await bo.answer("Pacific/Kiritimati"), 3);
      assert.equal(await bo.days(), 3);
    });

    itOnOne("are unharmed by travelling west, where it is still yesterday", async () => {
      await to(20, 11);
      const bo = someone();
      assert.equal(await bo.answer("Pacific/Kiritimati"), 1);
      await to(21, 11);
      assert.equal(await bo.answer("Pacific/Kiritimati"), 2);
      assert.equal(await bo.answer("Pacific/Pago_Pago"), 2);
      assert.equal(await bo.days(), 2);
      await world().advance(HOUR);
      assert.equal(await bo.answer("Pacific/Pago_Pago"), 2);
    });

    itOnOne("take no zone that is none", async () => {
      await to(25, 23, 30);
      const bo = someone();
      for (const zone of ["+14:00", "-05:00", "", "x", "Europe/../UTC", "a".repeat(65), "UTC\u00e9"])
        assert.equal(await bo.answer(zone), 1);
      await to(26, 0, 30);
      assert.equal(await bo.answer("+14:00"), 2);
    });
  });
}
