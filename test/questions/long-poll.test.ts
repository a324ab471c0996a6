import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { begun, fresh, isHeldFor, LABELS, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { DATABASES } from "../support/world.ts";

for (const on of DATABASES) {
  describe(`waiting for a question on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ana = () => world().agent(fresh("ana-bot"));
    const someone = () => world().person(fresh("bo"));

    it("ends when it is settled, and not with an answer before that", async () => {
      const agent = ana();
      const { id } = await agent.ask({ options: LABELS, min_responses: 2 });
      const waiting = agent.poll(id, "?wait=20");
      assert.equal(await isHeldFor(world(), 20_000, waiting), true);
      await someone().answer(id, 0);
      // The answer has woken the wait, which goes on only after another look.
      assert.equal(await isHeldFor(world(), 20_000, waiting), true);
      await someone().answer(id, 1);
      const reply = await waiting;
      assert.deepEqual([reply.status, reply.body.status], [200, "CLOSED"]);
      assert.equal(reply.text, (await agent.poll(id)).text);
    });

    it("ends with the next answer after those that are known", async () => {
      const agent = ana();
      const { id } = await agent.ask({ options: LABELS });
      await someone().answer(id, 0);
      assert.equal((await agent.poll(id, "?wait=20&after=0")).body.current_responses, 1);
      const waiting = agent.poll(id, "?wait=20&after=1");
      assert.equal(await isHeldFor(world(), 20_000, waiting), true);
      await someone().answer(id, 1);
      const { body } = await waiting;
      assert.deepEqual([body.status, body.current_responses], ["PARTIAL", 2]);
    });

    it("ends at once for what is settled already", async () => {
      const agent = ana();
      const { id } = await agent.ask();
      await agent.cancel(id);
      const { body } = await agent.poll(id, "?wait=20&after=50");
      assert.deepEqual([body.status, body.cancelled], ["EXPIRED", true]);
    });

    it("ends when its question is cancelled, or expires", async () => {
      const agent = ana();
      const [cancelled, expiring] = [await agent.ask(), await agent.ask({ timeout_seconds: 60 })];
      const waiting = agent.poll(cancelled.id, "?wait=20");
      assert.equal(await isHeldFor(world(), 20_000, waiting), true);
      await agent.cancel(cancelled.id);
      assert.equal((await waiting).body.cancelled, true);

      await world().advance(50_000);
      const last = agent.poll(expiring.id, "?wait=20");
      // It wakes a little after the deadline.
      assert.equal(await isHeldFor(world(), 10_005, last), true);
      await world().advance(10_100);
      const { body } = await last;
      assert.deepEqual([body.status, body.expired_at], ["EXPIRED", expiring.expiresAt]);
    });

    it("ends with what there is when its time is over, and not before", async () => {
      const agent = ana();
      const { id } = await agent.ask({ options: LABELS });
      await someone().answer(id, 1);
      // No loop of the server sleeps for as long as one of these.
      for (const [wait, ms] of [
        ["21", 21_000],
        ["0.507", 507],
        ["1.507s", 1507],
        ["508ms", 508],
        ["0.11m", 6600],
      ] as const) {
        const waiting = agent.poll(id, `?wait=${wait}`);
        await until(async () => world().clock.isAwaited(ms));
        await world().advance(ms - 1);
        assert.equal(await isHeldFor(world(), 1, waiting), true, wait);
        await world().advance(1);
        const reply = await waiting;
        assert.deepEqual([reply.status, reply.body.status, reply.body.current_responses], [200, "PARTIAL", 1]);
      }
    });

    it("does not wait when told to wait for nothing", async () => {
      const agent = ana();
      const { id } = await agent.ask();
      for (const wait of ["0", "0s", "0.0", "0ms", "0m"]) {
        assert.equal((await agent.poll(id, `?wait=${wait}`)).body.status, "OPEN");
      }
      assert.equal((await agent.poll(id, "?after=3")).body.status, "OPEN");
    });

    it("is never longer than the server's own limit", async () => {
      const agent = ana();
      const { id } = await agent.ask();
      for (const wait of ["26", "60s", "2m", "99999999999999999999"]) {
        const waiting = agent.poll(id, `?wait=${wait}`);
        await until(async () => world().clock.isAwaited(25_000));
        await world().advance(24_999);
        assert.equal(await isHeldFor(world(), 1, waiting), true);
        await world().advance(1);
        assert.equal((await waiting).body.status, "OPEN");
      }
    });

    it("wakes everybody who waits", async () => {
      const agent = ana();
      const { id } = await agent.ask({ min_responses: 1 });
      const waiting = Array.from({ length: 30 }, () => agent.poll(id, "?wait=20"));
      await begun(world(), 20_000, 30);
      await someone().answer(id, "yes");
      for (const reply of await Promise.all(waiting)) assert.equal(reply.body.status, "CLOSED");
    });

    it("misses no answer that comes while it begins", async () => {
      const agent = ana();
      for (let round = 0; round < 15; round += 1) {
        const { id } = await agent.ask({ min_responses: 1 });
        const [waited] = await Promise.all([agent.poll(id, "?wait=20"), someone().answer(id, "yes")]);
        assert.equal(waited.body.status, "CLOSED");
      }
    });
  });
}

describe("the longest wait", () => {
  const world = sharedWorld({ on: "sqlite", env: { ASK_ANSWER_WAIT_SEC: "7" } });

  it("is the operator's choice", async () => {
    const agent = world().agent("ana-bot");
    const { id } = await agent.ask();
    const waiting = agent.poll(id, "?wait=20");
    await until(async () => world().clock.isAwaited(7000));
    await world().advance(6999);
    assert.equal(await isHeldFor(world(), 1, waiting), true);
    await world().advance(1);
    assert.equal((await waiting).status, 200);
  });
});
