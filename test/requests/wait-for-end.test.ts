import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { QuestionId } from "../../src/core/model/ids.ts";
import { waitForQuestion } from "../../src/questions/read.ts";
import { findQuestion } from "../../src/questions/store/questions.ts";
import { Refusal } from "../../src/refusals.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { requestTopic } from "../../src/core/store/wake.ts";
import { waitForRequest } from "../../src/requests/read/read-request.ts";
import { waitForEnd } from "../../src/requests/wait/wait-for-end.ts";
import { askPeople } from "../support/addressed.ts";
import { advanceUntil, LABELS, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { DATABASES, openWorld } from "../support/world.ts";

for (const on of DATABASES) {
  describe(`a wait for a request on ${on}`, () => {
    it("ends within a second where another program has ended the request, which wakes nobody", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const { ctx } = world.server;
      const { id, asker } = await askPeople(ctx);
      let isOver = false;
      const wait = { waitMs: 60_000, signal: new AbortController().signal };
      const ended = waitForRequest(ctx, id, wait).finally(() => (isOver = true));
      await until(() => [...ctx.wake.topics()].includes(requestTopic(id)));
      const unheard = { ...ctx, wake: { ...ctx.wake, publish: () => undefined } };
      await cancelRequest(unheard, id, { kind: "agent", id: asker });
      const startedMs = ctx.clock.monotonic();
      await advanceUntil(world, 1000, () => isOver);
      assert.equal((await ended).state, "cancelled");
      assert.ok(ctx.clock.monotonic() - startedMs < 10_000);
    });
  });
}

describe("a wait for the end of a request", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  /** The context of a server whose store is away from now on, and comes back after a while. */
  const whoseStoreIsAway = (awayMs: number) => {
    const { ctx } = world().server;
    const back = ctx.clock.monotonic() + awayMs;
    const all: typeof ctx.db.all = async (statement) => {
      if (ctx.clock.monotonic() < back) throw new Refusal("store_unavailable");
      return ctx.db.all(statement);
    };
    return { ...ctx, db: { ...ctx.db, dialect: "postgres" as const, all } };
  };
  const waiting = async (awayMs: number) => {
    const { ctx } = world().server;
    const request = await askPeople(ctx);
    await cancelRequest(ctx, request.id, { kind: "agent", id: request.asker });
    let isOver = false;
    const end = waitForEnd(whoseStoreIsAway(awayMs), request, new AbortController().signal);
    const watched = end.finally(() => (isOver = true));
    watched.catch(() => undefined);
    await advanceUntil(world(), 1000, () => isOver);
    return end;
  };

  it("goes on while the store is away for less than a minute", async () => {
    assert.equal((await waiting(40_000)).state, "cancelled");
  });

  it("goes on alike for a question to the crowd", async () => {
    const { ctx } = world().server;
    const { id } = await world().agent("ana-bot").ask({ options: LABELS, min_responses: 1 });
    await world().person("bo").answer(id, 0);
    const asker = (await findQuestion(ctx.db, id as QuestionId))?.question.asker ?? "";
    let isOver = false;
    const wait = { waitMs: 50_000, signal: new AbortController().signal };
    const end = waitForQuestion(whoseStoreIsAway(40_000), id as QuestionId, asker, wait);
    const watched = end.finally(() => (isOver = true));
    watched.catch(() => undefined);
    await advanceUntil(world(), 1000, () => isOver);
    assert.equal((await end).question.state, "answered");
  });

  it("is given up once the store was away for a minute", async () => {
    await assert.rejects(waiting(200_000), { code: "store_unavailable" });
  });
});
