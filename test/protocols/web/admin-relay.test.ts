import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { SCOPES } from "../../../src/lib/secrets/key-text.ts";
import { figuresOf } from "../../../src/asks/model/figures.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { createSignInLink } from "../../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../../support/identities.ts";
import { fresh, until } from "../../support/contract.ts";
import { newFolder, parley } from "../../support/program.ts";
import { answer, sharedRelay, type RelayScene } from "../../support/relay.ts";
import { ONE_DATABASE } from "../../support/world.ts";

interface NewsEvent {
  event: string;
  id: string | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  data: any;
}

/** Reads a stream until something of it is what was waited for, and returns everything until then. */
async function readUntil(url: string, headers: Record<string, string>, isLast: (told: NewsEvent) => boolean) {
  const stop = new AbortController();
  const reply = await fetch(url, { headers, signal: stop.signal });
  assert.equal(reply.status, 200);
  const all: NewsEvent[] = [];
  let rest = "";
  for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? assert.fail("no stream")) {
    const parts = (rest + chunk).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const line = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1];
      const event = line("event");
      if (event === undefined) continue;
      const told = { event, id: line("id"), data: JSON.parse(line("data") ?? "") };
      all.push(told);
      if (!isLast(told)) continue;
      stop.abort();
      return all;
    }
  }
  return assert.fail("the stream ended");
}

async function sessionOf({ world }: RelayScene, person: string): Promise<Record<string, string>> {
  const { code } = await createSignInLink(world.server.ctx, person);
  const reply = await world.call("POST", "/session", { body: { code } });
  const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { cookie, "sec-fetch-site": "same-origin" };
}

it("counts who answered, and how fast machines did", () => {
  const ms = Array.from({ length: 20 }, (_, i) => ({ stage: "policy", source: "policy", ms: 20 - i }) as const);
  assert.deepEqual(
    figuresOf(60_000, [
      ...ms,
      { stage: "people", source: "person", ms: 9000 },
      { stage: "people", source: "service", ms: 9000 },
      { stage: "people", source: "server", ms: 9000 },
    ]),
    { at: 60_000, stages: { policy: 20, people: 3 }, by: { policy: 20, people: 2, nobody: 1 }, p95Ms: 19 },
  );
  assert.deepEqual(figuresOf(0, []), { at: 0, stages: {}, by: {}, p95Ms: null });
});

