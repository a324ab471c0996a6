import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../support/contract.ts";
import { DATABASES, openWorld } from "../support/world.ts";

const options = ["Send", "Submit"];

for (const on of DATABASES) {
  describe(`quorum on ${on}`, () => {
    it("takes exactly as many answers as were asked for, however many arrive at once", async () => {
      await using world = await openWorld({ on });
      const question = await world.agent("ana-bot").ask({ options, min_responses: 50 });

      const replies = await Promise.all(world.people(200).map((person, i) => person.answer(question, i % 2)));

      assert.equal(replies.filter((reply) => reply.status === 201).length, 50);
      assert.equal(replies.filter((reply) => reply.status === 410).length, 150);
      const { body } = await world.agent("ana-bot").poll(question.id);
      assert.equal(body.status, "CLOSED");
      assert.equal(body.current_responses, 50);
      assert.equal(body.responses.length, 50);
      assert.equal(body.summary.Send + body.summary.Submit, 50);
    });

    it("takes one answer of a person who answers many times at once", async () => {
      await using world = await openWorld({ on });
      const question = await world.agent("ana-bot").ask({ options, min_responses: 5 });
      const bo = world.person("bo");

      const replies = await Promise.all(Array.from({ length: 20 }, () => bo.answer(question, 0)));

      assert.equal(replies.filter((reply) => reply.status === 201).length, 1);
      assert.equal(replies.filter((reply) => reply.status === 409).length, 19);
      assert.equal((await world.agent("ana-bot").poll(question.id)).body.current_responses, 1);
      assert.equal((await bo.get("/human/stats")).body.total_answers, 1);
    });
  });
}

describe("quorum on two servers and one database", () => {
  it("takes exactly as many answers as were asked for", async () => {
    await using world = await openWorld({ on: "postgres" });
    const other = await world.addNode();
    const question = await world.agent("ana-bot").ask({ options, min_responses: 50 });

    const replies = await Promise.all(
      world.people(200).map((person, i) => person.answer(question, 0, {}, i % 2 ? other : world)),
    );

    assert.equal(replies.filter((reply) => reply.status === 201).length, 50);
    assert.equal(replies.filter((reply) => reply.status === 410).length, 150);
  });

  it("makes one question of one idempotency key, sent many times at once", async () => {
    await using world = await openWorld({ on: "postgres" });
    const other = await world.addNode();
    const ana = world.agent("ana-bot");

    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ana.create({ idempotency_key: "once" }, { on: i % 2 ? other : world })),
    );

    assert.equal(new Set(replies.map((reply) => reply.body.question_id)).size, 1);
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [...Array<number>(19).fill(200), 201]);
  });

  it("wakes an agent that waits on one server with an answer given to the other", async () => {
    await using world = await openWorld({ on: "postgres" });
    const other = await world.addNode();
    const ana = world.agent("ana-bot");
    const question = await ana.ask({ options, min_responses: 1 });

    const waiting = ana.poll(question.id, "?wait=20", world);
    await until(async () => [...world.server.ctx.wake.topics()].some((topic) => topic.includes(question.id)));
    await world.person("bo").answer(question, 1, {}, other);

    assert.equal((await waiting).body.status, "CLOSED");
  });
});
