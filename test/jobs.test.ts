import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { sql } from "../src/store/sql.ts";
import { DAY, until } from "./contract.ts";
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
} from "./jobs.ts";
import { DATABASES } from "./world.ts";

const invalid = (details: object) => ({ code: "VALIDATION_ERROR", message: "Request body is not valid", details });
const forbidden = (scope: string) => ({
  code: "FORBIDDEN",
  message: `This key lacks the scope ${scope}`,
  details: { scope },
});

/** The states a job has been in, and what the record says of it, in order. */
async function historyOf({ world }: JobScene, id: string): Promise<{ events: string[]; record: string[] }> {
  const events = await world.server.ctx.db.all<{ body: string }>(
    sql`SELECT body FROM job_events WHERE job_id = ${id} AND event = 'status' ORDER BY seq`,
  );
  const record = await world.server.ctx.db.all<{ action: string }>(
    sql`SELECT action FROM audit WHERE call_id = ${id} AND action LIKE 'job.%' ORDER BY seq`,
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
      const wish = {
        ...{ job_id: `J-${on}:1`, kind: freshKind(), spec: { steps: [1, { two: null }] }, env: "prod", repo: "shop" },
        ...{ labels: { team: "a" }, priority: "P0", ttl_s: 60, max_attempts: 2 },
      };
      const made = await planner.post("/jobs", wish);
      assert.equal(made.status, 201, made.text);
      assert.equal(made.headers.get("location"), `/jobs/J-${on}:1`);
      const at = world.clock.now();
      assert.deepEqual(made.body, {
        ...{ job_id: wish.job_id, jobId: wish.job_id, kind: wish.kind, state: "QUEUED", epoch: 0, attempts: 0 },
        ...{ max_attempts: 2, maxAttempts: 2, external: false, env: "prod", repo: "shop", labels: { team: "a" } },
        ...{ priority: "P0", pending_asks: 0, pendingAsks: 0, spec: wish.spec },
        ...{ created_at: at, createdAt: at, updated_at: at, updatedAt: at },
      });
      assert.deepEqual((await planner.get(`/jobs/J-${on}:1`)).body, made.body);

      const again = await planner.post("/jobs", { ...wish, env: "prod", unknown: 1, external: null });
      assert.deepEqual([again.status, again.body], [200, made.body]);
      const other = await planner.post("/jobs", { ...wish, priority: "P1" });
      const taken = { code: "JOB_ID_CONFLICT", message: "job_id was used with another body" };
      assertRelayError(other, 409, { ...taken, details: { job_id: wish.job_id } });
      const stranger = await scene().program({ name: `other-${on}`, scope: "assign" });
      assertRelayError(await stranger.post("/jobs", wish), 409, { ...taken, details: { job_id: wish.job_id } });
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
      const wish = { job_id: `once-${on}`, kind: freshKind() };
      const replies = await Promise.all(Array.from({ length: 20 }, () => planner.post("/jobs", wish)));
      assert.deepEqual(replies.map(({ status }) => status).sort(), [...Array(19).fill(200), 201]);
      assert.deepEqual((await historyOf(scene(), wish.job_id)).events, ["none > QUEUED 0"]);
    });

    it("says which field is wrong, and all of them where there are more", async () => {
      const { planner, ana } = scene();
      const check = async (body: unknown, details: object, by = planner, path = "/jobs") =>
        assertRelayError(await by.post(path, body), 400, invalid(details));
      await check({ job_id: "a b" }, { field: "job_id", constraint: "format" });
      await check({ job_id: "x".repeat(129) }, { field: "job_id", constraint: "format" });
      await check({ kind: 3 }, { field: "kind", constraint: "type" });
      await check({ priority: "P3" }, { field: "priority", constraint: "enum", allowed: ["P0", "P1", "P2"] });
      await check({ ttl_s: 0 }, { field: "ttl_s", constraint: "range", min: 1, max: 2_592_000 });
      await check({ labels: { a: 1 } }, { field: "labels", constraint: "type" });
      await check({ spec: "x".repeat(70_000) }, { field: "spec", constraint: "size", max_bytes: 65_536 });
      await check(
        { max_attempts: 0, external: "yes" },
        {
          ...{ field: "external", constraint: "type" },
          errors: [
            { field: "external", constraint: "type" },
            { field: "max_attempts", constraint: "range", min: 1, max: 100 },
          ],
        },
      );
      const claimPath = "/jobs/claim";
      await check({}, { field: "worker_id", constraint: "required" }, ana, claimPath);
      await check(
        { worker_id: "w", kinds: [] },
        { field: "kinds", constraint: "length", min: 1, max: 32 },
        ana,
        claimPath,
      );
      await check({ worker_id: "w", wait: "soon" }, { field: "wait", constraint: "format" }, ana, claimPath);
      const ttl = { field: "lease_ttl_s", constraint: "range", min: 5, max: 3600 };
      await check({ worker_id: "w", lease_ttl_s: 4 }, ttl, ana, claimPath);
      const { id, lease } = await scene().claimed();
      const post = (path: string, body: unknown) => ana.post(`/jobs/${id}/${path}`, body, lease);
      const state = { field: "state", constraint: "enum", allowed: ["SUCCEEDED", "FAILED"] };
      assertRelayError(await post("finish", { state: "DONE" }), 400, invalid(state));
      const type = { field: "type", constraint: "const", allowed: ["Heartbeat"] };
      assertRelayError(await post("heartbeat", { type: "Beat" }), 400, invalid(type));
      const message = { field: "message", constraint: "required" };
      assertRelayError(await post("logs", [{ message: "fine" }, { level: "info" }]), 400, invalid(message));
      const many = Array.from({ length: 101 }, () => ({ message: "m" }));
      const length = { field: "logs", constraint: "length", min: 1, max: 100 };
      assertRelayError(await post("logs", many), 400, invalid(length));
      assertRelayError(await post("finish", "{"), 400, {
        code: "INVALID_JSON",
        message: "Request body is not JSON",
      });
      const state2 = await ana.get("/jobs?state=DONE");
      assert.deepEqual([state2.status, state2.body.error.details.field], [400, "state"]);
      assert.equal((await ana.get("/jobs?cursor=x")).body.error.details.field, "cursor");
    });

    it("refuses keys that may not, and whoever has none where a key is needed", async () => {
      const { planner, ana, agent, admin } = scene();
      const person = await scene().program({ name: `answers-${on}`, scope: "answer" });
      const { id } = await scene().claimed();
      const check = async (by: Program, method: string, path: string, body: unknown, scope: string) =>
        assertRelayError(await by.call(method, path, body), 403, forbidden(scope));
      await check(ana, "POST", "/jobs", {}, "assign");
      await check(agent, "POST", "/jobs", {}, "assign");
      await check(planner, "POST", "/jobs", { external: true }, "executor");
      for (const by of [admin, person]) await check(by, "POST", "/jobs", {}, "assign");
      for (const by of [planner, agent, admin, person]) {
        await check(by, "POST", "/jobs/claim", { worker_id: "w" }, "executor");
        for (const verb of ["heartbeat", "release"]) await check(by, "POST", `/jobs/${id}/${verb}`, {}, "executor");
        await check(by, "POST", `/jobs/${id}/finish`, { state: "FAILED" }, "executor");
      }
      for (const by of [planner, admin, person]) {
        await check(by, "POST", `/jobs/${id}/logs`, { message: "m" }, "executor");
        await check(by, "PUT", `/jobs/${id}/artifacts/a.txt`, "x", "executor");
      }
      for (const path of ["/jobs", `/jobs/${id}`, `/jobs/${id}/events`, `/jobs/${id}/artifacts/a`]) {
        await check(person, "GET", path, undefined, "executor");
      }
      await check(person, "POST", `/jobs/${id}/cancel`, {}, "executor");

      const badKey = { headers: { authorization: "Bearer parley_executor_none" } };
      const reply = await scene().world.call("GET", `/jobs/${id}`, badKey);
      assertRelayError(reply, 401, { code: "UNAUTHORIZED", message: "A valid key is required." });
    });

    it("lets whoever has no key work as an executor on this computer", async () => {
      const { world } = scene();
      const made = await world.call("POST", "/jobs", { body: { external: true } });
      assert.equal(made.status, 201);
      assert.equal((await world.call("GET", `/jobs/${made.body.job_id}`)).status, 200);
      assertRelayError(await world.call("POST", "/jobs", { body: {} }), 403, forbidden("assign"));
    });

    it("shows a job to its owner, its holder and an administrator, and to nobody else that there is one", async () => {
      const { planner, ana, bo, agent, admin } = scene();
      const { id } = await scene().claimed(ana);
      for (const by of [planner, ana, admin]) assert.equal((await by.get(`/jobs/${id}`)).status, 200);
      const missing = await bo.get("/jobs/no-such-job");
      for (const by of [bo, agent]) {
        for (const path of ["", "/events", "/artifacts/a.txt"]) {
          const reply = await by.get(`/jobs/${id}${path}`);
          assertNoJob(reply);
          assert.equal(reply.text, missing.text);
        }
        assertNoJob(await by.post(`/jobs/${id}/cancel`, {}));
        assertNoJob(await by.post(`/jobs/${id}/logs`, { message: "m" }, "lease_guessed"));
      }
      assertNoJob(await bo.post(`/jobs/${id}/heartbeat`, {}, "lease_guessed"));
      assertNoJob(await bo.post(`/jobs/${id}/finish`, { state: "FAILED" }, "lease_guessed"));
      // Whoever holds a job may not call it off.
      assertNoJob(await ana.post(`/jobs/${id}/cancel`, {}));
      assertNoJob(await ana.get("/jobs/a%20b"));
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
      assertFenced(await ana.post(`/jobs/${id}/heartbeat`, {}), 0, "RUNNING");
      assertFenced(await ana.post(`/jobs/${id}/release`, {}), 0, "RUNNING");
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
      await until(async () => (await admin.get(`/jobs/${id}`)).body.state === "EXPIRED");
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

    it("has a refusal for whatever is odd, and never breaks", async () => {
      const { planner, ana } = scene();
      const { id, lease } = await scene().claimed();
      const cursor = (place: unknown) => Buffer.from(JSON.stringify(place)).toString("base64url");
      const odd = [
        "\0",
        "a\0b",
        "..",
        "%",
        "\ud83d\ude00",
        "__proto__",
        " ",
        "x".repeat(5000),
        1,
        1e308,
        [],
        {},
        [[]],
        true,
      ];
      for (const value of odd) {
        const text = encodeURIComponent(String(value));
        for (const reply of [
          ...["job_id", "kind", "spec", "env", "repo", "labels", "priority", "ttl_s", "max_attempts", "external"].map(
            (field) => planner.post("/jobs", { [field]: value }),
          ),
          ...["kinds", "worker_id", "lease_ttl_s", ...(value === 1 ? [] : ["wait"])].map((field) =>
            ana.post("/jobs/claim", { kinds: ["none"], worker_id: "w", wait: "0", [field]: value }),
          ),
          planner.post("/jobs", { labels: { [String(value)]: String(value) } }),
          ...["state", "kind", "cursor", "limit"].map((name) => ana.get(`/jobs?${name}=${text}`)),
          ana.get(`/jobs?cursor=${cursor([1, value])}`),
          ana.get(`/jobs?cursor=${cursor([value, "x"])}`),
          ana.get(`/jobs/${text}`),
          ana.get(`/jobs/${id}/artifacts/${text}`),
          ...["message", "level", "step_id", "ask_id", "fields"].map((field) =>
            ana.post(`/jobs/${id}/logs`, { message: "m", [field]: value }, lease),
          ),
          ana.post(`/jobs/${id}/logs`, value, lease),
          ana.post(`/jobs/${id}/heartbeat`, { note: value }, lease),
          ana.post(`/jobs/${id}/finish`, { state: value, reason: value, result: value, artifacts: value }, lease),
          ana.post(`/jobs/${id}/heartbeat`, {}, encodeURIComponent(String(value)).slice(0, 1000)),
        ]) {
          const { status, body, text: told } = await reply;
          assert.ok(status < 500 && status !== 429, `${JSON.stringify(value)}: ${status} ${told}`);
          if (status >= 400) assert.equal(typeof body.error?.message, "string", told);
        }
      }
      assert.equal((await ana.get(`/jobs/${id}`)).body.state, "RUNNING");
    });

    it("answers methods that a path does not take with those it takes", async () => {
      const reply = await scene().ana.call("DELETE", "/jobs/x/artifacts/a", undefined);
      assert.deepEqual([reply.status, reply.headers.get("allow")], [405, "GET, PUT"]);
      assert.equal(reply.body.error.code, "METHOD_NOT_ALLOWED");
    });
  });

  describe(`the relay switched off on ${on}`, () => {
    const OFF = { code: "FEATURE_DISABLED", message: "phase2_ask_answer is off" };

    it("serves no jobs at all, or only those that are named", async () => {
      await using none = await openJobs(on, { env: { PARLEY_PHASE2_ASK_ANSWER: "0" } });
      assertRelayError(await none.planner.post("/jobs", {}), 404, OFF);
      assertRelayError(await none.ana.post("/jobs/claim", { worker_id: "w" }), 404, OFF);
      for (const path of ["/jobs", "/jobs/x", "/jobs/x/events", "/jobs/x/artifacts/a"]) {
        assertRelayError(await none.ana.get(path), 404, OFF);
      }
      assertRelayError(await none.world.call("GET", "/jobs", { headers: { authorization: "Bearer no" } }), 401, {
        ...{ code: "UNAUTHORIZED", message: "A valid key is required." },
      });

      const file = join(mkdtempSync(join(tmpdir(), "parley-settings-")), "parley.yaml");
      writeFileSync(file, 'features:\n  phase2_ask_answer: { jobs: ["J-*"], labels: { team: "a" } }\n');
      await using some = await openJobs(on, { env: { PARLEY_CONFIG: file } });
      assert.equal((await some.planner.post("/jobs", { job_id: "J-1" })).status, 201);
      assert.equal((await some.planner.post("/jobs", { job_id: "K-1", labels: { team: "a" } })).status, 201);
      assertRelayError(await some.planner.post("/jobs", { job_id: "K-2", labels: { team: "b" } }), 404, OFF);
    });
  });
}
