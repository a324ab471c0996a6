import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { advanceUntil, DAY, until } from "../support/contract.ts";
import {
  answerAsk,
  assertClosed,
  assertFenced,
  assertNoJob,
  assertRelayError,
  claim,
  freshKind,
  openJobs,
  pendingAsk,
  sharedJobs,
  type JobScene,
  type Program,
} from "../support/jobs.ts";
import { DATABASES } from "../support/world.ts";

/** The states a job has been in, and what the record says of it, in order. */
async function historyOf({ world }: JobScene, id: string): Promise<{ events: string[]; record: string[] }> {
  const events = await world.server.ctx.db.all<{ body: string }>(
    sql`SELECT body FROM job_events WHERE job_id = ${id} AND event = 'status' ORDER BY seq`,
  );
  const record = await world.server.ctx.db.all<{ action: string }>(
    sql`SELECT action FROM audit WHERE call_id = ${id} AND action LIKE 'job.%' ORDER BY id`,
  );
  const told = events.map(({ body }) => JSON.parse(body) as { from?: string; state: string; epoch: number });
  return {
    events: told.map(({ from = "none", state, epoch }) => `${from} > ${state} ${epoch}`),
    record: record.map(({ action }) => action.slice("job.".length)),
  };
}

const HISTORY = {
  queued: ["none > QUEUED 0", "QUEUED > RUNNING 1"],
  external: ["none > RUNNING 0"],
} as const;

