import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweep } from "../../../src/server/loops/sweep.ts";
import type { Sql } from "../../../src/core/store/sql.ts";
import { followAsker } from "../../../src/questions/follow-asker.ts";
import {
  advanceUntil,
  begun,
  DAY,
  fresh,
  LABELS,
  openStream,
  type OpenStream,
  ROOMY,
  sharedWorld,
  until,
  within,
} from "../../support/contract.ts";
import { type Agent, DATABASES, openWorld, type World } from "../../support/world.ts";

const at = (id: string | number) => ({ "last-event-id": String(id) });

for (const on of DATABASES) {
  describe(`following a question on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const follow = (agent: Agent, id: string, headers: Record<string, string> = {}) =>
      openStream(`${world().url}/agent/questions/${id}/events`, { ...agent.headers, ...headers });
    const someone = () => world().person(fresh("bo"));

    it("begins with how it is, tells every change, and ends with the last", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS, min_responses: 3 });
      await someone().answer(id, 0);
      const stream = await follow(agent, id);
      assert.equal(stream.status, 200);
      assert.equal(stream.headers.get("content-type"), "text/event-stream; charset=utf-8");
      assert.equal(stream.headers.get("cache-control"), "no-store");
      assert.ok(stream.headers.get("x-request-id"));
      assert.deepEqual(await stream.next(), { retry: "2000" });

      const polled = await agent.poll(id);
      assert.deepEqual(await stream.next(), { event: "question", id: "2", data: polled.text });
      for (const version of [3, 4]) {
        await world().advance(1000);
        await someone().answer(id, 1);
        const event = await stream.next();
        assert.deepEqual(event, { event: "question", id: String(version), data: (await agent.poll(id)).text });
      }
      assert.equal(await stream.next(), undefined);
    });

    it("goes on where it was left, with every change in between and none twice", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS, min_responses: 5 });
      const texts = [(await agent.poll(id)).text];
      for (let i = 0; i < 4; i += 1) {
        await someone().answer(id, i % 2);
        texts.push((await agent.poll(id)).text);
      }
      const streams = await Promise.all([1, 2, 3, 4].map((seen) => follow(agent, id, at(seen))));
      for (const [i, stream] of streams.entries()) {
        const seen = i + 1;
        const events = [];
        while (events.length < 5 - seen) events.push(await stream.nextEvent());
        assert.deepEqual(
          events.map((event) => [event?.id, event?.data]),
          texts.slice(seen).map((text, j) => [String(seen + 1 + j), JSON.parse(text)]),
        );
      }
      // The end is the next event that each stream gets.
      await agent.cancel(id);
      for (const stream of streams) {
        assert.equal((await stream.nextEvent())?.id, "6");
        assert.equal(await stream.next(), undefined);
      }
    });

    it("says nothing at first to whoever knows how it is", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask();
      const stream = await follow(agent, id, at(1));
      assert.deepEqual(await stream.next(), { retry: "2000" });
      await agent.cancel(id);
      assert.equal((await stream.nextEvent())?.id, "2");
      stream.close();
    });

    it("begins anew for whoever comes with a number that never was", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask();
      for (const last of ["99", "x", "-1", "1.5", "99999999999999999999"]) {
        const stream = await follow(agent, id, at(last));
        assert.equal((await stream.nextEvent())?.id, "1", last);
        stream.close();
      }
    });

    it("is over with 204 for whoever has seen the end", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ min_responses: 1 });
      await someone().answer(id, "yes");
      const first = await follow(agent, id);
      const last = await first.nextEvent();
      assert.equal(await first.next(), undefined);
      const again = await world().call("GET", `/agent/questions/${id}/events`, {
        headers: { ...agent.headers, ...at(last?.id ?? "") },
      });
      assert.deepEqual([again.status, again.text], [204, ""]);
    });

    it("ends when it is cancelled, or expires", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const [cancelled, expiring] = [await agent.ask(), await agent.ask({ timeout_seconds: 60 })];
      const streams = [await follow(agent, cancelled.id), await follow(agent, expiring.id)];
      for (const stream of streams) assert.equal((await stream.nextEvent())?.data.status, "OPEN");
      await agent.cancel(cancelled.id);
      await world().advance(60_100);
      const [one, other] = [await streams[0]?.nextEvent(), await streams[1]?.nextEvent()];
      assert.deepEqual([one?.id, one?.data.status, one?.data.cancelled], ["2", "EXPIRED", true]);
      assert.deepEqual([other?.id, other?.data.status, other?.data.cancelled], ["2", "EXPIRED", undefined]);
      for (const stream of streams) assert.equal(await stream.next(), undefined);
    });

    it("shows every ten seconds that it lives", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const stream = await follow(agent, (await agent.ask()).id);
      await stream.nextEvent();
      for (let i = 0; i < 2; i += 1) {
        await world().advance(10_000);
        assert.ok((await stream.next())?.comment !== undefined);
      }
      stream.close();
    });
  });

  describe(`following all own questions on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const follow = (agent: Agent, headers: Record<string, string> = {}) =>
      openStream(`${world().url}/agent/questions/events`, { ...agent.headers, ...headers });
    const someone = () => world().person(fresh("bo"));

    it("tells what happens from now on, numbered in one sequence, and nobody else's", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const mallory = world().agent(fresh("mallory-bot"));
      const before = await agent.ask({ options: LABELS, min_responses: 1 });
      const stream = await follow(agent);
      assert.deepEqual(await stream.next(), { retry: "2000" });
      await mallory.ask();
      const { id } = await agent.ask({ options: LABELS, min_responses: 2 });
      await someone().answer(id, 0);
      await someone().answer(before.id, 1);
      await someone().answer(id, 0);
      const events = [];
      for (let i = 0; i < 4; i += 1) events.push(await stream.nextEvent());
      assert.deepEqual(
        events.map((event) => [event?.event, event?.id, event?.data.question_id, event?.data.status]),
        [
          ["question", "2", id, "OPEN"],
          ["question", "3", id, "PARTIAL"],
          ["question", "4", before.id, "CLOSED"],
          ["question", "5", id, "CLOSED"],
        ],
      );
      assert.deepEqual(events[3]?.data, (await agent.poll(id)).body);
      const { id: last } = await agent.ask();
      const next = await stream.nextEvent();
      assert.deepEqual([next?.id, next?.data.question_id], ["6", last]);
      stream.close();
    });

    it("goes on where it was left for a day, however much came in between", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS, min_responses: 8 });
      await Promise.all(Array.from({ length: 8 }, (_, i) => someone().answer(id, i % 2)));
      const ids: string[] = [];
      let last = "0";
      // The stream is cut after every second event, and resumed.
      while (ids.length < 9) {
        const stream = await follow(agent, at(last));
        for (let i = 0; i < 2 && ids.length < 9; i += 1) {
          const event = await stream.nextEvent();
          last = event?.id ?? "";
          ids.push(last);
          assert.equal(event?.data.current_responses, Number(last) - 1);
        }
        stream.close();
      }
      assert.deepEqual(
        ids,
        Array.from({ length: 9 }, (_, i) => String(i + 1)),
      );
    });

    it("says reset once to whoever comes with a number that never was, then goes on", async () => {
      const agent = world().agent(fresh("ana-bot"));
      await agent.ask();
      for (const last of ["99", "x", "-1"]) {
        const stream = await follow(agent, at(last));
        const reset = await stream.nextEvent();
        assert.equal(reset?.event, "reset", last);
        const { id } = await agent.ask();
        const event = await stream.nextEvent();
        assert.deepEqual([event?.event, event?.data.question_id], ["question", id], last);
        stream.close();
      }
    });

    it("says reset to whoever comes back after more than a day", async () => {
      const agent = world().agent(fresh("ana-bot"));
      await agent.ask({ timeout_seconds: 60 });
      await world().advance(DAY - 60_000);
      const kept = await follow(agent, at(1));
      assert.equal((await kept.nextEvent())?.data.status, "EXPIRED");
      kept.close();
      await world().advance(2 * 60_000);
      await until(async () => {
        await world().advance(60_000);
        const stream = await follow(agent, at(0));
        const event = await stream.nextEvent();
        stream.close();
        return event?.event === "reset";
      });
    });
  });

  describe(`a follower whom retention overtakes on ${on}`, () => {
    it("is told to begin again, although nothing new happens", async () => {
      await using world = await openWorld({ on });
      const agent = world.agent("ana-bot");
      await agent.ask({ timeout_seconds: 60 });
      await world.advance(60_000);
      await until(async () => (await world.call("GET", "/agent/questions?status=EXPIRED", agent)).body.questions[0]);
      await world.advance(DAY);

      // The old events go between the follower's first look and its second.
      const { ctx } = world.server;
      let looks = 0;
      const all = async <Row>(statement: Sql): Promise<Row[]> => {
        if ((looks += 1) === 2) while (await sweep(ctx));
        return ctx.db.all<Row>(statement);
      };
      const gone = new AbortController();
      const events = followAsker({ ...ctx, db: { ...ctx.db, all } }, "open:ana-bot", { since: 0, signal: gone.signal });
      const told = await within(events.next(), "nothing was told");
      gone.abort();
      assert.deepEqual(told.value, { kind: "reset", seq: 2 });
    });
  });

  describe(`following the feed on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    /** The next change of the feed, which arrives a moment after it happened. */
    async function nextChange(stream: OpenStream): ReturnType<OpenStream["nextEvent"]> {
      const next = stream.nextEvent();
      let told = false;
      void next.then(() => (told = true));
      await advanceUntil(world(), 100, () => told);
      return next;
    }

    it("tells of questions that come, need fewer answers, and go", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const old = await agent.ask({ min_responses: 2 });
      await world().advance(1);
      const stream = await openStream(`${world().url}/human/events`);
      assert.equal(stream.headers.get("content-type"), "text/event-stream; charset=utf-8");
      assert.deepEqual(await stream.next(), { retry: "2000" });
      // The follower waits, and so does the reader of the feed for all, which has read it once.
      await begun(world(), 5000, 2);

      const changes = [];
      const { id } = await agent.ask({ min_responses: 2 });
      changes.push(await nextChange(stream));
      await world().person(fresh("bo")).answer(id, "yes");
      changes.push(await nextChange(stream));
      await world().person(fresh("bo")).answer(id, "yes");
      changes.push(await nextChange(stream));
      await agent.cancel(old.id);
      changes.push(await nextChange(stream));
      assert.deepEqual(
        changes.map((change) => [change?.event, change?.data.question_id]),
        [
          ["opened", id],
          ["needs", id],
          ["gone", id],
          ["gone", old.id],
        ],
      );
      assert.deepEqual(changes[1]?.data, { question_id: id, responses_needed: 1 });
      assert.deepEqual(
        changes.map((change) => change?.id),
        [undefined, undefined, undefined, undefined],
      );
      stream.close();
    });
  });
}

describe("a stream that is cut", () => {
  it("is resumed on another server, without a gap and without a repeat", async () => {
    await using world: World = await openWorld({ on: "postgres", env: ROOMY });
    const other = await world.addNode();
    const agent = world.agent("ana-bot");
    const { id } = await agent.ask({ options: LABELS, min_responses: 12 });
    const seen: string[] = [];
    const answering = Promise.all(
      world.people(12).map((person, i) => person.answer(id, i % 2, {}, i % 2 ? other : world)),
    );
    for (let last = "0", turn = 0; seen.length < 13; turn += 1) {
      const stream = await openStream(`${(turn % 2 ? other : world).url}/agent/questions/events`, {
        ...agent.headers,
        ...at(last),
      });
      const event = await stream.nextEvent();
      last = event?.id ?? "";
      seen.push(last);
      assert.equal(event?.data.current_responses, seen.length - 1);
      stream.close();
    }
    await answering;
    assert.deepEqual(
      seen,
      Array.from({ length: 13 }, (_, i) => String(i + 1)),
    );
  });
});

describe("the heartbeat of streams", () => {
  it("is the operator's choice", async () => {
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_SSE_HEARTBEAT_S: "3" } });
    const stream = await openStream(`${world.url}/agent/questions/events`, world.agent("ana-bot").headers);
    assert.deepEqual(await stream.next(), { retry: "2000" });
    await world.advance(3000);
    assert.ok((await stream.next())?.comment !== undefined);
    stream.close();
  });
});
