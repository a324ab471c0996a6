import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweepJobs } from "../../src/asks/loops/sweep.ts";
import { sql } from "../../src/core/store/sql.ts";
import { advanceUntil, begun, openStream, until, type OpenStream } from "../support/contract.ts";
import {
  answerAsk,
  assertRelayError,
  openJobs,
  pendingAsk,
  sharedJobs,
  type JobScene,
  type Program,
} from "../support/jobs.ts";
import { DATABASES, type Node } from "../support/world.ts";

type Event = Awaited<ReturnType<OpenStream["nextEvent"]>>;

async function take(stream: OpenStream, count: number): Promise<NonNullable<Event>[]> {
  const events: NonNullable<Event>[] = [];
  while (events.length < count) events.push((await stream.nextEvent()) ?? assert.fail("the stream ended"));
  return events;
}

function follow(scene: JobScene, id: string, more: { by?: Program; last?: string; query?: string; on?: Node } = {}) {
  const { by = scene.ana, last, query = "", on = scene.world } = more;
  const headers = { ...by.headers, ...(last !== undefined && { "last-event-id": last }) };
  return openStream(`${on.url}/jobs/${id}/events${query}`, headers);
}

/** Returns an event as one short line. */
function inShort(event: Event): string {
  if (!event) return "end";
  const { state, event: what, message, status } = event.data;
  return `${event.id} ${event.event} ${state ?? what ?? status ?? message}`;
}

