import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import { findAsk } from "../../src/asks/store/asks.ts";
import { sql } from "../../src/core/store/sql.ts";
import { callOf } from "../../src/asks/respond/put-to-people.ts";
import { offerAttempt, withdrawOffers, endLostWork } from "../../src/tasks/offer-attempts.ts";
import { createKey } from "../../src/access/create-key.ts";
import { loseLease } from "../../src/asks/jobs/expire-job.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { readAskOutcome } from "../../src/asks/outcome/report-ask-outcome.ts";
import { openAssignment, shaOf, type AssignmentScene } from "../support/assignment.ts";
import { enrol } from "../support/addressed.ts";
import { until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { DATABASES, type Reply } from "../support/world.ts";

/** A worker with a key, and a job of its own. */
interface Worker {
  job: string;
  lease: string;
  say(body: unknown, more?: { lease?: string; repo?: string; job?: string }): Promise<Reply>;
  call(method: string, path: string, body?: unknown): Promise<Reply>;
}

let keys = 0;

/** A task is offered, and a worker holds its job. */
async function takes({ world, ana }: AssignmentScene, id: string, more: Record<string, unknown> = {}): Promise<Worker> {
  const { ctx } = world.server;
  await ana.submit(id, more);
  const repos = ctx.assignment.repos.map((repo) => ({ ...repo, parallel: 1000 }));
  const slots = { repos, parallel: 1000, agents: null };
  assert.equal(await offerAttempt(ctx, slots), true);
  keys += 1;
  const { text: key } = await createKey(ctx, { name: `worker-${keys}`, scope: "executor" });
  const headers = { authorization: `Bearer ${key}` };
  const claimed = await world.call("POST", "/jobs/claim", {
    headers,
    body: { kinds: ["aa/shop"], worker_id: "w", wait: "0", lease_ttl_s: 60 },
  });
  assert.equal(claimed.status, 200, claimed.text);
  const { job, lease } = claimed.body as { job: { job_id: string }; lease: { token: string } };
  const worker: Worker = {
    job: job.job_id,
    lease: lease.token,
    say: (body, { lease: shown = lease.token, repo = "shop", job: named = job.job_id } = {}) =>
      world.call("POST", `/assignment/${repo}/work/${named}`, { headers: { ...headers, "parley-lease": shown }, body }),
    call: (method, path, body) =>
      world.call(method, path, {
        headers: { ...headers, "parley-lease": lease.token },
        ...(body !== undefined && { body }),
      }),
  };
  return worker;
}

const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("__proto__", "\0", "a\0b", "-x", "\u202e", "x".repeat(3000)),
);
const hostile = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
  fc.constantFrom<unknown>(null, true, 0, -1, 2 ** 53 - 1, -(2 ** 53 - 1), 1.5, [], {}, [[]], { "a\0b": "\0" }),
);
const mostly = (good: unknown) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: hostile });
const facts = fc.record(
  {
    startSha: mostly(shaOf("start")),
    sandbox: mostly("none"),
    pid: mostly(7),
    starttime: mostly("1"),
    session: mostly("s"),
    agentVersion: mostly("1"),
    usage: mostly({ turns: 1 }),
    logSeq: mostly(1),
  },
  { requiredKeys: [] },
);
const said = fc.oneof(
  fc.record(
    { say: fc.constant("step"), to: mostly("running"), facts: fc.oneof(facts, hostile) },
    { requiredKeys: ["say"] },
  ),
  fc.record({ say: fc.constant("step"), to: fc.constantFrom("running", "interrupted", "committing"), facts }),
  fc.record({
    say: fc.constant("note"),
    events: fc.oneof(
      hostile,
      fc.array(fc.record({ type: mostly("message"), data: fc.oneof(fc.dictionary(hostileText, hostile), hostile) }), {
        maxLength: 3,
      }),
    ),
    facts,
  }),
  fc.record({ say: fc.constant("waiting"), isWaiting: mostly(true) }),
  fc.record({
    say: fc.constant("wish"),
    ref: mostly("r"),
    // Only invalid requests are made. A valid one would wait for a decision that nobody makes here.
    wish: fc.oneof(
      hostile,
      fc
        .record(
          {
            tool: hostile,
            input: hostile,
            action: fc.oneof(hostile, fc.constantFrom("write", "execute")),
            resource: fc.oneof(hostile, fc.constant("\0")),
            diff: hostile,
            text: hostile,
            options: hostile,
          },
          { requiredKeys: [] },
        )
        .filter(
          (input) =>
            !("tool" in input && "input" in input && "action" in input && "resource" in input) && !("text" in input),
        ),
    ),
  }),
  fc.record({ say: fc.constant("withdraw"), ref: mostly("r") }),
  fc.record({ say: mostly("key") }),
  fc.record({ say: fc.constant("resumed"), from: hostile }),
  fc.record({ say: fc.constant("conflict"), paths: fc.oneof(hostile, fc.array(hostileText, { maxLength: 3 })) }),
  fc.record(
    {
      say: fc.constant("done"),
      result: fc.record({
        commit: mostly(shaOf("c")),
        changed: mostly(true),
        diffstat: mostly({ files: 1, insertions: 1, deletions: 0 }),
        branch: mostly("aa/x"),
        ref: mostly("refs/aa/x/1"),
        warnings: fc.oneof(hostile, fc.array(hostileText, { maxLength: 2 })),
        files: mostly("a"),
      }),
    },
    { requiredKeys: ["say"] },
  ),
  fc.record({ say: fc.constant("failed"), error: hostile, wip: hostile }, { requiredKeys: ["say"] }),
  fc.record({ say: fc.constant("ended"), wip: hostile, survivors: hostile }, { requiredKeys: ["say"] }),
  hostile,
);

