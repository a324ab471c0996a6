import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertRefused,
  assertUnknownQuestion,
  fresh,
  HOUR,
  LABELS,
  ROOMY,
  sharedWorld,
  wireNow,
} from "../support/contract.ts";
import { DATABASES, openWorld, type Reply } from "../support/world.ts";

const ORDER = ["OPEN", "PARTIAL", "CLOSED", "EXPIRED"];
const closed = (id: string, status: "CLOSED" | "EXPIRED") => ({
  code: "QUESTION_CLOSED",
  message: "This question no longer accepts answers.",
  details: { question_id: id, status },
});

/** Checks the rules that every poll body must satisfy by itself. */
function assertAddsUp({ body }: Reply): void {
  assert.equal(body.current_responses, body.responses.length);
  if (body.summary) {
    const votes = Object.values(body.summary as Record<string, number>).reduce((sum, count) => sum + count, 0);
    assert.equal(votes, body.current_responses);
  }
  assert.ok(body.current_responses <= body.required_responses);
  assert.equal(body.status === "CLOSED", body.current_responses === body.required_responses);
  assert.equal("closed_at" in body, body.status === "CLOSED");
  assert.equal("expired_at" in body, body.status === "EXPIRED");
}

for (const on of DATABASES) {
  describe(`the life of a question on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ana = () => world().agent(fresh("ana-bot"));
    const someone = () => world().person(fresh("bo"));

    it("ends with its first answer when it needs one", async () => {
      const agent = ana();
      const { id } = await agent.ask({ min_responses: 1 });
      await world().advance(2500);
      const { status } = await someone().answer(id, "yes");
      assert.equal(status, 201);
      const reply = await agent.poll(id);
      assert.deepEqual([reply.body.status, reply.body.closed_at], ["CLOSED", wireNow(world())]);
      assertAddsUp(reply);
      await world().advance(1500);
      assertRefused(await someone().answer(id, "late"), 410, closed(id, "CLOSED"));
      assert.equal((await agent.poll(id)).text, reply.text);
    });

    it("takes answers up to its deadline and none from then on", async () => {
      const agent = ana();
      const { id, expiresAt } = await agent.ask({ timeout_seconds: 60 });
      await world().advance(Date.parse(expiresAt) - world().clock.now() - 1);
      assert.equal((await someone().answer(id, "in time")).status, 201);
      assert.equal((await agent.poll(id)).body.status, "PARTIAL");
      await world().advance(1);
      const [late, reply] = await Promise.all([someone().answer(id, "late"), agent.poll(id)]);
      assertRefused(late, 410, closed(id, "EXPIRED"));
      const { status, expired_at, responses } = reply.body;
      assert.deepEqual(
        { status, expired_at, responses },
        { status: "EXPIRED", expired_at: expiresAt, responses: [{ answer: "in time" }] },
      );
      assertAddsUp(reply);
      assert.equal("cancelled" in reply.body, false);

      // ... and says the same whenever it is asked.
      await world().advance(HOUR);
      assert.equal((await agent.poll(id)).text, reply.text);
      assert.equal((await agent.cancel(id)).text, reply.text);
    });

    it("keeps its end although a clock steps back", async () => {
      const agent = ana();
      const expired = await agent.ask({ timeout_seconds: 60 });
      const done = await agent.ask({ min_responses: 1 });
      await someone().answer(done, "yes");
      await world().advance(60_000);
      assert.equal((await agent.poll(expired.id)).body.status, "EXPIRED");
      world().clock.step(-HOUR);
      assert.deepEqual(
        [(await agent.poll(expired.id)).body.status, (await agent.poll(done.id)).body.status],
        ["EXPIRED", "CLOSED"],
      );
      assert.equal((await someone().answer(expired.id, "again")).status, 410);
      world().clock.step(HOUR);
    });

    it("never shows fewer answers or an earlier status from one poll to the next", async () => {
      const agent = ana();
      const { id } = await agent.ask({ options: LABELS, min_responses: 20 });
      let done = false;
      const polls: Reply[] = [];
      const poll = async () => {
        while (!done) polls.push(await agent.poll(id));
      };
      const polling = poll();
      await Promise.all(Array.from({ length: 25 }, (_, i) => someone().answer(id, i % 2)));
      done = true;
      await polling;
      polls.push(await agent.poll(id));
      for (const [i, reply] of polls.entries()) {
        assertAddsUp(reply);
        const before = polls[i - 1]?.body;
        if (!before) continue;
        assert.ok(reply.body.current_responses >= before.current_responses);
        assert.ok(ORDER.indexOf(reply.body.status) >= ORDER.indexOf(before.status));
        assert.deepEqual(reply.body.responses.slice(0, before.responses.length), before.responses);
      }
      assert.equal(polls.at(-1)?.body.status, "CLOSED");
    });

    it("has one end when answers and a cancel meet", async () => {
      for (let round = 0; round < 5; round += 1) {
        const agent = ana();
        const { id } = await agent.ask({ options: LABELS, min_responses: 10 });
        const answering = Array.from({ length: 15 }, (_, i) => someone().answer(id, i % 2));
        const cancelling = Promise.all(Array.from({ length: 3 }, () => agent.cancel(id)));
        const replies = await Promise.all(answering);
        const [one, ...others] = await cancelling;
        const last = await agent.poll(id);
        assertAddsUp(last);
        for (const other of others) assert.equal(other.text, one?.text);
        assert.equal(last.text, one?.text);
        assert.equal(last.body.current_responses, replies.filter((reply) => reply.status === 201).length);
        for (const reply of replies.filter(({ status }) => status !== 201)) {
          assertRefused(reply, 410, closed(id, last.body.status));
        }
      }
    });

    it("gives nothing to whoever comes too late, and keeps nothing of theirs", async () => {
      const agent = ana();
      const { id } = await agent.ask({ min_responses: 1 });
      await someone().answer(id, "first");
      const late = someone();
      const reply = await late.answer(id, "second", { confidence: 5 });
      assertRefused(reply, 410, closed(id, "CLOSED"));
      assert.equal(reply.headers.get("x-participant-token"), null);
      assert.deepEqual((await agent.poll(id)).body.responses, [{ answer: "first" }]);
      const { body } = await late.get("/human/stats");
      assert.deepEqual([body.total_points, body.total_answers, body.badges], [0, 0, []]);
    });
  });

  describe(`a server that was down on ${on}`, () => {
    it("has settled what came due before it answers", async () => {
      await using world = await openWorld({ on });
      const agent = world.agent("ana-bot");
      const due = await agent.ask({ timeout_seconds: 60 });
      const open = await agent.ask({ timeout_seconds: 7200 });
      await world.person("bo").answer(due, "yes");
      const stopped = world.server.stop();
      await stopped;
      await world.advance(HOUR);
      await world.restart();
      const { body } = await agent.poll(due.id);
      assert.deepEqual([body.status, body.expired_at, body.current_responses], ["EXPIRED", due.expiresAt, 1]);
      assert.equal((await agent.poll(open.id)).body.status, "OPEN");
    });

    it("forgets a settled question after its days, with the words for one that never was", async () => {
      await using world = await openWorld({ on });
      const agent = world.agent("ana-bot");
      const done = await agent.ask({ min_responses: 1 });
      const first = await world.person("bo").answer(done, "yes");
      assert.equal(first.status, 201);
      await world.advance(7 * 24 * HOUR - 1);
      await world.restart();
      assert.equal((await agent.poll(done.id)).status, 200);
      await world.advance(1);
      await world.restart();
      for (let tries = 0; tries < 100 && (await agent.poll(done.id)).status === 200; tries += 1);
      assertUnknownQuestion(await agent.poll(done.id), done.id);
      assertUnknownQuestion(await agent.cancel(done.id), done.id);
      assertUnknownQuestion(await world.person("bo").get(`/human/questions/${done.id}`), done.id);
      assertUnknownQuestion(await world.person("bo").get(`/human/questions/${done.id}/results`), done.id);
      assertUnknownQuestion(await world.person("bo").answer(done.id, "again"), done.id);
      const { body } = await world.person("bo").get("/human/stats");
      assert.deepEqual([body.total_answers, body.total_points], [1, 10]);
    });
  });
}