for (const on of DATABASES) {
  describe(`jobs on ${on}`, () => {
    const scene = sharedJobs(on);
    const stateOf = async (id: string) => (await scene().admin.get(`/jobs/${id}`)).body.state as string;

    it("puts a job in line, says all there is of it in both spellings, and shows it again", async () => {
      const { planner, world } = scene();
      const input = {
        job_id: `J-${on}:1`,
        kind: freshKind(),
        spec: { steps: [1, { two: null }] },
        env: "prod",
        repo: "shop",
        labels: { team: "a" },
        priority: "P0",
        ttl_s: 60,
        max_attempts: 2,
      };
      const made = await planner.post("/jobs", input);
      assert.equal(made.status, 201, made.text);
      assert.equal(made.headers.get("location"), `/jobs/J-${on}:1`);
      const at = world.clock.now();
      assert.deepEqual(made.body, {
        job_id: input.job_id,
        jobId: input.job_id,
        kind: input.kind,
        state: "QUEUED",
        epoch: 0,
        attempts: 0,
        max_attempts: 2,
        maxAttempts: 2,
        external: false,
        env: "prod",
        repo: "shop",
        labels: { team: "a" },
        priority: "P0",
        pending_asks: 0,
        pendingAsks: 0,
        spec: input.spec,
        created_at: at,
        createdAt: at,
        updated_at: at,
        updatedAt: at,
      });
      assert.deepEqual((await planner.get(`/jobs/J-${on}:1`)).body, made.body);

      const again = await planner.post("/jobs", { ...input, env: "prod", unknown: 1, external: null });
      assert.deepEqual([again.status, again.body], [200, made.body]);
      const other = await planner.post("/jobs", { ...input, priority: "P1" });
      const taken = { code: "JOB_ID_CONFLICT", message: "job_id was used with another body" };
      assertRelayError(other, 409, { ...taken, details: { job_id: input.job_id } });
      const stranger = await scene().program({ name: `other-${on}`, scope: "assign" });
      assertRelayError(await stranger.post("/jobs", input), 409, { ...taken, details: { job_id: input.job_id } });
    });

    it("names a job that has no name, in order of time", async () => {
      const ids = [(await scene().queue()).job_id as string];
      await scene().world.advance(5);
      ids.push((await scene().queue()).job_id as string);
      for (const id of ids)
        assert.match(id, /^job_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.deepEqual(ids.toSorted(), ids);
    });

    it("takes one of several that register one id at once", async () => {
      const { planner } = scene();
      const input = { job_id: `once-${on}`, kind: freshKind() };
      const replies = await Promise.all(Array.from({ length: 20 }, () => planner.post("/jobs", input)));
      assert.deepEqual(replies.map(({ status }) => status).sort(), [...Array(19).fill(200), 201]);
      assert.deepEqual((await historyOf(scene(), input.job_id)).events, ["none > QUEUED 0"]);
    });

    it("lists a principal's own jobs and those it holds, a page at a time", async () => {
      await using own = await openJobs(on);
      const { planner, ana, bo, admin, world } = own;
      const ids: string[] = [];
      for (let i = 0; i < 5; i += 1) {
        await world.advance(1);
        ids.unshift((await own.queue({ kind: i === 2 ? "odd" : "even" })).job_id as string);
      }
      const held = await claim(ana, "odd");
      const pages: string[][] = [];
      let cursor = "";
      do {
        const { body } = await planner.get(`/jobs?limit=2${cursor}`);
        pages.push(body.jobs.map((job: { job_id: string }) => job.job_id));
        cursor = body.next_cursor === undefined ? "" : `&cursor=${body.next_cursor}`;
      } while (cursor);
      assert.deepEqual(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
      const idsOf = async (by: Program, query = "") =>
        (await by.get(`/jobs${query}`)).body.jobs.map((job: { job_id: string }) => job.job_id);
      assert.deepEqual(await idsOf(ana), [held.id]);
      assert.deepEqual(await idsOf(bo), []);
      assert.deepEqual(await idsOf(admin), ids);
      assert.deepEqual(await idsOf(planner, "?state=RUNNING"), [held.id]);
      assert.deepEqual(
        await idsOf(planner, "?kind=even&state=QUEUED,RUNNING"),
        ids.filter((id) => id !== held.id),
      );
    });

    it("waits while an ask is pending, and ends only when its executor says so", async () => {
      const { ana } = scene();
      for (const state of ["SUCCEEDED", "FAILED"]) {
        const { id, lease } = await scene().claimed(ana);
        const [one, other] = [await pendingAsk(scene(), id, ana), await pendingAsk(scene(), id, ana)];
        const waiting = (await ana.get(`/jobs/${id}`)).body;
        assert.deepEqual([waiting.state, waiting.pending_asks], ["WAITING_ON_ANSWER", 2]);
        await answerAsk(scene(), id, one);
        assert.equal(await stateOf(id), "WAITING_ON_ANSWER");
        await answerAsk(scene(), id, other);
        assert.equal(await stateOf(id), "RUNNING");
        const result = { sum: 3, big: 12 };
        const finish = { state, reason: "as planned", result, artifacts: ["out/report.md"] };
        const done = await ana.post(`/jobs/${id}/finish`, finish, lease);
        assert.equal(done.status, 200, done.text);
        const { state: ended, reason, result: kept, artifacts, epoch, lease_expires_at: expires } = done.body;
        assert.deepEqual(
          [ended, reason, kept, artifacts, epoch, expires],
          [state, "as planned", result, finish.artifacts, 1, undefined],
        );
        const again = await ana.post(`/jobs/${id}/finish`, finish, lease);
        assert.deepEqual([again.status, again.body], [200, done.body]);
        assertClosed(await ana.post(`/jobs/${id}/finish`, { ...finish, reason: "other" }, lease), id, state);
        assertClosed(await ana.post(`/jobs/${id}/heartbeat`, {}, lease), id, state);
        assertClosed(await ana.post(`/jobs/${id}/release`, {}, lease), id, state);
        assertClosed(await ana.post(`/jobs/${id}/logs`, { message: "m" }, lease), id, state);
        assertClosed(await ana.call("PUT", `/jobs/${id}/artifacts/a`, "x", { "parley-lease": lease }), id, state);
        assertClosed(await scene().planner.post(`/jobs/${id}/cancel`, {}), id, state);
        assert.deepEqual(await historyOf(scene(), id), {
          events: [
            ...HISTORY.queued,
            "RUNNING > WAITING_ON_ANSWER 1",
            "WAITING_ON_ANSWER > RUNNING 1",
            `RUNNING > ${state} 1`,
          ],
          record: ["queued", "running", "waiting_on_answer", "running", state.toLowerCase()],
        });
      }
    });

    it("finishes while it waits, and closes what it asked", async () => {
      const { ana } = scene();
      const { id, lease } = await scene().claimed(ana);
      const ask = await pendingAsk(scene(), id, ana);
      assert.equal((await ana.post(`/jobs/${id}/finish`, { state: "FAILED" }, lease)).body.pending_asks, 0);
      const [answer] = await scene().world.server.ctx.db.all<Record<string, unknown>>(
        sql`SELECT a.status, s.error, s.error_code FROM asks a JOIN answers s ON s.ask_id = a.ask_id WHERE a.ask_id = ${ask}`,
      );
      const error = `E_CANCELED: job ${id} ended (FAILED)`;
      assert.deepEqual({ ...answer }, { status: "ERROR", error, error_code: "E_CANCELED" });
      assert.equal((await historyOf(scene(), id)).events.at(-1), "WAITING_ON_ANSWER > FAILED 1");
    });

    it("goes back in line when its holder releases it, and the attempt does not count", async () => {
      const { ana, bo } = scene();
      for (const asks of [false, true]) {
        const { id, kind, lease } = await scene().claimed(ana, { max_attempts: 1 });
        if (asks) await pendingAsk(scene(), id, ana);
        const from = asks ? "WAITING_ON_ANSWER" : "RUNNING";
        const released = await ana.post(`/jobs/${id}/release`, { reason: "no disk" }, lease);
        assert.equal(released.status, 200, released.text);
        const { state, epoch, attempts, reason, pending_asks } = released.body;
        assert.deepEqual([state, epoch, attempts, reason, pending_asks], ["QUEUED", 2, 0, "no disk", 0]);
        assertFenced(await ana.post(`/jobs/${id}/release`, {}, lease), 2, "QUEUED");
        assert.equal((await historyOf(scene(), id)).events.at(-1), `${from} > QUEUED 2`);
        const next = await claim(bo, kind);
        assert.deepEqual([next.id, next.epoch], [id, 3]);
        assert.equal((await bo.get(`/jobs/${id}`)).body.reason, undefined);
      }
    });

    it("is called off by its owner or an administrator, in any open state", async () => {
      const { planner, ana, admin } = scene();
      const queued = { id: (await scene().queue()).job_id as string, lease: "" };
      const running = await scene().claimed(ana);
      const waiting = await scene().claimed(ana);
      const ask = await pendingAsk(scene(), waiting.id, ana);
      const from = { QUEUED: queued, RUNNING: running, WAITING_ON_ANSWER: waiting };
      for (const [state, { id, lease }] of Object.entries(from)) {
        const by = state === "RUNNING" ? admin : planner;
        const canceled = await by.post(`/jobs/${id}/cancel`, { reason: "not needed" });
        const epoch = state === "QUEUED" ? 1 : 2;
        assert.equal(canceled.status, 200, canceled.text);
        assert.deepEqual(
          [canceled.body.state, canceled.body.epoch, canceled.body.reason],
          ["CANCELED", epoch, "not needed"],
        );
        const again = await planner.post(`/jobs/${id}/cancel`, { reason: "again" });
        assert.deepEqual([again.status, again.body], [200, canceled.body]);
        const { events, record } = await historyOf(scene(), id);
        assert.deepEqual([events.at(-1), record.at(-1)], [`${state} > CANCELED ${epoch}`, "canceled"]);
        if (lease) assertFenced(await ana.post(`/jobs/${id}/finish`, { state: "FAILED" }, lease), 2, "CANCELED");
      }
      const [answer] = await scene().world.server.ctx.db.all<{ error: string }>(
        sql`SELECT error FROM answers WHERE ask_id = ${ask}`,
      );
      assert.equal(answer?.error, `E_CANCELED: job ${waiting.id} ended (CANCELED)`);
    });

    it("ends when its time to live is over, in any open state", async () => {
      const { ana, world } = scene();
      const queued = (await scene().queue({ ttl_s: 30 })).job_id as string;
      const running = await scene().claimed(ana, { ttl_s: 30 });
      const waiting = await scene().claimed(ana, { ttl_s: 30 });
      await pendingAsk(scene(), waiting.id, ana);
      await world.advance(10_000);
      for (const { id, lease } of [running, waiting]) await ana.post(`/jobs/${id}/heartbeat`, {}, lease);
      await world.advance(10_000);
      for (const { id, lease } of [running, waiting]) await ana.post(`/jobs/${id}/heartbeat`, {}, lease);
      await world.advance(10_000);
      const ends: [string, string][] = [
        [queued, "QUEUED > EXPIRED 1"],
        [running.id, "RUNNING > EXPIRED 2"],
        [waiting.id, "WAITING_ON_ANSWER > EXPIRED 2"],
      ];
      for (const [id, end] of ends) {
        await until(async () => (await stateOf(id)) === "EXPIRED");
        const { events, record } = await historyOf(scene(), id);
        assert.deepEqual([events.at(-1), record.at(-1)], [end, "expired"]);
      }
      assertFenced(await ana.post(`/jobs/${running.id}/heartbeat`, {}, running.lease), 2, "EXPIRED");
      assertClosed(await scene().planner.post(`/jobs/${queued}/cancel`, {}), queued, "EXPIRED");
      assert.equal((await ana.post("/jobs/claim", { kinds: ["x"], worker_id: "w", wait: "0" })).status, 204);
    });

    it("runs elsewhere where it is external: its owner holds it without a lease, nobody claims it", async () => {
      const { ana, agent, bo } = scene();
      const kind = freshKind();
      const made = await ana.post("/jobs", { external: true, kind });
      assert.deepEqual([made.status, made.body.state, made.body.epoch, made.body.external], [201, "RUNNING", 0, true]);
      const id = made.body.job_id as string;
      assert.equal((await bo.post("/jobs/claim", { kinds: [kind], worker_id: "w", wait: "0" })).status, 204);
      assert.deepEqual((await ana.post(`/jobs/${id}/logs`, { type: "Log", message: "begun" })).body, { accepted: 1 });
      const beat = await ana.post(`/jobs/${id}/heartbeat`, { note: "half way" });
      const said = { job_id: id, jobId: id, state: "RUNNING", epoch: 0, pending_asks: 0, pendingAsks: 0 };
      assert.deepEqual([beat.status, beat.body], [200, said]);
      assertRelayError(await ana.post(`/jobs/${id}/release`, {}), 400, {
        code: "VALIDATION_ERROR",
        message: "An external job has no lease to give back: finish it or cancel it.",
      });
      assertNoJob(await bo.post(`/jobs/${id}/release`, {}));
      assertNoJob(await bo.post(`/jobs/${id}/finish`, { state: "SUCCEEDED" }));
      const ask = await pendingAsk(scene(), id, ana);
      await answerAsk(scene(), id, ask);
      const done = await ana.post(`/jobs/${id}/finish`, { state: "SUCCEEDED" });
      assert.deepEqual([done.status, done.body.state], [200, "SUCCEEDED"]);
      assert.deepEqual((await historyOf(scene(), id)).events, [
        ...HISTORY.external,
        "RUNNING > WAITING_ON_ANSWER 0",
        "WAITING_ON_ANSWER > RUNNING 0",
        "RUNNING > SUCCEEDED 0",
      ]);
      const agents = await agent.post("/jobs", { external: true });
      assert.equal(agents.status, 201);
      assert.equal((await agent.post(`/jobs/${agents.body.job_id}/logs`, { message: "m" })).status, 202);
    });

    it("lives a week after the last call where it is external", async () => {
      await using own = await openJobs(on);
      const { ana, world, admin } = own;
      const { job_id: id } = (await ana.post("/jobs", { external: true, ttl_s: 60 })).body;
      await world.advance(6 * DAY);
      assert.equal((await ana.get(`/jobs/${id}`)).body.state, "RUNNING");
      await world.advance(6 * DAY);
      assert.equal((await ana.post(`/jobs/${id}/logs`, { message: "still here" })).status, 202);
      await world.advance(7 * DAY);
      // A call that comes before the server looks would let the job live on.
      await advanceUntil(world, 1000, async () => {
        const [row] = await world.server.ctx.db.all<{ state: string }>(
          sql`SELECT state FROM jobs WHERE job_id = ${id}`,
        );
        return row?.state === "EXPIRED";
      });
      assert.equal((await admin.get(`/jobs/${id}`)).body.state, "EXPIRED");
      assert.equal((await historyOf(own, id)).events.at(-1), "RUNNING > EXPIRED 1");
    });

    it("keeps secrets out of logs, notes and reasons", async () => {
      const { ana, world } = scene();
      const { id, lease } = await scene().claimed(ana);
      const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
      await ana.post(`/jobs/${id}/logs`, { message: `with ${secret}`, fields: { deep: [{ token: secret }] } }, lease);
      await ana.post(`/jobs/${id}/heartbeat`, { note: `note ${secret}` }, lease);
      const finish = { state: "FAILED", reason: `because of ${secret}` };
      const done = await ana.post(`/jobs/${id}/finish`, finish, lease);
      assert.match(done.body.reason, /^because of \[secret:[a-z-]+\]$/);
      assert.equal((await ana.post(`/jobs/${id}/finish`, finish, lease)).status, 200);
      const rows = await world.server.ctx.db.all<{ body: string }>(
        sql`SELECT body FROM job_events WHERE job_id = ${id}`,
      );
      const text = rows.map(({ body }) => body).join("\n");
      assert.match(text, /note \[secret:/);
      assert.ok(!text.includes(secret));
      const record = await world.server.ctx.db.all(sql`SELECT data FROM audit WHERE call_id = ${id}`);
      assert.ok(!JSON.stringify(record).includes(secret));
    });
  });
}
