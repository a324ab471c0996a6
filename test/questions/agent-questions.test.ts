import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  DAY,
  LABELS,
  ROOMY,
  assertCommonHeaders,
  assertInvalid,
  fresh,
  limitsOf,
  sharedWorld,
  wireNow,
} from "../support/contract.ts";
import { DATABASES } from "../support/world.ts";

for (const on of DATABASES) {
  describe(`asking on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ana = () => world().agent(fresh("ana-bot"));

    it("answers 201 with five fields, and says where the question is", async () => {
      const reply = await ana().create({ timeout_seconds: 90 });

      assert.equal(reply.status, 201);
      assertCommonHeaders(reply);
      const { question_id: id } = reply.body;
      assert.match(id, /^q_[0-9A-Za-z]{22}$/);
      assert.deepEqual(reply.body, {
        question_id: id,
        status: "OPEN",
        poll_url: `/agent/questions/${id}`,
        expires_at: wireNow(world(), 90_000),
        created_at: wireNow(world()),
      });
      assert.equal(reply.headers.get("location"), `/agent/questions/${id}`);
      assert.equal(reply.headers.get("idempotency-replayed"), null);
    });

    it("cuts the time of creation to the second, and counts the deadline from there", async () => {
      await world().advance(760);
      const whole = world().clock.now() - 760;
      const { body } = await ana().create({ timeout_seconds: 60 });
      assert.equal(Date.parse(body.created_at), whole);
      assert.equal(Date.parse(body.expires_at), whole + 60_000);
      await world().advance(240);
    });

    it("asks five people for an hour, of general interest, unless told otherwise", async () => {
      const agent = ana();
      const { id } = await agent.ask();
      const { body } = await agent.poll(id);
      assert.equal(body.required_responses, 5);
      assert.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 3_600_000);
      assert.deepEqual(body.audience, ["general"]);
    });

    it("takes every field at its bounds, lengths counted in code points", async () => {
      const accepted = [
        { prompt: "0123456789" },
        { prompt: "😀".repeat(10) },
        { prompt: "😀".repeat(2000) },
        { prompt: `  ${"x".repeat(1996)}  ` },
        { options: ["a", "b"] },
        { options: Array.from({ length: 10 }, (_, i) => String(i)) },
        { options: ["😀".repeat(200), "x"] },
        { options: ["Send", "send"] },
        { audience: ["technical", "product", "ethics", "creative", "general"] },
        { min_responses: 1 },
        { min_responses: 50 },
        { timeout_seconds: 60 },
        { timeout_seconds: 86_400 },
        { idempotency_key: "k" },
        { idempotency_key: "😀".repeat(255) },
        { share_results: false },
      ];
      const agent = ana();
      for (const question of accepted)
        assert.equal((await agent.create(question)).status, 201, JSON.stringify(question));
    });

    it("takes an integral number however it is written", async () => {
      const agent = ana();
      const body = '{"prompt":"Which label is clearer?","type":"text","min_responses":5.0,"timeout_seconds":6e2}';
      const { headers } = agent;
      const reply = await world().call("POST", "/agent/questions", { headers, body });
      assert.equal(reply.status, 201);
      assert.equal((await agent.poll(reply.body.question_id)).body.required_responses, 5);
    });

    it("keeps the order of audience tags, drops repeated ones, and takes none for general", async () => {
      const agent = ana();
      const audienceOf = async (audience: unknown) =>
        (await agent.poll((await agent.ask({ audience })).id)).body.audience;
      assert.deepEqual(await audienceOf(["product", "creative", "product"]), ["product", "creative"]);
      assert.deepEqual(await audienceOf(["ethics", "technical"]), ["ethics", "technical"]);
      assert.deepEqual(await audienceOf([]), ["general"]);
    });

    it("takes null for absent in every optional field", async () => {
      const agent = ana();
      const nothing = { options: null, audience: null, min_responses: null, timeout_seconds: null };
      const { id } = await agent.ask({ type: "text", ...nothing, idempotency_key: null, share_results: null });
      const { body } = await agent.poll(id);
      assert.deepEqual([body.required_responses, body.audience], [5, ["general"]]);
      assertInvalid(await agent.create({ prompt: null }), "prompt is required", {
        field: "prompt",
        constraint: "required",
      });
    });

    it("ignores fields it does not know, and never shows them", async () => {
      const agent = ana();
      const body = `{"prompt":"Which label is clearer?","type":"text","context":"c","__proto__":{"status":"CLOSED"},"x":[[{}]]}`;
      const created = await world().call("POST", "/agent/questions", { headers: agent.headers, body });
      assert.equal(created.status, 201);
      const { text } = await agent.poll(created.body.question_id);
      assert.doesNotMatch(text, /context|__proto__|"x"/);
      assert.match(text, /"status":"OPEN"/);
    });

    it("ignores options of a text question, whatever they are, and stores none", async () => {
      const agent = ana();
      for (const options of [LABELS, "nonsense", [1], []]) {
        const { id } = await agent.ask({ type: "text", options });
        const { body } = await agent.poll(id);
        assert.equal("options" in body || "summary" in body, false);
      }
    });

    it("returns texts as they were sent", async () => {
      const agent = ana();
      const prompt = "  Zwei\n\tZeilen \u202e <b>&amp;</b> 😀  ";
      const options = ["  Send ", "Submit\n"];
      const { body } = await agent.poll((await agent.ask({ prompt, options })).id);
      assert.equal(body.prompt, prompt);
      assert.deepEqual(body.options, options);
      assert.deepEqual(Object.keys(body.summary), options);
    });

    it("leaves nothing of a refused question behind", async () => {
      const agent = ana();
      const bad = await agent.create({ prompt: "short", idempotency_key: "again" });
      assert.equal(bad.status, 400);
      const good = await agent.create({ idempotency_key: "again" });
      assert.equal(good.status, 201);
      assert.equal(limitsOf(good).remaining, 59);
      const { body } = await world().call("GET", "/agent/questions", { headers: agent.headers });
      assert.equal(body.questions.length, 1);
    });
  });
}

describe("a question's text", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });

  it("may wait a day for its answers", async () => {
    const agent = world().agent(fresh("ana-bot"));
    const { id } = await agent.ask({ timeout_seconds: 86_400, min_responses: 1 });
    await world().advance(DAY - 1);
    assert.equal((await world().person(fresh("bo")).answer(id, "just in time")).status, 201);
    assert.equal((await agent.poll(id)).body.status, "CLOSED");
  });
});
