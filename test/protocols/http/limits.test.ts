import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  HOUR,
  MINUTE,
  ROOMY,
  assertLimited,
  assertRefused,
  fresh,
  limitsOf,
  openStream,
  sharedWorld,
  until,
} from "../../support/contract.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { DATABASES, type Reply, type World } from "../../support/world.ts";

const count = (replies: readonly Reply[], status: number) => replies.filter((reply) => reply.status === status).length;
const seconds = (world: World, afterMs = 0) => Math.ceil((world.clock.now() + afterMs) / 1000);

for (const on of DATABASES) {
  describe(`questions an hour on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    it("are 60 of one agent, counted down by the headers in a window that stands still", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const ends = seconds(world(), HOUR);
      for (let i = 1; i <= 60; i += 1) {
        const reply = await agent.create();
        assert.deepEqual(
          [reply.status, limitsOf(reply)],
          [201, { limit: 60, remaining: 60 - i, reset: ends, retryAfter: NaN }],
        );
        if (i === 30) await world().advance(10 * MINUTE);
      }
      await world().advance(500);
      const refused = await agent.create();
      assertLimited(refused, 60, 50 * 60);
      assert.equal(limitsOf(refused).reset, ends);
      assert.equal((await world().agent(fresh("bo-bot")).create()).status, 201);

      await world().advance(50 * MINUTE - 501);
      assertLimited(await agent.create(), 60, 1);
      await world().advance(1);
      const next = await agent.create();
      assert.deepEqual(
        [next.status, limitsOf(next).remaining, limitsOf(next).reset],
        [201, 59, seconds(world(), HOUR)],
      );
    });

    it("are counted exactly when they come at once", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const replies = await Promise.all(Array.from({ length: 80 }, () => agent.create()));
      assert.deepEqual([count(replies, 201), count(replies, 429)], [60, 20]);
    });

    it("count only those that were accepted, and say so on refusals too", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const before = await agent.create({ prompt: "short" });
      assert.deepEqual([before.status, limitsOf(before).limit, limitsOf(before).remaining], [400, 60, 60]);
      const { headers } = agent;
      const noJson = await world().call("POST", "/agent/questions", { headers, body: "{" });
      assert.deepEqual([noJson.status, limitsOf(noJson).remaining], [400, 60]);
      const first = await agent.create({ idempotency_key: "once" });
      assert.equal(limitsOf(first).remaining, 59);
      const mismatch = await agent.create({ idempotency_key: "once", min_responses: 1 });
      assert.deepEqual([mismatch.status, limitsOf(mismatch).remaining], [409, 59]);
      assert.equal(limitsOf(mismatch).reset, limitsOf(first).reset);
      const nobody = await world().call("POST", "/agent/questions", {
        headers: { authorization: "Bearer x" },
        body: {},
      });
      assert.deepEqual([nobody.status, nobody.headers.get("x-ratelimit-limit")], [401, null]);
    });
  });

  describe(`where a caller stands on ${on}`, () => {
    const world = sharedWorld({ on });

    it("is told by every refusal of a body, as by any other reply", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ min_responses: 2 });
      const known = world().person(fresh("bo"));
      assert.equal((await known.answer(id, "yes")).status, 201);
      const routes = [
        ["POST", "/agent/questions", agent.headers, 60, 59],
        ["POST", "/human/responses", known.headers, 30, 29],
        ["POST", "/human/push/subscribe", {}, 10, 10],
        ["PUT", "/human/push/subscribe", {}, 10, 10],
        ["POST", "/human/recovery/redeem", {}, 5, 5],
      ] as const;
      const bodies = ["{", "[]", "", '{"a":1,"a":2}', '{"question_id":5}'];
      const many = `[${Array.from({ length: 10_001 }, () => 1).join()}]`;
      for (const [method, path, headers, limit, remaining] of routes) {
        for (const body of [...bodies, many]) {
          const reply = await world().call(method, path, {
            headers: { "content-type": "application/json", ...headers },
            body,
          });
          assert.ok(reply.status === 400 || reply.status === 413, `${path} ${body.slice(0, 20)}: ${reply.text}`);
          const told = limitsOf(reply);
          const what = `${path} ${body.slice(0, 20)}: ${reply.status}`;
          assert.deepEqual([told.limit, told.remaining, told.reset > seconds(world())], [limit, remaining, true], what);
        }
      }
    });
  });

  describe(`open questions on ${on}`, () => {
    const world = sharedWorld({ on, env: { ...ROOMY, PARLEY_ASK_A_HUMAN_LIMITS_QUESTIONS_PER_HOUR: "1000" } });

    it("are 100 of one agent, exactly, and one more as soon as one ends", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const closing = await agent.ask({ min_responses: 1 });
      const cancelled = await agent.ask();
      const expiring = await agent.ask({ timeout_seconds: 600 });
      const replies = await Promise.all(
        Array.from({ length: 120 }, (_, i) => agent.create({ idempotency_key: `key-${i}`, timeout_seconds: 7200 })),
      );
      assert.deepEqual([count(replies, 201), count(replies, 403)], [97, 23]);

      await world().advance(1500);
      const refused = await agent.create();
      const error = {
        code: "AGENT_QUOTA_EXCEEDED",
        message: "Too many open questions.",
        details: { limit: 100, open: 100 },
      };
      assertRefused(refused, 403, error);
      assert.deepEqual(limitsOf(refused), { ...limitsOf(refused), limit: 1000, remaining: 900, retryAfter: 599 });
      const used = replies.findIndex((reply) => reply.status === 201);
      assert.equal((await agent.create({ idempotency_key: `key-${used}`, timeout_seconds: 7200 })).status, 200);
      assert.equal((await world().agent(fresh("bo-bot")).create()).status, 201);

      const fits = async () => {
        assert.equal((await agent.create({ timeout_seconds: 7200 })).status, 201);
        assert.equal((await agent.create({ timeout_seconds: 7200 })).status, 403);
      };
      await world().person(fresh("bo")).answer(closing, "yes");
      await fits();
      await agent.cancel(cancelled.id);
      await fits();
      assert.equal((await agent.poll(expiring.id)).body.status, "OPEN");
      await world().advance(598_500);
      await fits();
    });
  });

  describe(`reads of an agent on ${on}`, () => {
    const world = sharedWorld({ on, env: { PARLEY_ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR: "12" } });

    it("are counted whatever comes of them; a wait, a batch and a stream are one", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ min_responses: 1 });
      const get = (path: string) => world().call("GET", path, { headers: agent.headers });
      const ends = seconds(world(), HOUR);
      const waiting = agent.poll(id, "?wait=20");
      await until(() => isWaitedFor(world(), id));
      await world().person(fresh("bo")).answer(id, "yes");
      const replies = [
        await waiting,
        await agent.poll(id),
        await agent.poll("q_unknown"),
        await agent.poll(id, "?wait=nonsense"),
        await get(`/agent/questions?ids=${Array.from({ length: 100 }, (_, i) => `q_${i}`).join()}`),
        await get("/agent/questions"),
        await world().call("HEAD", `/agent/questions/${id}`, { headers: agent.headers }),
        await agent.poll(`${id}/events`),
      ];
      assert.deepEqual(
        replies.map((reply) => reply.status),
        [200, 200, 404, 400, 200, 200, 200, 200],
      );
      assert.deepEqual(
        replies.map((reply) => limitsOf(reply)),
        replies.map((_, i) => ({ limit: 12, remaining: 11 - i, reset: ends, retryAfter: NaN })),
      );
      await agent.cancel(id);
      const stream = await openStream(`${world().url}/agent/questions/events`, agent.headers);
      stream.close();
      for (const left of [2, 1, 0]) assert.equal(limitsOf(await agent.poll(id)).remaining, left);
      assertLimited(await agent.poll(id), 12, 3600);
      assertLimited(await agent.poll("q_unknown"), 12, 3600);
      assertLimited(await agent.poll(`${id}/events`), 12, 3600);
      assert.equal((await agent.create()).status, 201);
      assert.equal((await world().agent(fresh("bo-bot")).poll("q_unknown")).status, 404);
    });

    it("are told of in a window that stands still, while they are written down each second", async () => {
      const name = fresh("ana-bot");
      const agent = world().agent(name);
      const stored = async () => {
        const [row] = await world().server.ctx.db.all<{ n: number | null }>(
          sql`SELECT max(used) AS n FROM limit_windows WHERE bucket = 'agent reads' AND subject LIKE ${`%${name}`}`,
        );
        return row?.n ?? 0;
      };
      await world().advance(300);
      const first = limitsOf(await agent.poll("q_unknown"));
      assert.equal(first.reset, seconds(world(), HOUR));
      const told = [first];
      for (let i = 0; i < 5; i += 1) {
        await world().advance(700);
        if (i % 2 === 1) await until(async () => (await stored()) >= i, "reads that were written down");
        told.push(limitsOf(await agent.poll("q_unknown")));
      }
      assert.deepEqual(
        told,
        told.map((_, i) => ({ ...first, remaining: 11 - i })),
      );
      await world().advance(first.reset * 1000 - world().clock.now());
      assert.equal(limitsOf(await agent.poll("q_unknown")).remaining, 11);
    });

    it("are remembered over a restart", async () => {
      const agent = world().agent(fresh("ana-bot"));
      for (let i = 0; i < 5; i += 1) await agent.poll("q_unknown");
      await world().restart();
      assert.equal(limitsOf(await agent.poll("q_unknown")).remaining, 6);
    });
  });
}

/** Whether a wait for this question has begun. */
const isWaitedFor = (world: World, id: string) => [...world.server.ctx.wake.topics()].includes(`question:${id}`);

describe("waits and streams at one time", () => {
  const env = { ...ROOMY, PARLEY_LIMITS_LONG_POLLS: "2", PARLEY_LIMITS_STREAMS: "2", PARLEY_LIMITS_HUMAN_STREAMS: "2" };
  const world = sharedWorld({ on: "sqlite", env });

  it("are so many long-polls of one agent", async () => {
    const agent = world().agent(fresh("ana-bot"));
    const { id } = await agent.ask({ min_responses: 1 });
    const { id: other } = await agent.ask({ min_responses: 1 });
    const waiting = [id, other].map((one) => agent.poll(one, "?wait=20"));
    for (const one of [id, other]) await until(async () => isWaitedFor(world(), one));
    const refused = await agent.poll(id, "?wait=20");
    assert.deepEqual([refused.status, refused.body.error.code], [429, "RATE_LIMITED"]);
    assert.deepEqual([limitsOf(refused).limit, limitsOf(refused).retryAfter > 0], [2, true]);
    assert.equal((await agent.poll(id)).status, 200);
    assert.equal((await agent.poll(id, "?wait=0")).status, 200);
    for (const one of [id, other]) await world().person(fresh("bo")).answer(one, "yes");
    await Promise.all(waiting);
    assert.equal((await agent.poll(id, "?wait=20")).status, 200);
  });

  it("are so many streams of one agent, and of people from one address; a place is free once its client has gone", async () => {
    const agent = world().agent(fresh("ana-bot"));
    const { id } = await agent.ask();
    for (const [paths, headers] of [
      [["/agent/questions/events", `/agent/questions/${id}/events`], agent.headers],
      [["/human/events", "/human/events"], {}],
    ] as const) {
      const open = (path = "") => openStream(`${world().url}${path}`, headers);
      const streams = [await open(paths[0]), await open(paths[1])];
      const refused = await world().call("GET", paths[0], { headers });
      assert.deepEqual([refused.status, refused.body.error.code, limitsOf(refused).limit], [429, "RATE_LIMITED", 2]);
      for (const stream of streams) stream.close();
      const third = await until(async () => {
        const stream = await open(paths[0]);
        if (stream.status === 200) return stream;
        stream.close();
        return undefined;
      });
      third.close();
    }
  });
});