for (const on of DATABASES) {
  describe(`following a job on ${on}`, () => {
    const scene = sharedJobs(on);

    it("begins with how the job is, and tells a round in its order, whole and in both spellings", async () => {
      const { ana, world } = scene();
      const { id, lease } = await scene().claimed();
      const stream = await follow(scene(), id);
      assert.deepEqual(
        [stream.status, stream.headers.get("content-type"), stream.headers.get("x-accel-buffering")],
        [200, "text/event-stream; charset=utf-8", "no"],
      );
      assert.equal(stream.headers.get("cache-control"), "no-store");
      assert.deepEqual(await stream.next(), { retry: "2000" });
      const at = world.clock.now();
      const snapshot = await stream.next();
      const body = { job_id: id, state: "RUNNING", epoch: 1, pending_asks: 0, at };
      assert.deepEqual([snapshot?.id, snapshot?.event], ["2", "status"]);
      assert.deepEqual(JSON.parse(snapshot?.data ?? ""), { ...body, jobId: id, pendingAsks: 0 });

      const ask = await pendingAsk(scene(), id, ana);
      await answerAsk(scene(), id, ask, "EUR\nfor EU shops.");
      const round = await take(stream, 5);
      assert.deepEqual(round.map(inShort), [
        "3 log ask.created",
        "4 status WAITING_ON_ANSWER",
        "5 answer ANSWERED",
        "6 log answer.recorded",
        "7 status RUNNING",
      ]);
      assert.deepEqual(round[1]?.data, {
        job_id: id,
        jobId: id,
        state: "WAITING_ON_ANSWER",
        from: "RUNNING",
        epoch: 1,
        pending_asks: 1,
        pendingAsks: 1,
        at,
      });
      const polled = await ana.get(`/asks/${ask}/answer?wait=0`);
      assert.equal(polled.status, 200, polled.text);
      assert.deepEqual(round[2]?.data, polled.body);
      assert.equal(round[2]?.data.answer_text, "EUR\nfor EU shops.");
      assert.equal(round[2]?.data.answerText, "EUR\nfor EU shops.");
      await ana.post(`/jobs/${id}/logs`, { message: "next" }, lease);
      assert.deepEqual((await take(stream, 1)).map(inShort), ["8 log next"]);
      stream.close();
    });

    it("goes on where it was left, however often it is cut", async () => {
      const { ana } = scene();
      const { id, lease } = await scene().claimed();
      for (let i = 0; i < 8; i += 1) await ana.post(`/jobs/${id}/logs`, { message: `line ${i}` }, lease);
      const seen: string[] = [];
      for (let last = 0; last < 10; last += 3) {
        const stream = await follow(scene(), id, { last: String(last), query: "?after=9" });
        for (const event of await take(stream, Math.min(3, 10 - last))) seen.push(inShort(event));
        stream.close();
      }
      const all = await follow(scene(), id, { query: "?after=0" });
      const once = (await take(all, 10)).map(inShort);
      assert.deepEqual(seen, once);
      assert.deepEqual(
        once.map((line) => Number.parseInt(line, 10)),
        Array.from({ length: 10 }, (_, i) => i + 1),
      );
      const log = { type: "Log", step_id: "S-1", ask_id: "ask-1", level: "warn", message: "m", fields: { a: [1] } };
      const live = await follow(scene(), id, { last: "10" });
      await ana.post(`/jobs/${id}/logs`, [log, { message: "n" }], lease);
      const [first, second] = await take(live, 2);
      assert.deepEqual((await take(all, 2)).map(inShort), ["11 log m", "12 log n"]);
      all.close();
      const { type: _, ...told } = log;
      assert.deepEqual(first?.data, {
        ...told,
        job_id: id,
        jobId: id,
        stepId: "S-1",
        askId: "ask-1",
        at: scene().world.clock.now(),
      });
      assert.equal(second?.data.level, "info");
      live.close();
    });

    it("begins anew, and says so, for whoever comes with a number that never was", async () => {
      const { ana } = scene();
      const { id, lease } = await scene().claimed();
      const ask = await pendingAsk(scene(), id, ana);
      for (const [i, last] of ["99", "x", "-1", "1.5", "99999999999999999999"].entries()) {
        const stream = await follow(scene(), id, { last });
        const reset = await stream.nextEvent();
        assert.deepEqual([reset?.event, reset?.id, reset?.data.reset], ["status", String(4 + i), true], last);
        const { job, pending_asks: pending } = reset?.data.snapshot ?? {};
        assert.deepEqual(job, (await ana.get(`/jobs/${id}`)).body);
        assert.deepEqual([pending.length, pending[0].ask_id, pending[0].status], [1, ask, "PENDING"]);
        assert.equal(reset?.data.state, "WAITING_ON_ANSWER");
        await ana.post(`/jobs/${id}/logs`, { message: "next" }, lease);
        assert.deepEqual((await take(stream, 1)).map(inShort), [`${5 + i} log next`]);
        stream.close();
      }
      assertRelayError(await ana.get(`/jobs/${id}/events?after=x`), 400, {
        code: "VALIDATION_ERROR",
        message: "Query is not valid",
        details: { field: "after", constraint: "format" },
      });
    });

    it("begins anew for whoever comes back when the oldest events are gone", async () => {
      const { ana, world } = scene();
      const { id, lease } = await scene().claimed();
      const lines = Array.from({ length: 100 }, (_, i) => ({ message: `line ${i}` }));
      await ana.post(`/jobs/${id}/logs`, lines, lease);
      const { db } = world.server.ctx;
      // The job's events get ten thousand more by moving their numbers.
      await world.server.ctx.db.transact(async (tx) => {
        await tx.all(sql`UPDATE job_events SET seq = seq + 10000 WHERE job_id = ${id}`);
        for (let i = 1; i <= 10_000; i += 1) {
          await tx.all(
            sql`INSERT INTO job_events (job_id, seq, event, body, at) VALUES (${id}, ${i}, 'log', '{"message":"old"}', 0)`,
          );
        }
        await tx.all(sql`UPDATE jobs SET seq = seq + 10000 WHERE job_id = ${id}`);
      });
      await until(async () => !(await sweepJobs(world.server.ctx)));
      const [kept] = await db.all<{ kept_from: number; n: number }>(
        sql`SELECT kept_from, (SELECT count(*) FROM job_events e WHERE e.job_id = jobs.job_id) AS n FROM jobs
          WHERE job_id = ${id}`,
      );
      assert.deepEqual({ ...kept }, { kept_from: 103, n: 10_000 });
      const late = await follow(scene(), id, { last: "101" });
      const reset = await late.nextEvent();
      assert.deepEqual([reset?.id, reset?.data.reset], ["10102", true]);
      late.close();
      const inTime = await follow(scene(), id, { last: "102" });
      assert.equal((await inTime.nextEvent())?.id, "103");
      inTime.close();
    });

    it("shows every ten seconds that it lives", async () => {
      const { id } = await scene().claimed(scene().ana, {});
      const stream = await follow(scene(), id);
      await stream.nextEvent();
      for (let i = 0; i < 2; i += 1) {
        await scene().world.advance(10_000);
        let block = await stream.next();
        // The lease may run out meanwhile, which is an event too.
        while (block?.event !== undefined) block = await stream.next();
        assert.equal(block?.comment, `hb ${scene().world.clock.now()}`);
      }
      stream.close();
    });

    it("ends a minute after the last event of a job that is over", async () => {
      const { ana, planner, world } = scene();
      const { id, lease } = await scene().claimed();
      const stream = await follow(scene(), id);
      await stream.nextEvent();
      const ask = await pendingAsk(scene(), id, ana);
      await world.advance(1);
      await ana.post(`/jobs/${id}/finish`, { state: "SUCCEEDED" }, lease);
      assert.deepEqual((await take(stream, 4)).map(inShort), [
        "3 log ask.created",
        "4 status WAITING_ON_ANSWER",
        "5 answer ERROR",
        "6 status SUCCEEDED",
      ]);
      assert.ok(ask);
      await begun(world, 60_000);
      await world.advance(59_000);
      assert.match((await stream.next())?.comment ?? "", /^ ?hb /);
      await world.advance(1000);
      while ((await stream.next()) !== undefined);
      const again = await follow(scene(), id, { by: planner, query: "?after=4" });
      assert.deepEqual((await take(again, 2)).map(inShort), ["5 answer ERROR", "6 status SUCCEEDED"]);
      assert.equal(await again.nextEvent(), undefined);
    });

    it("goes on across a restart of the server, with no gap and no repeat", async () => {
      await using own = await openJobs(on);
      const { ana, world } = own;
      const { id, lease } = await own.claimed();
      const before = await follow(own, id, { query: "?after=0" });
      await ana.post(`/jobs/${id}/logs`, [{ message: "a" }, { message: "b" }], lease);
      const seen = (await take(before, 4)).map(inShort);
      await world.restart();
      while ((await before.next()) !== undefined);
      await ana.post(`/jobs/${id}/logs`, [{ message: "c" }, { message: "d" }], lease);
      const after = await follow(own, id, { last: "4" });
      await ana.post(`/jobs/${id}/logs`, { message: "e" }, lease);
      seen.push(...(await take(after, 3)).map(inShort));
      assert.deepEqual(seen, [
        "1 status QUEUED",
        "2 status RUNNING",
        ...["a", "b", "c", "d", "e"].map((message, i) => `${i + 3} log ${message}`),
      ]);
      after.close();
    });
  });
}