for (const on of ONE_DATABASE) {
  describe(`what executors do, as admins see it, on ${on}`, () => {
    const shared = sharedRelay(on);

    it("shows the streams to admins alone", async () => {
      const scene = shared();
      const { world } = scene;
      const { ask_id: _, job_id: job } = await scene.ask();
      const dana = await scene.person();
      for (const path of ["/admin/live", `/admin/jobs/${job}/events`]) {
        const status = async (headers: Record<string, string>) => (await world.call("HEAD", path, { headers })).status;
        assert.equal(await status({}), 401, `${path}: nobody`);
        assert.equal(await status(await sessionOf(scene, dana.id)), 403, `${path}: a member`);
        assert.equal(await status(await sessionOf(scene, OPERATOR)), 200, `${path}: an admin's session`);
        for (const scope of SCOPES) {
          const person = scope === "answer" ? dana.id : undefined;
          const { headers } = await scene.program({ name: fresh("any"), scope, ...(person && { person }) });
          assert.equal(await status(headers), scope === "admin" ? 200 : 403, `${path}: ${scope}`);
        }
      }
    });

    it("tells the whole life of an ask that became one to people, and gives its receipt", async () => {
      const scene = shared();
      const { world, admin } = scene;
      const dana = await scene.person("Dana Vale");
      const asked = await scene.ask({ ask_type: "APPROVAL", prompt: "Deploy shop-api?", meta: { action: "deploy" } });
      const id = await scene.withPeople(asked);
      const path = `/admin/asks/${asked.ask_id}`;
      const open = (await admin.get(path)).body;
      assert.deepEqual([open.status, open.stage, open.answer, open.people.state], ["PENDING", "people", null, "open"]);
      assert.equal(open.people.id, id);
      assert.deepEqual(
        open.stages.map(({ stage }: { stage: string }) => stage),
        ["intake", "policy"],
      );
      assert.equal((await answer(dana.by, asked, { answer_json: { approved: true } })).status, 202);
      const { status, stages, answer: given, people, by } = (await admin.get(path)).body;
      assert.deepEqual([status, given.source, given.answered_by], ["ANSWERED", "person", "Dana Vale"]);
      assert.deepEqual([by, people.state, people.outcome.approved], [scene.ana.principal, "answered", true]);
      assert.equal(stages.at(-1).stage, "people");
      assert.equal(stages.at(-1).outcome, "approved");

      const operator = await sessionOf(scene, OPERATOR);
      const receipt = await world.call("GET", `/receipts/${id}`, { headers: operator });
      assert.equal(receipt.status, 200, "an admin's session reads what others decided");
      const other = await scene.person();
      const foreign = await world.call("GET", `/receipts/${id}`, { headers: await sessionOf(scene, other.id) });
      assert.equal(foreign.status, 404);

      for (const unknown of ["/admin/asks/nope", "/admin/asks/a%20b", "/admin/jobs/nope", "/admin/jobs/nope/asks"]) {
        assert.equal((await admin.get(unknown)).status, 404, unknown);
      }
    });

    it("lists everybody's asks and jobs, page after page", async () => {
      const scene = shared();
      const { admin, ana, bo } = scene;
      const job = fresh("J-many");
      const steps = Array.from({ length: 55 }, (_, i) => `S-${i}`);
      for (const [i, step_id] of steps.entries()) {
        await scene.ask({ job_id: job, step_id, prompt: `Which one, ${i}?` }, ana);
      }
      const pages = async (path: string, mark: string): Promise<string[]> => {
        const all: { step: string; job: string }[] = [];
        for (let cursor = ""; ;) {
          const { asks, next } = (await admin.get(`${path}${cursor}`)).body;
          assert.ok(asks.length === 50 || next === null);
          all.push(...asks);
          if (next === null) return all.filter((one) => one.job === job).map(({ step }) => step);
          cursor = `${mark}cursor=${next}`;
        }
      };
      assert.deepEqual((await pages("/admin/asks?status=PENDING", "&")).sort(), [...steps].sort());
      const waiting = (await admin.get("/admin/asks?status=PENDING")).body;
      const rest = (await admin.get(`/admin/asks?status=PENDING&cursor=${waiting.next}`)).body;
      assert.equal(waiting.open, waiting.asks.length + rest.asks.length, "those of all pages are counted");
      assert.deepEqual((await pages("/admin/asks", "?")).sort(), [...steps].sort());
      assert.deepEqual((await pages(`/admin/jobs/${job}/asks`, "?")).sort(), [...steps].sort());

      await scene.world.advance(10);
      const held = await scene.claimed(bo);
      const { jobs, open } = (await admin.get("/admin/jobs?state=open")).body;
      assert.equal(open, jobs.length);
      assert.deepEqual([jobs[0].id, jobs[0].state, jobs[0].holder], [held.id, "RUNNING", bo.principal]);
      await bo.post(`/jobs/${held.id}/finish`, { state: "SUCCEEDED", result: { n: 1 } }, held.lease);
      const over = (await admin.get("/admin/jobs?state=over")).body.jobs;
      assert.equal(over[0].id, held.id);
      const whole = (await admin.get(`/admin/jobs/${held.id}`)).body;
      assert.deepEqual([whole.state, whole.result, whole.epoch], ["SUCCEEDED", { n: 1 }, 1]);
      for (const bad of ["/admin/asks?cursor=x", "/admin/jobs?state=odd", "/admin/asks?status=ODD"]) {
        assert.equal((await admin.get(bad)).status, 400, bad);
      }
    });

    it("follows a job from an event on, and the relay as a whole", async () => {
      const scene = shared();
      const { admin, world } = scene;
      const dana = await scene.person();
      const asked = await scene.ask({ prompt: "Which region?" });
      await scene.withPeople(asked);
      const live = readUntil(`${world.url}/admin/live`, admin.headers, ({ event, data }) => {
        return event === "asks" && data.asks[0].id === asked.ask_id && data.asks[0].status === "ANSWERED";
      });
      assert.equal((await answer(dana.by, asked, { answer_text: "eu-west" })).status, 202);
      const seen = await until(async () => {
        await world.advance(1000);
        return Promise.race([live, new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))]);
      });
      assert.deepEqual([...new Set(seen.map(({ event }) => event))].sort(), ["asks", "figures", "jobs"]);
      const { body } = await admin.get(`/admin/jobs/${asked.job_id}`);
      const events = await readUntil(
        `${world.url}/admin/jobs/${asked.job_id}/events`,
        { ...admin.headers, "last-event-id": "0" },
        ({ id }) => id === String(body.seq),
      );
      assert.deepEqual(
        events.map(({ id }) => Number(id)),
        Array.from({ length: body.seq }, (_, i) => i + 1),
      );
      const told = events.find(({ event }) => event === "answer");
      assert.deepEqual([told?.data.ask_id, told?.data.status], [asked.ask_id, "ANSWERED"]);
    });

    it("lists what is repeated instead of asking again, and forgets it", async () => {
      const scene = shared();
      const { admin, world } = scene;
      const keep = (key: string, role: string) =>
        world.server.ctx.db.transact((tx) =>
          tx.all(sql`INSERT INTO decision_cache (decision_key, answer_text, created_at, ttl_seconds, seed_key, role,
              source, hits) VALUES (${key}, ${"EUR"}, parley_now(), 600, ${key}, ${role}, 'runner', 3)`),
        );
      for (const [key, role] of [
        ["k1", "role.clarifier@v1"],
        ["k2", "role.clarifier@v2"],
        ["k3", "role.dba@v1"],
        ["k4", "role.dba@v1"],
      ] as const) {
        await keep(key, role);
      }
      const keys = async (query = "") =>
        (await admin.get(`/admin/decisions${query}`)).body.decisions.map(({ key }: { key: string }) => key).sort();
      assert.deepEqual(await keys("?role=role.clarifier"), ["k1", "k2"]);
      const [one] = (await admin.get("/admin/decisions?role=role.dba")).body.decisions;
      assert.deepEqual([one.text, one.hits, one.role, one.source], ["EUR", 3, "role.dba@v1", "runner"]);
      assert.equal(Date.parse(one.expires_at) - Date.parse(one.created_at), 600_000);

      const remove = (path: string) => admin.call("DELETE", path);
      assert.deepEqual((await remove("/admin/decisions?role=role.clarifier")).body, { forgotten: 2 });
      assert.deepEqual((await remove("/admin/decisions/k3")).body, { forgotten: 1 });
      assert.equal((await remove("/admin/decisions/k3")).status, 404);
      assert.equal((await remove("/admin/decisions/%2e%2e")).status, 404);
      assert.deepEqual(await keys(), ["k4"]);
      assert.equal((await remove("/admin/decisions")).body.forgotten, 1);
      const { items } = (await admin.get("/a2h/v1alpha1/audit?action=decision.forgotten")).body;
      assert.deepEqual(
        items.map(({ data }: { data: unknown }) => data),
        [{ role: "role.clarifier", count: 2 }, { key: "k3", count: 1 }, { count: 1 }],
      );
    });

    it("sweeps what may not be repeated any more", async () => {
      const { world } = shared();
      await world.server.ctx.db.transact((tx) =>
        tx.all(sql`INSERT INTO decision_cache (decision_key, created_at, ttl_seconds, seed_key, source, hits)
          VALUES ('stale', parley_now(), 60, 'stale', 'runner', 0)`),
      );
      await until(async () => {
        await world.advance(3_600_000);
        const rows = await world.server.ctx.db.all(
          sql`SELECT 1 AS one FROM decision_cache WHERE decision_key = 'stale'`,
        );
        return rows.length === 0;
      });
    });
  });
}

describe("parley cache clear", () => {
  it("forgets the decisions of one role, then all, and says how many", async () => {
    const env = { PARLEY_DATA_DIR: newFolder() };
    const clear = async (...args: string[]) => {
      const { code, out } = await parley(["cache", "clear", "--json", ...args], env);
      return [code, JSON.parse(out)] as unknown[];
    };
    await parley(["people", "add", "Ana"], env);
    assert.deepEqual(await clear(), [0, { forgotten: 0 }]);
    const db = new DatabaseSync(join(env.PARLEY_DATA_DIR, "parley.db"));
    for (const [key, role] of [
      ["k1", "role.dba@v1"],
      ["k2", "role.clarifier@v1"],
    ] as const) {
      const insert = `INSERT INTO decision_cache (decision_key, created_at, ttl_seconds, seed_key, role, source, hits)
        VALUES (?, ?, 600, ?, ?, 'runner', 0)`;
      db.prepare(insert).run(key, Date.now(), key, role);
    }
    db.close();
    assert.deepEqual(await clear("--role", "role.dba"), [0, { forgotten: 1 }]);
    assert.deepEqual(await clear(), [0, { forgotten: 1 }]);
  });
});