for (const on of DATABASES) {
  describe(`what a worker elsewhere says, on ${on}`, () => {
    it("is taken or declined, whatever it is, and never stumbled over", async () => {
      await using scene = await openAssignment(on);
      let worker = await takes(scene, "t0");
      // Nobody takes up what a task before it left.
      let tasks = 0;
      assert.equal((await worker.say({ say: "claimed" })).status, 200);
      await fc.assert(
        fc.asyncProperty(said, async (body) => {
          const reply = await worker.say(body);
          assert.ok([200, 204, 400, 409].includes(reply.status), `${JSON.stringify(body)}: ${reply.text}`);
          const task = await scene.ana.task(`t${tasks}`);
          if (task.status !== "in-progress" || reply.status === 409) {
            tasks += 1;
            worker = await takes(scene, `t${tasks}`);
            assert.equal((await worker.say({ say: "claimed" })).status, 200);
            if (tasks % 2 === 0) await worker.say({ say: "step", to: "running" });
          }
        }),
        { numRuns: 100, endOnFailure: true },
      );
      const findings = await examineStore(scene.world.server.ctx, { quick: false });
      assert.deepEqual(
        findings.filter(({ offenders }) => offenders.length > 0),
        [],
      );
    });

    it("finds no job and no bundle by names that no store takes", async () => {
      await using scene = await openAssignment(on);
      const { say, call, job } = await takes(scene, "a");
      for (const named of ["%00", "a%00b", "..%2f", "x".repeat(3000), "%F0%9F%92%A9"]) {
        assert.equal((await say({ say: "claimed" }, { job: named })).status, 404, named);
        assert.equal((await say({ say: "claimed" }, { repo: named })).status, 404, named);
        assert.equal((await call("GET", `/assignment/shop/work/${named}/bundle/a`)).status, 404, named);
        assert.equal((await call("GET", `/assignment/shop/work/${job}/bundle/${named}`)).status, 404, named);
      }
    });

    it("is heard from whoever holds the job's lease, and of its own repository", async () => {
      await using scene = await openAssignment(on);
      const one = await takes(scene, "a");
      const other = await takes(scene, "b");
      const step = { say: "step", to: "running" };
      assert.equal((await one.say({ say: "claimed" })).status, 200);
      assert.equal((await other.say({ say: "claimed" })).status, 200);
      for (const body of [{ say: "claimed" }, step, { say: "key" }, { say: "ended", survivors: [] }]) {
        assert.equal((await one.say(body, { job: other.job })).status, 404);
        assert.equal((await one.say(body, { job: other.job, lease: other.lease })).status, 404);
        assert.equal((await one.say(body, { lease: other.lease })).status, 409);
        assert.equal((await one.say(body, { lease: "" })).status, 409);
        assert.equal((await one.say(body, { repo: "blog" })).status, 404);
      }
      for (const key of [scene.ana.key, (await one.say({ say: "key" })).body.key as string]) {
        const headers = { authorization: `Bearer ${key}`, "parley-lease": one.lease };
        const path = `/assignment/shop/work/${one.job}`;
        const reply = await scene.world.call("POST", path, { headers, body: step });
        assert.equal(reply.status, 403, reply.text);
      }
      const open = await scene.world.call("POST", `/assignment/shop/work/${one.job}`, { body: step });
      assert.equal(open.status, 401);
      assert.equal((await one.say(step)).status, 200);
      assert.equal((await one.say({ say: "failed", error: "no" })).status, 200);
      for (const body of [step, { say: "key" }, { say: "note", events: [] }, { say: "claimed" }]) {
        assert.equal((await one.say(body)).status, 409);
      }
    });

    it("is answered with the notes of people to its work, and never with one to the work after it", async () => {
      await using scene = await openAssignment(on);
      const ana = await scene.sender({ person: await enrol(scene.world.server.ctx, "Ana Ruiz") });
      const worker = await takes(scene, "noted");
      await worker.say({ say: "claimed" });
      const send = async (text: string) => {
        const sent = await ana.call("POST", "/assignment/shop/tasks/noted/notes", { body: { text } });
        assert.equal(sent.status, 200, sent.text);
        return sent.body.notes.at(-1).id as string;
      };
      const id = await send("Use the staging bucket.");
      const waiting = () => worker.say({ say: "notes", known: [] });
      assert.deepEqual(
        (await waiting()).body.notes.map((note: { id: string }) => note.id),
        [id],
      );
      await worker.say({
        say: "note",
        events: [{ type: "note", data: { id, text: "forged", by: "x" } }],
        facts: { logSeq: 1 },
      });
      const logged = await scene.world.server.ctx.db.all<{ data: string }>(
        sql`SELECT data_json AS data FROM task_events WHERE id = ${"noted"} AND type = 'note'`,
      );
      assert.deepEqual(
        logged.map(({ data }) => JSON.parse(data).text),
        ["Use the staging bucket."],
      );
      await send("This is for the work before.");
      await ana.submit("noted", { prompt: "Something else" });
      await send("This is for the work after.");
      assert.equal((await waiting()).status, 409);
    });

    it("is put to people as the very input that the tool is given", async () => {
      await using scene = await openAssignment(on);
      const { ctx } = scene.world.server;
      const worker = await takes(scene, "a");
      await worker.say({ say: "claimed" });
      await worker.say({ say: "step", to: "running", facts: { sandbox: "none" } });
      const input = JSON.parse('{"command":"rm x","timeout":null,"__proto__":{"a":[null]}}') as object;
      const wish = { tool: "Bash", input, action: "execute", resource: "rm x" };
      const waiting = worker.say({ say: "wish", ref: "r", wish });
      const asked = await until(async () => {
        const [row] = await ctx.db.all<{ ask_id: string }>(sql`SELECT ask_id FROM asks`);
        return row && findAsk(ctx.db, row.ask_id);
      });
      assert.equal(callOf(ctx, asked)?.kwargs, canonicalExact(input));
      assert.equal(
        (await worker.call("POST", `/jobs/${worker.job}/finish`, { state: "FAILED", reason: "no" })).status,
        200,
      );
      assert.deepEqual((await waiting).body.allow, false);
    });

    it("is reported as it ends, for the worker that holds the job alone", async () => {
      await using scene = await openAssignment(on);
      const { ctx } = scene.world.server;
      const worker = await takes(scene, "a");
      await worker.say({ say: "claimed" });
      await worker.say({ say: "step", to: "running", facts: { sandbox: "none" } });
      const dana = await decider(scene.world, await enrol(ctx, "Dana", [], { seesAll: true }));
      const outcomeOf = async (ref: string, decide: boolean, command: string) => {
        const wish = { tool: "Bash", input: { command }, action: "execute", resource: command, reportsEnd: true };
        const waiting = worker.say({ say: "wish", ref, wish });
        const asked = await until(async () => {
          const rows = await ctx.db.all<{ ask_id: string }>(sql`SELECT ask_id FROM asks WHERE status = 'PENDING'
            AND addressed_id IS NOT NULL`);
          return rows[0] && findAsk(ctx.db, rows[0].ask_id);
        });
        assert.equal((await dana.decide(asked.ask.addressedId ?? "", { approved: decide })).status, 200);
        assert.equal((await waiting).body.allow, decide);
        return async () => (await readAskOutcome(ctx, (await findAsk(ctx.db, asked.ask.id)) ?? assert.fail()))?.state;
      };
      const report = { state: "done", resultDigest: `sha256:${"5f".repeat(32)}`, words: "exit 0" };
      const used = await outcomeOf("r1", true, "npm run one");
      assert.equal(await used(), "started");
      assert.equal((await worker.say({ say: "used", ref: "r1", report }, { lease: "another" })).status, 409);
      assert.equal(await used(), "started");
      for (let again = 0; again < 2; again += 1)
        assert.equal((await worker.say({ say: "used", ref: "r1", report })).status, 200);
      assert.equal(await used(), "done");

      const denied = await outcomeOf("r2", false, "npm run two");
      assert.equal((await worker.say({ say: "used", ref: "r2", report })).status, 200);
      assert.equal(await denied(), undefined);
      const declined = await outcomeOf("r3", true, "npm run three");
      assert.equal((await worker.say({ say: "used", ref: "r3", report: { state: "not_run" } })).status, 200);
      assert.equal(await declined(), "not_run");
      const lost = await outcomeOf("r4", true, "npm run four");
      await scene.world.advance(61_000);
      await loseLease(ctx, worker.job);
      assert.equal(await lost(), "unknown");
      assert.equal((await worker.say({ say: "used", ref: "r4", report })).status, 409);
    });

    it("is a form that has to be filled in, until the worker's agent withdraws it", async () => {
      await using scene = await openAssignment(on);
      const { ctx } = scene.world.server;
      const worker = await takes(scene, "a");
      await worker.say({ say: "claimed" });
      await worker.say({ say: "step", to: "running", facts: { sandbox: "none" } });
      const schema = { type: "object", properties: { port: { type: "integer" } } };
      const waiting = worker.say({ say: "wish", ref: "r", wish: { text: "Which port?", options: [], schema } });
      const [row] = await until(async () => {
        const rows = await ctx.db.all<{ ask_id: string }>(sql`SELECT ask_id FROM asks`);
        return rows.length > 0 ? rows : undefined;
      });
      const found = await findAsk(ctx.db, row?.ask_id ?? "");
      assert.deepEqual(found?.ask.meta["prompt_overrides"], { output_schema: schema });
      assert.equal((await worker.say({ say: "withdraw", ref: "r" })).status, 200);
      assert.equal((await waiting).body.none, true);
    });

    it("is begun anew by another only with all that it depends on", async () => {
      await using scene = await openAssignment(on);
      const { ctx } = scene.world.server;
      const completed = async (): Promise<void> => {
        await scene.ana.submit("base");
        assert.equal(await scene.runner.start(), "base");
        await scene.runner.complete("shop", "base");
      };
      await completed();
      const one = await takes(scene, "next", { dependencies: ["base"] });
      assert.equal((await one.say({ say: "claimed" })).status, 200);
      await scene.world.advance(61_000);
      await loseLease(ctx, one.job);
      await scene.ana.submit("base");

      const { text: key } = await createKey(ctx, { name: "another", scope: "executor" });
      const headers = { authorization: `Bearer ${key}` };
      const body = { kinds: ["aa/shop"], worker_id: "w", wait: "0", lease_ttl_s: 60 };
      const { lease } = (await scene.world.call("POST", "/jobs/claim", { headers, body })).body;
      const taken = await scene.world.call("POST", `/assignment/shop/work/${one.job}`, {
        headers: { ...headers, "parley-lease": lease.token },
        body: { say: "claimed" },
      });
      assert.equal(taken.status, 409, taken.text);
      const { state, blockedReason } = await scene.ana.task("next");
      assert.deepEqual([state, blockedReason], ["blocked", "base is not completed yet"]);

      assert.equal(await scene.runner.start(), "base");
      await scene.runner.complete("shop", "base", "another commit");
      assert.equal((await scene.ana.task("next")).state, "queued");
      assert.equal(await scene.runner.start(), "next");
      const broken = (await examineStore(ctx, { quick: false })).filter(({ offenders }) => offenders.length > 0);
      assert.deepEqual(broken, []);
    });

    it("ends with its job, wherever that was ended", async () => {
      await using scene = await openAssignment(on);
      const { ctx } = scene.world.server;
      const taken = await takes(scene, "taken");
      assert.equal((await taken.say({ say: "claimed" })).status, 200);
      assert.equal((await taken.call("POST", `/jobs/${taken.job}/finish`, { state: "SUCCEEDED" })).status, 200);
      const offered = await takes(scene, "offered");
      assert.equal(
        (await offered.call("POST", `/jobs/${offered.job}/finish`, { state: "FAILED", reason: "no" })).status,
        200,
      );
      for (let i = 0; i < 3; i += 1) {
        await withdrawOffers(ctx);
        await endLostWork(ctx);
        await scene.world.advance(60_000);
      }
      const [task, other] = [await scene.ana.task("taken"), await scene.ana.task("offered")];
      assert.equal(task.status, "error", JSON.stringify(task));
      // The task that was not begun is offered again.
      const repos = ctx.assignment.repos.map((repo) => ({ ...repo, parallel: 1000 }));
      assert.equal(other.state, "queued");
      assert.equal(await offerAttempt(ctx, { repos, parallel: 1000, agents: null }), true);
    });
  });
}
