import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { advanceUntil, begun, MINUTE, until } from "../support/contract.ts";
import {
  assertFenced,
  assertNoJob,
  claim,
  freshKind,
  openJobs,
  pendingAsk,
  sharedJobs,
  type Held,
} from "../support/jobs.ts";
import { DATABASES, type Reply } from "../support/world.ts";

for (const on of DATABASES) {
  describe(`claiming jobs on ${on}`, () => {
    const scene = sharedJobs(on);
    const body = (kind: string, more: object = {}) => ({ kinds: [kind], worker_id: "w-1", wait: "0", ...more });
    const stateOf = async (id: string) => (await scene().admin.get(`/jobs/${id}`)).body;
    const lost = (id: string, state: string) =>
      until(async () => {
        const job = await stateOf(id);
        return job.state === state && job;
      });

    it("gives a job with its lease, whose token is told once and stored as its hash", async () => {
      const { ana, world } = scene();
      const job = await scene().queue();
      const reply = await ana.post("/jobs/claim", body(job.kind));
      assert.equal(reply.status, 200, reply.text);
      const { lease, job: claimed } = reply.body;
      assert.match(lease.token, /^lease_[0-9A-Za-z]{32}$/);
      const expiresAt = world.clock.now() + 15_000;
      assert.deepEqual(lease, { token: lease.token, epoch: 1, ttl_s: 15, expires_at: expiresAt });
      assert.deepEqual(
        [claimed.job_id, claimed.state, claimed.epoch, claimed.attempts, claimed.lease_expires_at],
        [job.job_id, "RUNNING", 1, 1, expiresAt],
      );
      const rows = await world.server.ctx.db.all(sql`SELECT * FROM jobs WHERE job_id = ${job.job_id}`);
      assert.ok(!JSON.stringify(rows).includes(lease.token));
      const heartbeat = await ana.post(`/jobs/${job.job_id}/heartbeat`, { type: "Heartbeat" }, lease.token);
      assert.deepEqual(heartbeat.body, {
        job_id: job.job_id,
        jobId: job.job_id,
        state: "RUNNING",
        epoch: 1,
        lease_expires_at: expiresAt,
        leaseExpiresAt: expiresAt,
        pending_asks: 0,
        pendingAsks: 0,
      });
      assert.equal((await ana.post("/jobs/claim", body(job.kind))).status, 204);
    });

    it("takes a wait that is a duration, and refuses any other", async () => {
      const { ana } = scene();
      const job = await scene().queue();
      for (const wait of [{}, [], true, 2 ** 53, "2e3", "-1", "0x1", "1 s", " 1", 1e21, -1, ""]) {
        assert.equal((await ana.post("/jobs/claim", body(job.kind, { wait }))).status, 400, JSON.stringify(wait));
      }
      assert.equal((await ana.post("/jobs/claim", body(job.kind, { wait: 0 }))).status, 200);
    });

    it("gives the most urgent first, then the oldest; what has waited ten minutes is as urgent as any", async () => {
      const { ana, world } = scene();
      const kind = freshKind();
      const next = async () => (await claim(ana, kind, { lease_ttl_s: 3600 })).id;
      const queue = async (priority: string) => (await scene().queue({ kind, priority })).job_id as string;
      const old = await queue("P2");
      await world.advance(5 * MINUTE);
      const [two, one] = [await queue("P2"), await queue("P1")];
      await world.advance(1);
      const later = await queue("P1");
      const urgent = await queue("P0");
      assert.equal(await next(), urgent);
      assert.equal(await next(), one);
      await world.advance(5 * MINUTE);
      const newest = await queue("P0");
      assert.equal(await next(), old);
      assert.equal(await next(), newest);
      assert.equal(await next(), later);
      assert.equal(await next(), two);
    });

    it("gives each job to one of many who want one", async () => {
      const { world } = scene();
      const kind = freshKind();
      const made = await Promise.all(Array.from({ length: 20 }, () => scene().queue({ kind })));
      const runners = await Promise.all(
        Array.from({ length: 5 }, (_, i) => scene().program({ name: `racer-${i}`, scope: "executor" })),
      );
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, i) => (runners[i % 5] ?? scene().ana).post("/jobs/claim", body(kind))),
      );
      const given = replies.filter(({ status }) => status === 200).map((reply) => reply.body.job.job_id as string);
      assert.deepEqual(given.sort(), made.map(({ job_id }) => job_id as string).sort());
      assert.equal(replies.filter(({ status }) => status === 204).length, 30);
      const epochs = await world.server.ctx.db.all<{ epoch: number; attempts: number }>(
        sql`SELECT DISTINCT epoch, attempts FROM jobs WHERE kind = ${kind}`,
      );
      assert.deepEqual(
        epochs.map((row) => ({ ...row })),
        [{ epoch: 1, attempts: 1 }],
      );
    });

    it("waits for a job, and gives it as soon as there is one", async () => {
      const { ana, bo, world } = scene();
      const kind = freshKind();
      const waiting = [ana, bo].map((by) => by.post("/jobs/claim", body(kind, { wait: "20s", lease_ttl_s: 60 })));
      await begun(world, 20_000, 2);
      const { job_id: id } = await scene().queue({ kind });
      const first = await Promise.race(waiting);
      assert.deepEqual([first.status, first.body.job.job_id], [200, id]);
      await world.advance(20_000);
      const statuses = (await Promise.all(waiting)).map(({ status }: Reply) => status);
      assert.deepEqual(statuses.sort(), [200, 204]);
    });

    it("takes no job for whoever has gone", async () => {
      const { ana, bo, world } = scene();
      const kind = freshKind();
      const gone = new AbortController();
      const options = { body: body(kind, { wait: "20s" }), headers: ana.headers, signal: gone.signal };
      const waiting = world.call("POST", "/jobs/claim", options);
      const isWaiting = async () => [...world.server.ctx.wake.topics()].includes("claims");
      await until(isWaiting);
      gone.abort();
      await assert.rejects(waiting);
      await until(async () => !(await isWaiting()));
      const { job_id: id } = await scene().queue({ kind });
      const next = await claim(bo, kind);
      assert.deepEqual([next.id, next.epoch], [id, 1]);
    });

    it("keeps a job for whoever says that it lives, also while it waits for an answer", async () => {
      const { ana, world } = scene();
      const { id, lease } = await scene().claimed();
      await pendingAsk(scene(), id, ana);
      for (let i = 0; i < 6; i += 1) {
        await world.advance(5000);
        const reply = await ana.post(`/jobs/${id}/heartbeat`, { note: `turn ${i}` }, lease);
        assert.deepEqual([reply.status, reply.body.state, reply.body.pending_asks], [200, "WAITING_ON_ANSWER", 1]);
        assert.equal(reply.body.lease_expires_at, world.clock.now() + 15_000);
      }
    });

    it("offers a dead executor's job again, and fences all that it writes afterwards", async () => {
      const { ana, bo, world } = scene();
      for (const asks of [false, true]) {
        const old = await scene().claimed(ana, { max_attempts: 2 });
        if (asks) await pendingAsk(scene(), old.id, ana);
        await world.advance(15_000);
        const job = await lost(old.id, "QUEUED");
        assert.deepEqual([job.epoch, job.attempts, job.reason, job.pending_asks], [2, 1, "LEASE_LOST", 0]);
        await fencedEverywhere(old, 2, "QUEUED");
        const next = await claim(bo, old.kind);
        assert.deepEqual([next.id, next.epoch], [old.id, 3]);
        await fencedEverywhere(old, 3, "RUNNING");
        assert.equal((await bo.post(`/jobs/${old.id}/heartbeat`, {}, next.lease)).status, 200);

        const { db } = world.server.ctx;
        const counted = await db.all<{ logs: number; files: number }>(
          sql`SELECT (SELECT count(*) FROM job_events WHERE job_id = ${old.id} AND event = 'log' AND body LIKE '%late%') AS logs,
            (SELECT count(*) FROM artifacts WHERE job_id = ${old.id}) AS files`,
        );
        assert.deepEqual({ ...counted[0] }, { logs: 0, files: 0 });
      }

      async function fencedEverywhere({ id, lease }: Held, epoch: number, state: string): Promise<void> {
        const header = { "parley-lease": lease };
        for (const reply of [
          await ana.post(`/jobs/${id}/heartbeat`, { note: "late" }, lease),
          await ana.post(`/jobs/${id}/release`, { reason: "late" }, lease),
          await ana.post(`/jobs/${id}/finish`, { state: "SUCCEEDED" }, lease),
          await ana.post(`/jobs/${id}/logs`, { message: "late" }, lease),
          await ana.call("PUT", `/jobs/${id}/artifacts/late.txt`, "late", header),
          await ana.post(`/jobs/${id}/heartbeat`, {}),
        ]) {
          assertFenced(reply, epoch, state);
        }
      }
    });

    it("fails a job that was lost too often", async () => {
      const { ana, world } = scene();
      const old = await scene().claimed(ana, { max_attempts: 1 });
      const ask = await pendingAsk(scene(), old.id, ana);
      await world.advance(15_000);
      const job = await lost(old.id, "FAILED");
      assert.deepEqual([job.epoch, job.reason, job.pending_asks], [2, "LEASE_LOST", 0]);
      assertFenced(
        await ana.post(`/jobs/${old.id}/finish`, { state: "FAILED", reason: "LEASE_LOST" }, old.lease),
        2,
        "FAILED",
      );
      const [answer] = await world.server.ctx.db.all<{ error: string }>(
        sql`SELECT error FROM answers WHERE ask_id = ${ask}`,
      );
      assert.equal(answer?.error, `E_CANCELED: job ${old.id} ended (FAILED)`);
      const record = await world.server.ctx.db.all<{ action: string; entry: string }>(
        sql`SELECT action, entry FROM audit WHERE call_id = ${old.id} AND action = 'job.failed'`,
      );
      assert.equal(record.length, 1);
      assert.match(record[0]?.entry ?? "", /"actor":\{"id":"clock","kind":"clock"\}/);
    });

    it("tells nobody else of a lost job than who held it", async () => {
      const { ana, bo } = scene();
      const { id } = await scene().claimed(ana);
      assertNoJob(await bo.post(`/jobs/${id}/heartbeat`, {}, "lease_made_up"));
      assertNoJob(await bo.post(`/jobs/${id}/logs`, { message: "m" }));
      assertFenced(await ana.post(`/jobs/${id}/heartbeat`, {}, "lease_made_up"), 1, "RUNNING");
      assertFenced(await ana.post(`/jobs/${id}/heartbeat`, {}), 1, "RUNNING");
    });

    it("lets one of many end a job", async () => {
      const { ana, planner } = scene();
      const { id, lease } = await scene().claimed();
      const ends = Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? ana.post(`/jobs/${id}/finish`, { state: "SUCCEEDED", result: { i } }, lease)
          : planner.post(`/jobs/${id}/cancel`, {}),
      );
      const replies = await Promise.all(ends);
      const { state } = await stateOf(id);
      const won = replies.filter(({ status }) => status === 200);
      assert.equal(won.length, state === "CANCELED" ? 10 : 1);
      const { db } = scene().world.server.ctx;
      const told = await db.all(sql`SELECT 1 FROM job_events WHERE job_id = ${id} AND event = 'status'`);
      assert.equal(told.length, 3);
    });
  });
}

