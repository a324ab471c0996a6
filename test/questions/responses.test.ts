import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertCommonHeaders,
  assertRefused,
  assertUnknownQuestion,
  fresh,
  LABELS,
  MINUTE,
  ROOMY,
  sharedWorld,
} from "../support/contract.ts";
import { ONE_DATABASE } from "../support/world.ts";

for (const on of ONE_DATABASE) {
  describe(`answering on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ana = () => world().agent(fresh("ana-bot"));
    const someone = () => world().person(fresh("bo"));
    const answered = (id: string, response: string) => ({
      code: "ALREADY_ANSWERED",
      message: "You have already answered this question.",
      details: { question_id: id, response_id: response },
    });

    it("is told what it earned", async () => {
      const { id } = await ana().ask({ min_responses: 3 });
      await world().advance(3 * MINUTE);
      const reply = await someone().answer(id, "Send", { confidence: 4 });
      assert.equal(reply.status, 201);
      assertCommonHeaders(reply);
      assert.match(reply.body.response_id, /^r_[0-9A-Za-z]{22}$/);
      assert.deepEqual(reply.body, {
        response_id: reply.body.response_id,
        points_earned: 10,
        new_badges: ["first_answer"],
        total_points: 10,
        points_breakdown: { base: 10 },
        streak_days: 1,
      });
    });

    it("takes every answer at its bounds, and ignores the field of the other type", async () => {
      const text = await ana().ask({ min_responses: 50 });
      const choice = await ana().ask({ min_responses: 50, options: LABELS });
      const accepted: [{ id: string }, Record<string, unknown>][] = [
        [text, { answer: "x" }],
        [text, { answer: "😀".repeat(5000) }],
        [text, { answer: " x ", confidence: 1 }],
        [text, { answer: "x", confidence: 5 }],
        [text, { answer: "x", confidence: null }],
        [text, { answer: "x", selected_option: 99 }],
        [text, { answer: "x", selected_option: "nonsense" }],
        [choice, { selected_option: 0 }],
        [choice, { selected_option: 1 }],
        [choice, { selected_option: 1, answer: 5 }],
        [choice, { selected_option: 1, answer: "x".repeat(6000) }],
      ];
      for (const [{ id }, given] of accepted) {
        const reply = await someone().post("/human/responses", { question_id: id, ...given });
        assert.equal(reply.status, 201, JSON.stringify(given).slice(0, 100));
      }
      const { headers } = someone();
      const body = `{"question_id":"${choice.id}","selected_option":1.0,"confidence":3e0,"x":{"__proto__":1}}`;
      assert.equal((await world().call("POST", "/human/responses", { headers, body })).status, 201);
    });

    it("is done once, and learns of its first answer when it comes again", async () => {
      const { id } = await ana().ask({ options: LABELS, min_responses: 2 });
      const bo = someone();
      const first = await bo.answer(id, 0);
      assertRefused(await bo.answer(id, 1), 409, answered(id, first.body.response_id));
      assertRefused(await bo.answer(id, 1, { confidence: 99 }), 409, answered(id, first.body.response_id));
      // The retry of the very answer that closed a question, too.
      const cy = someone();
      const last = await cy.answer(id, 1);
      assertRefused(await cy.answer(id, 1), 409, answered(id, last.body.response_id));
      assertRefused(await bo.answer(id, 1), 409, answered(id, first.body.response_id));
    });

    it("is decided in one order: question, asker, key, already answered, final, fields", async () => {
      const agent = world().agent("ana-bot-of-order");
      const open = await agent.ask({ options: LABELS });
      const done = await agent.ask({ options: LABELS, min_responses: 1 });
      const bo = someone();
      const send = (body: unknown, headers: Record<string, string> = {}) =>
        world().call("POST", "/human/responses", { headers: { ...bo.headers, ...headers }, body });
      const asAsker = { "x-agent-id": "ana-bot-of-order" };
      const bad = { selected_option: 9 };

      assert.equal((await send({ ...bad }, asAsker)).status, 400);
      assertUnknownQuestion(await send({ question_id: "q_x", ...bad }, asAsker), "q_x");
      assert.equal((await send({ question_id: open.id, ...bad }, asAsker)).status, 403);
      assert.equal((await send({ question_id: open.id, ...bad })).status, 400);
      await send({ question_id: open.id, selected_option: 0 }, { "idempotency-key": "once" });
      assert.equal(
        (await send({ question_id: open.id, ...bad }, { "idempotency-key": "once" })).body.error.code,
        "IDEMPOTENCY_MISMATCH",
      );
      assert.equal((await send({ question_id: open.id, ...bad })).body.error.code, "ALREADY_ANSWERED");
      await someone().answer(done, 0);
      assert.equal((await send({ question_id: done.id, ...bad })).status, 410);
      assert.equal((await send({ question_id: done.id, ...bad }, asAsker)).status, 403);
      await agent.cancel(open.id);
      assert.equal((await send({ question_id: open.id, ...bad })).body.error.code, "ALREADY_ANSWERED");
    });

    it("needs neither a name nor a fingerprint", async () => {
      const { id } = await ana().ask({ options: LABELS });
      const body = { question_id: id, selected_option: 0, context: "ignored" };
      for (const status of [201, 409]) {
        assert.equal((await world().call("POST", "/human/responses", { body })).status, status);
      }
    });

    it("twice at once by one page is one answer and one refusal", async () => {
      for (let round = 0; round < 5; round += 1) {
        const { id } = await ana().ask({ options: LABELS });
        const bo = someone();
        const replies = await Promise.all([bo.answer(id, 0), bo.answer(id, 0)]);
        const [good, bad] = replies.toSorted((one, other) => one.status - other.status);
        assert.equal(good?.status, 201);
        assert.deepEqual(bad?.body, { error: answered(id, good.body.response_id) });
      }
    });

    it("is not barred by the audience", async () => {
      const { id } = await ana().ask({ options: LABELS, audience: ["ethics"] });
      assert.equal((await someone().answer(id, 0)).status, 201);
    });
  });
}
