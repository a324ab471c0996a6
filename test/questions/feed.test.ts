import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  DAY,
  HOUR,
  IN_PUBLIC,
  LABELS,
  MINUTE,
  ROOMY,
  assertCommonHeaders,
  assertInvalid,
  fresh,
  from,
  wireNow,
} from "../support/contract.ts";
import { DATABASES, type Person, type Reply, type World, openWorld } from "../support/world.ts";

interface FeedQuestion {
  question_id: string;
  responses_needed: number;
  created_at: string;
  expires_at: string;
}

const idsIn = (reply: Reply): string[] =>
  (reply.body.questions as FeedQuestion[]).map((question) => question.question_id);
const feedOf = async (person: Person, query = "?limit=50"): Promise<string[]> =>
  idsIn(await person.get(`/human/questions${query}`));
const asked = async (world: World, question: object = {}): Promise<string> =>
  (await world.agent(fresh("ana-bot")).ask({ timeout_seconds: 86_400, ...question })).id;

for (const on of DATABASES) {
  describe(`the feed on ${on}`, () => {
    it("is empty before anybody asked, and says since when", async () => {
      await using world = await openWorld({ on });
      const reply = await world.person("bo").get("/human/questions");
      assert.equal(reply.status, 200);
      assertCommonHeaders(reply);
      assert.deepEqual(reply.body, { questions: [], next_cursor: null, last_created_at: null });

      const question = await world.agent("ana-bot").ask({ min_responses: 1 });
      const then = wireNow(world);
      await world.person("cy").answer(question, "yes");
      await world.advance(HOUR);
      const { body } = await world.person("bo").get("/human/questions");
      assert.deepEqual(body, { questions: [], next_cursor: null, last_created_at: then });
    });

    it("shows of a question what a person needs, and nothing of who asked or answered", async () => {
      await using world = await openWorld({ on });
      const choice = await world
        .agent("ana-bot")
        .ask({ options: LABELS, audience: ["product", "ethics"], min_responses: 3 });
      const text = await world.agent("ana-bot").ask({ min_responses: 1, timeout_seconds: 7200 });
      await world.person("cy").answer(choice, 0);
      const { body } = await world.person("bo").get("/human/questions");
      const shown = {
        prompt: "Which label is clearer?",
        created_at: wireNow(world),
      };
      assert.deepEqual(body, {
        questions: [
          {
            ...shown,
            question_id: choice.id,
            type: "multiple_choice",
            options: LABELS,
            audience: ["product", "ethics"],
            responses_needed: 2,
            expires_at: choice.expiresAt,
            points: 5,
          },
          {
            ...shown,
            question_id: text.id,
            type: "text",
            audience: ["general"],
            responses_needed: 1,
            expires_at: text.expiresAt,
            points: 10,
          },
        ],
        next_cursor: null,
        last_created_at: wireNow(world),
      });
    });

    it("leaves out what is final, and what this person has answered, skipped or reported, before it counts", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const bo = world.person("bo");
      const ids: string[] = [];
      for (let i = 0; i < 8; i += 1) ids.push(await asked(world, { min_responses: i === 0 ? 1 : 2 }));
      const [closed = "", cancelled = "", answered = "", skipped = "", reported = "", ...left] = ids;
      const expiring = await asked(world, { timeout_seconds: 60 });
      await world.person("cy").answer(closed, "yes");
      await world.agent("ana-bot").cancel(cancelled);
      await bo.answer(answered, "yes");
      assert.equal((await bo.post(`/human/questions/${skipped}/skip`)).status, 204);
      assert.equal((await bo.post(`/human/questions/${reported}/report`, { reason: "unclear" })).status, 204);
      await world.advance(MINUTE);

      const open = new Set([...left, cancelled]);
      assert.deepEqual(new Set(await feedOf(bo)), open);
      assert.equal((await feedOf(bo, "?limit=1")).length, 1);
      assert.deepEqual(new Set(await feedOf(world.person("dee"))), new Set([...open, answered, skipped, reported]));
      assert.ok(!(await feedOf(bo)).includes(expiring));
    });

    it("brings a skipped question back after a day, and a reported one never", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const bo = world.person("bo");
      const skipped = await asked(world);
      const reported = await asked(world);
      await world.advance(1);
      await bo.post(`/human/questions/${skipped}/skip`);
      await bo.post(`/human/questions/${reported}/report`, { reason: "spam" });
      assert.deepEqual(await feedOf(bo), []);
      const view = await bo.get(`/human/questions/${skipped}`);
      assert.equal(view.body.can_answer, true);
      // A question lives for a day at most, so the skip ends as soon as its question does; a new one is shown.
      await world.advance(DAY - 2);
      assert.deepEqual(await feedOf(bo), []);
      const next = await asked(world);
      await world.advance(2);
      assert.deepEqual(await feedOf(bo), [next]);
    });

    it("is filtered by audience, one or several", async () => {
      await using world = await openWorld({ on });
      const product = await asked(world, { audience: ["product"] });
      const both = await asked(world, { audience: ["technical", "product"] });
      const general = await asked(world);
      const bo = world.person("bo");
      const shown = async (audience: string) => new Set(await feedOf(bo, `?audience=${audience}`));
      assert.deepEqual(await shown("product"), new Set([product, both]));
      assert.deepEqual(await shown("technical"), new Set([both]));
      assert.deepEqual(await shown("general,technical"), new Set([general, both]));
      assert.deepEqual(await shown("ethics"), new Set());
      assert.deepEqual(await shown(""), new Set([product, both, general]));
      const details = {
        field: "audience",
        constraint: "enum",
        allowed: ["technical", "product", "ethics", "creative", "general"],
      };
      assertInvalid(await bo.get("/human/questions?audience=vip"), null, details);
    });

    it("comes 20 at a time, and from 1 to 50 whatever is asked for", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      for (let i = 0; i < 52; i += 1) await asked(world);
      const bo = world.person("bo");
      for (const [query, count] of [
        ["", 20],
        ["?limit=1", 1],
        ["?limit=50", 50],
        ["?limit=51", 50],
        ["?limit=9999999", 50],
        ["?limit=0", 1],
        ["?limit=-7", 1],
      ] as const) {
        assert.equal((await feedOf(bo, query)).length, count, query);
      }
    });

    it("puts first what needs most, soonest, and what was left alone longest", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const urgency = ({ responses_needed: need, created_at, expires_at }: FeedQuestion, lastAnswer?: number) => {
        const now = world.clock.now();
        const minutes = Math.max((Date.parse(expires_at) - now) / MINUTE, 1);
        const idle = Math.min(20, Math.floor((now - (lastAnswer ?? Date.parse(created_at))) / (15 * MINUTE)));
        return (need / minutes) * 2 ** idle;
      };
      const answeredAt = new Map<string, number>();
      for (let i = 0; i < 24; i += 1) {
        const id = await asked(world, {
          min_responses: 2 + ((i * 7) % 40),
          timeout_seconds: 3600 + ((i * 7919) % 80_000),
        });
        if (i % 5 === 0) {
          await world.person(fresh("cy")).answer(id, "yes");
          answeredAt.set(id, world.clock.now());
        }
        await world.advance(((i * 31) % 9) * MINUTE);
      }
      const { body } = await world.person("bo").get("/human/questions?limit=50");
      const questions = body.questions as FeedQuestion[];
      assert.ok(questions.length > 15);
      const urgencies = questions.map((question) => urgency(question, answeredAt.get(question.question_id)));
      assert.deepEqual(
        urgencies,
        urgencies.toSorted((one, other) => other - one),
      );
      assert.ok(new Set(urgencies).size > 10);
    });

    it("spreads equals over people, and shows each the same order again", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      for (let i = 0; i < 4; i += 1) await asked(world);
      const firsts = new Set<string>();
      for (const person of world.people(24)) {
        await person.post("/human/recovery");
        const order = await feedOf(person);
        assert.deepEqual(await feedOf(person), order);
        firsts.add(order[0] ?? "");
      }
      assert.ok(firsts.size > 1);
    });

    it("puts last what as many others are reading as answers are missing, for three minutes", async () => {
      await using world = await openWorld({ on, env: { ...ROOMY, ...IN_PUBLIC } });
      const urgent = await asked(world, { min_responses: 2, timeout_seconds: 3600 });
      const other = await asked(world, { min_responses: 2, timeout_seconds: 86_400 });
      const view = (address: string) => world.call("GET", `/human/questions/${urgent}`, { headers: from(address) });
      const feed = async (address: string) =>
        idsIn(await world.call("GET", "/human/questions", { headers: from(address) }));
      assert.deepEqual(await feed("203.0.113.1"), [urgent, other]);
      await view("203.0.113.2");
      await view("203.0.113.2");
      assert.deepEqual(await feed("203.0.113.1"), [urgent, other]);
      await view("203.0.113.3");
      assert.deepEqual(await feed("203.0.113.1"), [other, urgent]);
      // One's own reading does not push a question away from oneself.
      assert.deepEqual(await feed("203.0.113.2"), [urgent, other]);
      await world.advance(180_000);
      assert.deepEqual(await feed("203.0.113.1"), [other, urgent]);
      await world.advance(1);
      assert.deepEqual(await feed("203.0.113.1"), [urgent, other]);
    });

    it("is paged so that none is skipped, while answers and new questions come in", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const ids: string[] = [];
      for (let i = 0; i < 23; i += 1) {
        ids.push(await asked(world, { min_responses: 10 + (i % 3), timeout_seconds: 80_000 + i }));
      }
      await world.advance(20 * MINUTE);
      const bo = world.person("bo");
      const seen: string[] = [];
      let cursor: string | null = null;
      for (let page = 0; page === 0 || cursor !== null; page += 1) {
        assert.ok(page < 10);
        const query: string = cursor === null ? "?limit=5" : `?limit=5&cursor=${encodeURIComponent(cursor)}`;
        const reply = await bo.get(`/human/questions${query}`);
        seen.push(...idsIn(reply));
        cursor = reply.body.next_cursor as string | null;
        // Somebody answers what was just shown and what comes next, and new questions arrive.
        await world.advance(1000);
        for (const id of [seen.at(-1), ids[page * 5]]) await world.person(fresh("cy")).answer(id ?? "", "yes");
        await asked(world, { min_responses: 50, timeout_seconds: 60 });
        await asked(world, { min_responses: 1 });
      }
      assert.deepEqual(new Set(seen), new Set(ids));
      const next = await feedOf(bo);
      assert.ok(next.length > ids.length && ids.every((id) => next.includes(id)));
    });

    it("goes on only from where it was, for an hour, and with the same filter", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      for (let i = 0; i < 4; i += 1) await asked(world, { audience: ["product"] });
      const bo = world.person("bo");
      const { next_cursor: cursor } = (await bo.get("/human/questions?limit=2&audience=product")).body;
      const page = (query: string) => bo.get(`/human/questions?limit=2${query}`);
      assert.equal((await page(`&audience=product&cursor=${cursor}`)).body.questions.length, 2);
      const other = cursor.replace(/^./, (first: string) => (first === "A" ? "B" : "A"));
      const INVALID = { field: "cursor", constraint: "invalid" };
      for (const query of [
        `&cursor=${cursor}`,
        `&audience=ethics&cursor=${cursor}`,
        `&audience=product&cursor=${other}`,
        `&audience=product&cursor=${cursor}x`,
        "&audience=product&cursor=eyJhdCI6MH0.x",
      ]) {
        assertInvalid(await page(query), null, INVALID);
      }
      await world.advance(HOUR);
      assert.equal((await page(`&audience=product&cursor=${cursor}`)).status, 200);
      await world.advance(1);
      assertInvalid(await page(`&audience=product&cursor=${cursor}`), null, INVALID);
    });

    it("lets a question that was left alone pass every fresh one, however many come", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const slow = await asked(world, { min_responses: 1 });
      await world.advance(4 * HOUR + 15 * MINUTE);
      for (let i = 0; i < 10; i += 1) await asked(world, { min_responses: 50, timeout_seconds: 60 });
      assert.equal((await feedOf(world.person("bo"), "?limit=1"))[0], slow);
    });
  });
}