describe("jobs on two servers with one PostgreSQL", () => {
  it("are claimed at one as soon as they are put in line at the other, and held at both", async () => {
    await using scene = await openJobs("postgres");
    const { world, ana, planner } = scene;
    const node = await world.addNode();
    const kind = freshKind();
    const waiting = ana.at(node).call("POST", "/jobs/claim", { kinds: [kind], worker_id: "w", wait: "20s" });
    await begun(world, 20_000);
    const { job_id: id } = await scene.queue({ kind });
    const { body } = await waiting;
    assert.equal(body.job.job_id, id);
    const header = { "parley-lease": body.lease.token as string };
    assert.equal((await ana.call("POST", `/jobs/${id}/heartbeat`, {}, header)).status, 200);
    const other = freshKind();
    const made = await Promise.all(Array.from({ length: 20 }, () => scene.queue({ kind: other })));
    const claims = Array.from({ length: 50 }, (_, i) =>
      ana.at(i % 2 ? node : world).call("POST", "/jobs/claim", { kinds: [other], worker_id: "w", wait: "0" }),
    );
    const given = (await Promise.all(claims)).filter(({ status }) => status === 200);
    assert.equal(new Set(given.map((reply) => reply.body.job.job_id)).size, made.length);
    assert.equal(given.length, made.length);
    assert.equal((await planner.post(`/jobs/${id}/cancel`, {})).status, 200);
  });
});

