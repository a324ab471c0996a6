import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { assertNoJob, assertRelayError, openJobs, sharedJobs, type Program } from "../support/jobs.ts";
import { ONE_DATABASE } from "../support/world.ts";

const invalid = (details: object) => ({ code: "VALIDATION_ERROR", message: "Request body is not valid", details });
const forbidden = (scope: string) => ({
  code: "FORBIDDEN",
  message: `This key lacks the scope ${scope}`,
  details: { scope },
});

for (const on of ONE_DATABASE) {
  describe(`what is refused of jobs on ${on}`, () => {
    const scene = sharedJobs(on);

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
          field: "external",
          constraint: "type",
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
      const check = async (by: Program, scope: string, ...request: Parameters<Program["call"]>) =>
        assertRelayError(await by.call(...request), 403, forbidden(scope));
      await check(ana, "assign", "POST", "/jobs", {});
      await check(agent, "assign", "POST", "/jobs", {});
      await check(planner, "executor", "POST", "/jobs", { external: true });
      for (const by of [admin, person]) await check(by, "assign", "POST", "/jobs", {});
      for (const by of [planner, agent, admin, person]) {
        await check(by, "executor", "POST", "/jobs/claim", { worker_id: "w" });
        for (const verb of ["heartbeat", "release"]) await check(by, "executor", "POST", `/jobs/${id}/${verb}`, {});
        await check(by, "executor", "POST", `/jobs/${id}/finish`, { state: "FAILED" });
      }
      for (const by of [planner, admin, person]) {
        await check(by, "executor", "POST", `/jobs/${id}/logs`, { message: "m" });
        await check(by, "executor", "PUT", `/jobs/${id}/artifacts/a.txt`, "x");
      }
      for (const path of ["/jobs", `/jobs/${id}`, `/jobs/${id}/events`, `/jobs/${id}/artifacts/a`]) {
        await check(person, "executor", "GET", path);
      }
      await check(person, "executor", "POST", `/jobs/${id}/cancel`, {});

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
      // The holder of a job may not cancel it.
      assertNoJob(await ana.post(`/jobs/${id}/cancel`, {}));
      assertNoJob(await ana.get("/jobs/a%20b"));
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
        code: "UNAUTHORIZED",
        message: "A valid key is required.",
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
