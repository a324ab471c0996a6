import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSignInLink } from "../../../src/access/create-sign-in-link.ts";
import { SCOPES } from "../../../src/lib/secrets/key-text.ts";
import { fresh } from "../../support/contract.ts";
import { OPERATOR } from "../../support/identities.ts";
import { assertRelayError } from "../../support/jobs.ts";
import { invalidQuery, sharedRelay, type RelayScene } from "../../support/relay.ts";
import { ONE_DATABASE } from "../../support/world.ts";

async function sessionOf({ world }: RelayScene, person: string): Promise<Record<string, string>> {
  const { code } = await createSignInLink(world.server.ctx, person);
  const reply = await world.call("POST", "/session", { body: { code } });
  const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { cookie, "sec-fetch-site": "same-origin" };
}

for (const on of ONE_DATABASE) {
  describe(`everybody's asks and jobs at the relay on ${on}`, () => {
    const shared = sharedRelay(on);

    it("are for admins alone, by their key or their session", async () => {
      const scene = shared();
      const { world } = scene;
      const { ask_id: ask, job_id: job } = await scene.ask();
      const dana = await scene.person();
      const [member, operator] = [await sessionOf(scene, dana.id), await sessionOf(scene, OPERATOR)];
      const paths = [
        "/asks?view=admin",
        `/asks/${ask}?view=admin`,
        `/asks/${ask}/late`,
        `/asks/${ask}/shared_by`,
        "/jobs?view=admin",
        `/jobs/${job}?view=admin`,
        `/jobs/${job}/asks?view=admin`,
        `/jobs/${job}/history`,
        `/jobs/${job}/events?view=admin`,
      ];
      for (const path of paths) {
        const status = async (headers: Record<string, string>) => (await world.call("HEAD", path, { headers })).status;
        assert.equal(await status({}), 401, `${path}: nobody`);
        assert.equal(await status(member), 403, `${path}: a member`);
        assert.equal(await status(operator), 200, `${path}: an admin's session`);
        assert.equal(await status({ ...operator, ...scene.ana.headers }), 403, `${path}: a key beside the session`);
        for (const scope of SCOPES) {
          const person = scope === "answer" ? dana.id : undefined;
          const { headers } = await scene.program({ name: fresh("any"), scope, ...(person && { person }) });
          assert.equal(await status(headers), scope === "admin" ? 200 : 403, `${path}: ${scope}`);
        }
      }
      const own = (path: string) => world.call("GET", path, { headers: operator });
      for (const path of [`/asks/${ask}`, `/jobs/${job}`, `/jobs/${job}/asks`, `/jobs/${job}/events`]) {
        assert.equal((await own(path)).status, 404, `${path}: without view, a session is nobody's key`);
      }
      assert.deepEqual((await own("/jobs")).body.jobs, []);
    });

    it("stay hidden from other executors, whatever a list is asked for", async () => {
      const scene = shared();
      const { ana, bo } = scene;
      const asked = await scene.ask({ prompt: "Which of mine?" }, ana);
      for (const query of ["", "?view=", "?view=own&view=", "?state=RUNNING,WAITING_ON_ANSWER"]) {
        const { status, body, text } = await bo.get(`/jobs${query}`);
        assert.deepEqual([status, body.jobs], [200, []], text);
        assert.equal((await bo.get(`/asks/${asked.ask_id}${query}`)).status, 404, query);
        assert.equal((await bo.get(`/jobs/${asked.job_id}${query}`)).status, 404, query);
        assert.equal((await bo.get(`/jobs/${asked.job_id}/asks${query}`)).status, 404, query);
        assert.equal((await bo.get(`/asks${query}`)).status, 403, query);
      }
      const own = (await ana.get(`/jobs/${asked.job_id}`)).body;
      assert.deepEqual([own.owner, own.title, own.seq], [undefined, undefined, undefined], "only admins are told more");
      const ask = (await ana.get(`/asks/${asked.ask_id}`)).body;
      assert.deepEqual([ask.asked_by, ask.people, ask.late], [undefined, undefined, undefined]);
    });

    it("are shown by no other view, and in pages as long as an admin wants", async () => {
      const scene = shared();
      const { admin, bo } = scene;
      const { ask_id: ask, job_id: job } = await scene.ask();
      await scene.ask();
      const other = invalidQuery({ field: "view", constraint: "enum", allowed: ["admin"] });
      for (const path of [
        "/asks",
        `/asks/${ask}`,
        "/jobs",
        `/jobs/${job}`,
        `/jobs/${job}/asks`,
        `/jobs/${job}/events`,
      ]) {
        for (const by of [admin, bo]) assertRelayError(await by.get(`${path}?view=ADMIN`), 400, other);
      }
      for (const list of ["asks", "jobs"]) {
        const { body } = await admin.get(`/${list}?view=admin&limit=1`);
        const next = (await admin.get(`/${list}?view=admin&limit=1&cursor=${body.next_cursor}`)).body;
        assert.deepEqual([body[list].length, next[list].length], [1, 1], list);
        assert.notDeepEqual(body[list], next[list]);
        const long = invalidQuery({ field: "limit", constraint: "range", min: 1, max: 100 });
        assertRelayError(await admin.get(`/${list}?view=admin&limit=101`), 400, long);
      }
    });

    it("have the names of the relay, whole and as lines", async () => {
      const scene = shared();
      const { admin, ana, bo } = scene;
      const asked = await scene.ask({ prompt: "Which region?" }, ana);
      const { asks, open } = (await admin.get("/asks?view=admin&status=PENDING")).body;
      const { created_at } = asks.find(({ ask_id }: { ask_id: string }) => ask_id === asked.ask_id);
      assert.deepEqual([created_at, open], [asked.created_at, asks.length]);
      await scene.withPeople(asked);
      const whole = (await admin.get(`/asks/${asked.ask_id}?view=admin`)).body;
      const { stages, warnings, constraints } = (await ana.get(`/asks/${asked.ask_id}`)).body;
      assert.deepEqual([whole.asked_by, whole.people.title], [ana.principal, "Which region?"]);
      assert.deepEqual([whole.stages, whole.warnings, whole.constraints], [stages, warnings, constraints]);

      const held = await scene.claimed(bo);
      const { jobs } = (await admin.get("/jobs?view=admin&state=RUNNING,QUEUED")).body;
      const line = jobs.find(({ job_id }: { job_id: string }) => job_id === held.id);
      assert.deepEqual([line.owner, line.holder, line.state], [scene.planner.principal, bo.principal, "RUNNING"]);
      const job = (await admin.get(`/jobs/${held.id}?view=admin`)).body;
      const own = (await bo.get(`/jobs/${held.id}`)).body;
      assert.deepEqual({ ...own, ...job }, job, "an admin reads what its holder reads, and more");
      assert.equal((await admin.get("/jobs?view=admin&state=ODD")).body.error.code, "VALIDATION_ERROR");
    });
  });
}