describe("a clock that jumps, or a server that was away,", () => {
  it("takes no job away from whoever had no chance to say that it lives", async () => {
    await using scene = await openJobs("sqlite");
    const { ana, world } = scene;
    const alive = await scene.claimed(ana);
    /** Each of the three loops that look at deadlines has gone round. */
    const look = async () => {
      await world.advance(500);
      await begun(world, 250, 3);
    };
    await look();
    // The computer sleeps for two hours: the wall goes on, and nothing else.
    world.clock.oversleep(2 * 60 * MINUTE);
    await look();
    const reply = await ana.post(`/jobs/${alive.id}/heartbeat`, {}, alive.lease);
    assert.deepEqual([reply.status, reply.body.state, reply.body.epoch], [200, "RUNNING", 1], reply.text);
    await world.advance(15_100);
    await advanceUntil(world, 500, async () => (await scene.admin.get(`/jobs/${alive.id}`)).body.state === "QUEUED");
  });

  it("takes none away that was held while no server was there", async () => {
    await using scene = await openJobs("sqlite");
    const { ana, world } = scene;
    const alive = await scene.claimed(ana, { max_attempts: 1 });
    await world.server.stop();
    await world.advance(10 * MINUTE);
    await world.restart();
    const reply = await ana.post(`/jobs/${alive.id}/heartbeat`, {}, alive.lease);
    assert.deepEqual([reply.status, reply.body.epoch], [200, 1], reply.text);
    await world.advance(15_100);
    await advanceUntil(world, 500, async () => (await scene.admin.get(`/jobs/${alive.id}`)).body.state === "FAILED");
  });
});
