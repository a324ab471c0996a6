import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertCommonHeaders,
  assertInvalid,
  assertRefused,
  DAY,
  fresh,
  LABELS,
  limitsOf,
  ROOMY,
  sharedWorld,
} from "../support/contract.ts";
import { DATABASES, openWorld, type Reply } from "../support/world.ts";

const MISMATCH = {
  code: "IDEMPOTENCY_MISMATCH",
  message: "This idempotency key was used with a different request.",
  details: { field: "idempotency_key" },
};
const CONFLICT = { field: "idempotency_key", constraint: "conflict" };

function assertReplayed(reply: Reply, body: unknown): void {
  assert.deepEqual([reply.status, reply.body], [200, body]);
  assert.equal(reply.headers.get("idempotency-replayed"), "true");
  assertCommonHeaders(reply);
}

for (const on of DATABASES) {
  describe(`asking again with the same key on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    it("is answered with the question as it is by now", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const question = { idempotency_key: "once", options: LABELS, min_responses: 2 };
      const first = await agent.create(question);
      const { question_id: id } = first.body;
      assertReplayed(await agent.create(question), first.body);
      await world().advance(1000);
      await world().person(fresh("bo")).answer(id, 0);
      assertReplayed(await agent.create(question), { ...first.body, status: "PARTIAL" });
      await world().person(fresh("cy")).answer(id, 0);
      const last = await agent.create(question);
      assertReplayed(last, { ...first.body, status: "CLOSED" });
      assert.equal(last.headers.get("location"), first.headers.get("location"));
      assert.equal(
        (await world().call("GET", "/agent/questions", { headers: agent.headers })).body.questions.length,
        1,
      );
    });

    it("is the same request when it says nothing else, defaults and ignored fields aside", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const body = { prompt: "Which label is clearer?", type: "text", idempotency_key: "once" };
      const first = await agent.create(body);
      assert.equal(first.status, 201);
      for (const same of [
        { ...body, min_responses: 5, timeout_seconds: 3600, audience: ["general"], share_results: true },
        { ...body, audience: [] },
        { ...body, audience: ["general", "general"] },
        { ...body, audience: null, min_responses: null, options: null },
        { ...body, options: LABELS, context: "ignored" },
        { idempotency_key: "once", type: "text", prompt: "Which label is clearer?" },
      ]) {
        assertReplayed(await agent.create(same), first.body);
      }
      const written =
        '{"min_responses":5.0,"timeout_seconds":36e2,"type":"text","prompt":"\\u0057hich label is clearer?"}';
      const headers = { ...agent.headers, "idempotency-key": "once" };
      assertReplayed(await world().call("POST", "/agent/questions", { headers, body: written }), first.body);
    });

    it("is refused when it asks anything else", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const body = { idempotency_key: "once", options: LABELS, audience: ["product", "ethics"] };
      assert.equal((await agent.create(body)).status, 201);
      for (const other of [
        { prompt: "Which label is better?" },
        { prompt: "Which label is clearer? " },
        { options: ["Submit", "Send"] },
        { options: ["Send", "Submit "] },
        { audience: ["ethics", "product"] },
        { min_responses: 4 },
        { timeout_seconds: 3601 },
        { share_results: false },
        { type: "text" },
      ]) {
        assertRefused(await agent.create({ ...body, ...other }), 409, MISMATCH);
      }
    });

    it("takes the key from the body or from either header, and refuses two that differ", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const create = (inBody: string | undefined, headers: Record<string, string>) =>
        agent.create({ idempotency_key: inBody }, { headers });
      const first = await create("once", {});
      assert.equal(first.status, 201);
      assertReplayed(await create(undefined, { "x-idempotency-key": "once" }), first.body);
      assertReplayed(await create(undefined, { "idempotency-key": "once" }), first.body);
      assertReplayed(await create("once", { "idempotency-key": "once", "x-idempotency-key": "once" }), first.body);
      assertReplayed(await create("once", { "idempotency-key": "" }), first.body);
      for (const [inBody, headers] of [
        ["once", { "idempotency-key": "twice" }],
        ["once", { "x-idempotency-key": "Once" }],
        [undefined, { "x-idempotency-key": "once", "idempotency-key": "twice" }],
      ] as const) {
        assertInvalid(await create(inBody, headers), null, CONFLICT);
      }
      assertInvalid(await create(undefined, { "idempotency-key": "k".repeat(256) }), null, {
        field: "idempotency_key",
        constraint: "length",
        min: 1,
        max: 255,
      });
    });

    it("means another question for another agent, and after a day for the same one", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const question = { idempotency_key: "once", timeout_seconds: 86_400 };
      const first = await agent.create(question);
      const other = await world().agent(fresh("bo-bot")).create(question);
      assert.equal(other.status, 201);
      assert.notEqual(other.body.question_id, first.body.question_id);

      await world().advance(DAY - 1);
      assertReplayed(await agent.create(question), first.body);
      await world().advance(1);
      const next = await agent.create({ ...question, min_responses: 1 });
      assert.equal(next.status, 201);
      assert.notEqual(next.body.question_id, first.body.question_id);
    });

    it("makes one question of twenty that come at once, and refuses those that ask something else", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const same = await Promise.all(Array.from({ length: 20 }, () => agent.create({ idempotency_key: "same" })));
      assert.deepEqual(same.map((reply) => reply.status).sort(), [...Array<number>(19).fill(200), 201]);
      assert.equal(new Set(same.map((reply) => reply.body.question_id)).size, 1);

      const different = await Promise.all(
        Array.from({ length: 20 }, (_, i) => agent.create({ idempotency_key: "different", min_responses: i + 1 })),
      );
      assert.deepEqual(different.map((reply) => reply.status).sort(), [201, ...Array<number>(19).fill(409)]);
    });

    it("does not count as a question, and comes before every limit", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const first = await agent.create({ idempotency_key: "once" });
      assert.equal(limitsOf(first).remaining, 59);
      for (let i = 0; i < 59; i += 1) await agent.ask();
      assert.equal((await agent.create()).status, 429);
      const replay = await agent.create({ idempotency_key: "once" });
      assertReplayed(replay, first.body);
      assert.deepEqual([limitsOf(replay).limit, limitsOf(replay).remaining], [60, 0]);
      assertRefused(await agent.create({ idempotency_key: "once", min_responses: 1 }), 409, MISMATCH);
    });

    it("with a key that was refused is asking for the first time", async () => {
      const agent = world().agent(fresh("ana-bot"));
      for (let i = 0; i < 60; i += 1) await agent.ask({ timeout_seconds: 86_400 });
      assert.equal((await agent.create({ idempotency_key: "refused" })).status, 429);
      await world().advance(3_600_000);
      assert.equal((await agent.create({ idempotency_key: "refused", min_responses: 2 })).status, 201);
    });
  });

  describe(`answering again with the same key on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const answer = (
      person: { headers: Record<string, string> },
      body: object,
      key: string,
      name = "x-idempotency-key",
    ) => world().call("POST", "/human/responses", { headers: { ...person.headers, [name]: key }, body });

    it("is answered with what the first answer was told", async () => {
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS, min_responses: 2 });
      const bo = world().person(fresh("bo"));
      const body = { question_id: id, selected_option: 1 };
      const first = await answer(bo, body, "once");
      assert.equal(first.status, 201);
      assert.equal(first.headers.get("idempotency-replayed"), null);
      assertReplayed(await answer(bo, body, "once"), first.body);
      assertReplayed(await answer(bo, body, "once", "idempotency-key"), first.body);
      // ... also once the question is closed, and the stored words stand although the totals have moved on.
      await world().person(fresh("cy")).answer(id, 0);
      const { id: next } = await world().agent(fresh("ana-bot")).ask();
      await bo.answer(next, "yes");
      assertReplayed(await answer(bo, body, "once"), first.body);
      assert.equal((await bo.get("/human/stats")).body.total_answers, 2);
    });

    it("is refused for another answer, and is already answered under another key", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS });
      const { id: other } = await agent.ask({ options: LABELS });
      const bo = world().person(fresh("bo"));
      const first = await answer(bo, { question_id: id, selected_option: 1 }, "once");
      assertRefused(await answer(bo, { question_id: id, selected_option: 0 }, "once"), 409, MISMATCH);
      assertRefused(await answer(bo, { question_id: id, selected_option: 1, confidence: 3 }, "once"), 409, MISMATCH);
      assertRefused(await answer(bo, { question_id: other, selected_option: 1 }, "once"), 409, MISMATCH);
      const again = await answer(bo, { question_id: id, selected_option: 1 }, "twice");
      assertRefused(again, 409, {
        code: "ALREADY_ANSWERED",
        message: "You have already answered this question.",
        details: { question_id: id, response_id: first.body.response_id },
      });
      assert.equal((await answer(bo, { question_id: other, selected_option: 1 }, "twice")).status, 201);
    });

    it("is somebody else's business for somebody else", async () => {
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      const body = { question_id: id, selected_option: 1 };
      const first = await answer(world().person(fresh("bo")), body, "once");
      const other = await answer(world().person(fresh("cy")), body, "once");
      assert.deepEqual([first.status, other.status], [201, 201]);
      assert.notEqual(first.body.response_id, other.body.response_id);
    });

    it("takes one of twenty that come at once", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS });
      const bo = world().person(fresh("bo"));
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => answer(bo, { question_id: id, selected_option: 1 }, "once")),
      );
      assert.deepEqual(replies.map((reply) => reply.status).sort(), [...Array<number>(19).fill(200), 201]);
      assert.equal(new Set(replies.map((reply) => reply.body.response_id)).size, 1);
      assert.equal((await agent.poll(id)).body.current_responses, 1);
      assert.equal((await bo.get("/human/stats")).body.total_points, 5);
    });

    it("with a key whose answer was refused is answering for the first time", async () => {
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      const bo = world().person(fresh("bo"));
      assert.equal((await answer(bo, { question_id: id, selected_option: 9 }, "once")).status, 400);
      assert.equal((await answer(bo, { question_id: id, selected_option: 1 }, "once")).status, 201);
    });

    it("is forgotten after a day", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS, timeout_seconds: 86_400 });
      const bo = world().person(fresh("bo"));
      const first = await answer(bo, { question_id: id, selected_option: 1 }, "once");
      await world().advance(DAY - 1);
      assertReplayed(await answer(bo, { question_id: id, selected_option: 1 }, "once"), first.body);
      await world().advance(1);
      const again = await answer(bo, { question_id: id, selected_option: 1 }, "once");
      assert.equal(again.body.error.code, "ALREADY_ANSWERED");
    });
  });
}

describe("a server that was away", () => {
  for (const on of DATABASES) {
    it(`stands by what it acknowledged on ${on}`, async () => {
      await using world = await openWorld({ on });
      const agent = world.agent("ana-bot");
      const first = await agent.create({ idempotency_key: "once", options: LABELS });
      const given = await world.person("bo").answer(first.body.question_id, 1);
      await world.restart();
      assertReplayed(await agent.create({ idempotency_key: "once", options: LABELS }), {
        ...first.body,
        status: "PARTIAL",
      });
      const again = await world.person("bo").answer(first.body.question_id, 1);
      assert.deepEqual([again.status, again.body.error.details.response_id], [409, given.body.response_id]);
    });
  }
});
