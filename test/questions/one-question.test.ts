import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  HOUR,
  IN_PUBLIC,
  LABELS,
  MINUTE,
  ROOMY,
  assertCommonHeaders,
  assertInvalid,
  assertRefused,
  assertUnknownQuestion,
  fresh,
  from,
  sharedWorld,
  wireNow,
} from "../support/contract.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const idsIn = (reply: Reply): string[] =>
  (reply.body.questions as { question_id: string }[]).map((question) => question.question_id);

for (const on of DATABASES) {
  describe(`one question on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const closed = (id: string, status: string) => ({
      code: "QUESTION_CLOSED",
      message: "This question no longer accepts answers.",
      details: { question_id: id, status },
    });

    it("is shown to whoever may answer it", async () => {
      const { id, expiresAt } = await world()
        .agent(fresh("ana-bot"))
        .ask({ options: LABELS, audience: ["product"], min_responses: 2 });
      const reply = await world().person(fresh("bo")).get(`/human/questions/${id}`);
      assert.equal(reply.status, 200);
      assertCommonHeaders(reply);
      assert.deepEqual(reply.body, {
        question_id: id,
        prompt: "Which label is clearer?",
        type: "multiple_choice",
        options: LABELS,
        audience: ["product"],
        responses_needed: 2,
        can_answer: true,
        created_at: wireNow(world()),
        expires_at: expiresAt,
        points: 5,
      });
      const text = await world().agent(fresh("ana-bot")).ask();
      const { body } = await world().person(fresh("bo")).get(`/human/questions/${text.id}`);
      assert.deepEqual([body.type, body.points, "options" in body, "reason" in body], ["text", 10, false, false]);
    });

    it("is shown to whoever has answered it, also once it is closed", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS, min_responses: 2 });
      const bo = world().person(fresh("bo"));
      await bo.answer(id, 0);
      const view = async () => {
        const { status, body } = await bo.get(`/human/questions/${id}`);
        return [status, body.can_answer, body.reason, body.responses_needed];
      };
      assert.deepEqual(await view(), [200, false, "already_answered", 1]);
      await world().person(fresh("cy")).answer(id, 0);
      assert.deepEqual(await view(), [200, false, "already_answered", 0]);
      const expiring = await agent.ask({ timeout_seconds: 60 });
      await bo.answer(expiring, "yes");
      await world().advance(MINUTE);
      const { status, body } = await bo.get(`/human/questions/${expiring.id}`);
      assert.deepEqual([status, body.can_answer, body.responses_needed], [200, false, 0]);
    });

    it("is gone for everybody else once it is final", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const [done, cancelled, expired] = [
        await agent.ask({ min_responses: 1 }),
        await agent.ask(),
        await agent.ask({ timeout_seconds: 60 }),
      ];
      await world().person(fresh("cy")).answer(done, "yes");
      await agent.cancel(cancelled.id);
      await world().advance(MINUTE);
      const bo = world().person(fresh("bo"));
      assertRefused(await bo.get(`/human/questions/${done.id}`), 410, closed(done.id, "CLOSED"));
      for (const { id } of [cancelled, expired]) {
        assertRefused(await bo.get(`/human/questions/${id}`), 410, closed(id, "EXPIRED"));
      }
      assertUnknownQuestion(await bo.get("/human/questions/q_unknown"), "q_unknown");
    });

    it("tells how others answered only to whoever has answered too", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS, min_responses: 3 });
      const [bo, cy] = [world().person(fresh("bo")), world().person(fresh("cy"))];
      await cy.answer(id, 1, { confidence: 5 });
      assertRefused(await bo.get(`/human/questions/${id}/results`), 403, {
        code: "ANSWER_FIRST",
        message: "Answers are shown after you have given your own.",
      });
      assertUnknownQuestion(await bo.get("/human/questions/q_unknown/results"), "q_unknown");
      await bo.answer(id, 0);
      const reply = await bo.get(`/human/questions/${id}/results`);
      assertCommonHeaders(reply);
      assert.deepEqual(reply.body, {
        question_id: id,
        status: "PARTIAL",
        required_responses: 3,
        current_responses: 2,
        summary: { Send: 1, Submit: 1 },
        responses: [{ selected_option: 1, confidence: 5 }, { selected_option: 0 }],
      });
      await agent.cancel(id);
      assert.equal((await bo.get(`/human/questions/${id}/results`)).body.status, "EXPIRED");
    });

    it("tells only how many answered where the agent keeps the results", async () => {
      const { id } = await world()
        .agent(fresh("ana-bot"))
        .ask({ options: LABELS, min_responses: 2, share_results: false });
      const bo = world().person(fresh("bo"));
      await bo.answer(id, 0);
      assert.deepEqual((await bo.get(`/human/questions/${id}/results`)).body, {
        question_id: id,
        status: "PARTIAL",
        required_responses: 2,
        current_responses: 1,
      });
    });

    it("tells the words of others to a text", async () => {
      const { id } = await world().agent(fresh("ana-bot")).ask({ min_responses: 2 });
      const bo = world().person(fresh("bo"));
      await bo.answer(id, "Send");
      const { body } = await bo.get(`/human/questions/${id}/results`);
      assert.deepEqual([body.responses, "summary" in body], [[{ answer: "Send" }], false]);
    });
  });

  describe(`reporting a question on ${on}`, () => {
    const world = sharedWorld({ on, env: { ...ROOMY, ...IN_PUBLIC } });
    const report = (id: string, address: string, body: unknown, name = fresh("bo")) =>
      world().call("POST", `/human/questions/${id}/report`, {
        headers: { ...from(address), "x-fingerprint": name },
        body,
      });
    const isShown = async (id: string) =>
      idsIn(await world().call("GET", "/human/questions?limit=50", { headers: from("192.0.2.99") })).includes(id);

    it("counts one client as one, whatever ports its proxy writes beside its address", async () => {
      const { id } = await world().agent(fresh("ana-bot")).ask();
      for (const port of [1001, 1002, 1003]) {
        assert.equal((await report(id, `[2001:db8:1::7]:${port}`, { reason: "spam" })).status, 204);
        assert.equal((await report(id, `203.0.113.8:${port}`, { reason: "spam" })).status, 204);
      }
      assert.equal(await isShown(id), true);
      assert.equal((await report(id, "198.51.100.1:1001", { reason: "spam" })).status, 204);
      assert.equal(await isShown(id), false);
    });

    it("takes one of five reasons, and a comment of up to 500 characters", async () => {
      const { id } = await world().agent(fresh("ana-bot")).ask();
      for (const reason of ["spam", "personal_data", "unsafe", "unclear", "other"]) {
        const reply = await report(id, "192.0.2.1", { reason, comment: "😀".repeat(500) });
        assert.deepEqual([reply.status, reply.text], [204, ""]);
      }
      assert.equal((await report(id, "192.0.2.1", { reason: "other", comment: null })).status, 204);
      const allowed = ["spam", "personal_data", "unsafe", "unclear", "other"];
      assertInvalid(await report(id, "192.0.2.1", { reason: "boring" }), null, {
        field: "reason",
        constraint: "enum",
        allowed,
      });
      assertInvalid(await report(id, "192.0.2.1", {}), "reason is required", {
        field: "reason",
        constraint: "required",
      });
      const long = await report(id, "192.0.2.1", { reason: "other", comment: "x".repeat(501) });
      assert.deepEqual([long.status, long.body.error.details.field], [400, "comment"]);
      assertUnknownQuestion(await report("q_unknown", "192.0.2.1", { reason: "spam" }), "q_unknown");
    });

    it("by three people on three networks holds it back, and its deadline runs on", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ timeout_seconds: 3600 });
      const spam = { reason: "spam" };
      for (const address of ["198.51.100.1", "198.51.100.2", "198.51.100.3"]) await report(id, address, spam);
      assert.equal(await isShown(id), true);
      const twice = fresh("cy");
      await report(id, "203.0.113.1", spam, twice);
      await report(id, "203.0.114.1", spam, twice);
      assert.equal(await isShown(id), true);
      await report(id, "2001:db8::1", spam);
      assert.equal(await isShown(id), false);
      assert.equal((await agent.poll(id)).body.status, "OPEN");
      await world().advance(HOUR);
      assert.equal((await agent.poll(id)).body.status, "EXPIRED");
    });
  });
}