describe("following a job at two servers with one PostgreSQL", () => {
  it("tells the same at both, wherever it happened, also when a wake-up is lost", async () => {
    await using scene = await openJobs("postgres");
    const { ana, world } = scene;
    const node = await world.addNode();
    const { id, lease } = await scene.claimed();
    const [here, there] = [
      await follow(scene, id, { query: "?after=0" }),
      await follow(scene, id, { query: "?after=0", on: node }),
    ];
    const header = { "parley-lease": lease };
    const writes = Array.from({ length: 30 }, (_, i) =>
      ana.at(i % 2 ? node : world).call("POST", `/jobs/${id}/logs`, { message: `line ${i}` }, header),
    );
    await Promise.all(writes);
    const [one, other] = [await take(here, 32), await take(there, 32)];
    assert.deepEqual(one.map(inShort), other.map(inShort));
    assert.deepEqual(
      one.map((event) => Number(event.id)),
      Array.from({ length: 32 }, (_, i) => i + 1),
    );
    // Half-way it goes on at the other server.
    there.close();
    const moved = await follow(scene, id, { last: one[15]?.id ?? "", on: node });
    assert.deepEqual((await take(moved, 16)).map(inShort), one.slice(16).map(inShort));

    // A statement from elsewhere wakes nobody: the fallback finds it within a second.
    await world.server.ctx.db.transact(async (tx) => {
      await tx.all(sql`UPDATE jobs SET seq = seq + 1 WHERE job_id = ${id}`);
      await tx.all(
        sql`INSERT INTO job_events (job_id, seq, event, body, at) VALUES (${id}, 33, 'log', '{"message":"unheard"}', 0)`,
      );
    });
    let isNotified = false;
    const told = moved.nextEvent().finally(() => (isNotified = true));
    await advanceUntil(world, 1000, () => isNotified);
    assert.equal(inShort(await told), "33 log unheard");
    for (const stream of [here, moved]) stream.close();
  });
});
