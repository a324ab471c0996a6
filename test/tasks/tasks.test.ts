import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findLiveAttempts, listAttempts, updateAttempt } from "../../src/tasks/store/attempts.ts";
import { listTaskEvents } from "../../src/tasks/store/events.ts";
import { findJob } from "../../src/asks/store/jobs.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { postAsk } from "../../src/asks/create/post-ask.ts";
import { retryTask } from "../../src/tasks/submit.ts";
import { sharedAssignment, shaOf, type AssignmentScene } from "../support/assignment.ts";
import { advanceUntil, begun, until } from "../support/contract.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const codeOf = ({ status, body }: Reply): unknown[] => [status, body.error?.code];

/** The states a task went through, in order. */
async function statesOf({ world }: AssignmentScene, id: string, repo = "shop"): Promise<unknown[]> {
  const events = await listTaskEvents(world.server.ctx.db, { repo, id }, 0, 1000);
  return events.filter(({ type }) => type === "state").map(({ data }) => data["state"]);
}

async function liveOf({ world }: AssignmentScene, id: string) {
  const attempts = await findLiveAttempts(world.server.ctx.db);
  return attempts.find((attempt) => attempt.id === id) ?? assert.fail(`${id} has no live attempt`);
}

/** An attempt asks people for something. */
async function requestPermission(scene: AssignmentScene, id: string, prompt = "Run: npm run migrate"): Promise<string> {
  const { jobId } = await liveOf(scene, id);
  const { held } = await postAsk(scene.world.server.ctx, {
    jobId,
    stepId: `task:${id}`,
    type: "CLARIFICATION",
    prompt,
    contextHash: "none",
    envelope: null,
    constraints: { timeoutS: 604_800 },
    roleId: null,
    meta: {},
    principal: "agent:attempt",
    bodyHash: prompt,
    warnings: [],
    mismatch: false,
  });
  return held.ask.id;
}

for (const on of DATABASES) {
  describe(`the life of a task on ${on}`, () => {
    const shared = sharedAssignment(on);

    it("goes through every status that clients of the protocol know, and shows its commit only at the end", async () => {
      const { ana, runner } = shared();
      const seen: unknown[] = [];
      const look = async () => {
        const { status, state, commit, attempt, sandbox } = await ana.task("walk");
        seen.push([status, state, commit, attempt, sandbox]);
      };
      await ana.submit("walk");
      await look();
      assert.equal(await runner.start(), "walk");
      await look();
      const commit = await runner.complete("shop", "walk");
      await look();
      assert.deepEqual(seen, [
        ["queued", "queued", undefined, 0, undefined],
        ["in-progress", "preparing", undefined, 1, undefined],
        ["completed", "review", commit, 1, undefined],
      ]);
      assert.match(commit, /^[0-9a-f]{40}$/);
      const task = await ana.task("walk");
      assert.deepEqual([task.changed, task.diffstat], [true, { files: 1, insertions: 2, deletions: 0 }]);
      assert.match(task.branch, /^aa\/walk-[0-9a-f]{8}$/);
      assert.deepEqual(await statesOf(shared(), "walk"), ["queued", "preparing", "running", "committing", "review"]);
      const { attempts } = (await ana.call("GET", "/assignment/tasks/walk")).body;
      assert.deepEqual(
        attempts.map((one: Record<string, unknown>) => [one["n"], one["state"], one["outcome"], one["commit"]]),
        [[1, "ended", "review", commit]],
      );
    });

    it("shows what an attempt waits for", async () => {
      const { ana, runner } = shared();
      await ana.submit("asks");
      await runner.start();
      await runner.move("shop", "asks", "running");
      const askId = await requestPermission(shared(), "asks");
      await runner.move("shop", "asks", "awaiting_answer");
      const { question, status } = await ana.task("asks");
      assert.equal(status, "in-progress");
      assert.deepEqual([question.askId, question.summary], [askId, "Run: npm run migrate"]);
      assert.ok(question.url.startsWith(`${shared().world.url}/inbox`));
      const { asks } = (await ana.call("GET", "/assignment/tasks/asks")).body;
      assert.deepEqual([asks[0].askId, asks[0].attempt, asks[0].state], [askId, 1, "PENDING"]);
      await runner.fail("shop", "asks");
      assert.deepEqual((await ana.task("asks")).question, undefined);
    });

    it("says of what will not complete that it is an error, and why", async () => {
      const { ana, runner } = shared();
      await ana.submit("fails");
      await runner.start();
      await runner.fail("shop", "fails", "exit 1: no such file");
      const { status, state, error, commit } = await ana.task("fails");
      assert.deepEqual([status, state, error, commit], ["error", "failed", "exit 1: no such file", undefined]);
    });

    it("is replaced before it starts, and takes its place anew", async () => {
      const { ana, runner, world } = shared();
      const first = await ana.submit("replaced", { prompt: "One" });
      await ana.submit("between");
      await world.advance(5000);
      const second = await ana.submit("replaced", { prompt: "Two", dependencies: ["between"] });
      assert.deepEqual([second.title, second.attempt, second.state], ["Two", 0, "blocked"]);
      assert.notEqual(second.submittedAt, first.submittedAt);
      const ids = (await ana.call("GET", "/assignment")).body.tasks.map(({ id }: { id: string }) => id);
      assert.deepEqual(ids.slice(-2), ["between", "replaced"]);
      await runner.start();
      await runner.complete("shop", "between");
      assert.equal(await runner.start(), "replaced");
      await runner.complete("shop", "replaced");
    });

    it("is ended when it is submitted again while it runs, and the next attempt waits until that is done", async () => {
      const { ana, runner, world } = shared();
      await ana.submit("again", { prompt: "One" });
      await runner.start();
      await runner.move("shop", "again", "running");
      const askId = await requestPermission(shared(), "again");
      const old = await liveOf(shared(), "again");
      const replaced = await ana.submit("again", { prompt: "Two" });
      assert.deepEqual([replaced.status, replaced.state, replaced.attempt], ["queued", "queued", 1]);

      const { db } = world.server.ctx;
      const ending = await liveOf(shared(), "again");
      assert.deepEqual([ending.state, ending.outcome, ending.epoch > old.epoch], ["ending", "superseded", true]);
      assert.equal((await findJob(db, old.jobId))?.job.state, "CANCELED");
      const [ask] = await db.all<{ status: string }>(sql`SELECT status FROM asks WHERE ask_id = ${askId}`);
      assert.equal(ask?.status, "ERROR");
      const late = await transact(world.server.ctx, (tx) =>
        updateAttempt(tx, old.attemptId, old.epoch, { commitSha: shaOf("late") }),
      );
      assert.equal(late, undefined, "what the old attempt did cannot land");
      await assert.rejects(requestPermission(shared(), "again", "Once more?"), /ended/);
      assert.equal(await runner.start(), undefined, "its processes may be alive");
      await runner.bury("shop", "again");
      assert.equal(await runner.start(), "again");
      const commit = await runner.complete("shop", "again", "two");
      const task = await ana.task("again");
      assert.deepEqual([task.commit, task.attempt], [commit, 2]);
      const attempts = await listAttempts(db, "shop", "again");
      assert.deepEqual(
        attempts.map(({ n, outcome, generation }) => [n, outcome, generation]),
        [
          [1, "superseded", 1],
          [2, "review", 2],
        ],
      );
    });

    it("begins anew when it is submitted again after its end", async () => {
      const { ana, runner } = shared();
      await ana.submit("anew");
      await runner.start();
      await runner.complete("shop", "anew");
      const again = await ana.submit("anew");
      assert.deepEqual(
        [again.status, again.commit, again.attempt, again.branch, again.diffstat],
        ["queued", undefined, 1, undefined, undefined],
      );
      await runner.start();
      await runner.complete("shop", "anew", "other");
      assert.equal((await ana.task("anew")).attempt, 2);
    });

    it("is cancelled at once where it has not started, and stays as it ended otherwise", async () => {
      const { ana, runner } = shared();
      await ana.submit("early");
      await ana.submit("waiting", { dependencies: ["nobody"] });
      for (const id of ["early", "waiting"]) {
        const reply = await ana.call("DELETE", `/assignment/tasks/${id}`);
        assert.deepEqual([reply.status, reply.body.state, reply.body.status], [200, "canceled", "error"]);
        assert.equal(reply.body.error, "canceled by ana-cards");
        const twice = await ana.call("DELETE", `/assignment?id=${id}`);
        assert.deepEqual([twice.status, twice.body], [200, reply.body]);
      }
      await ana.submit("finished");
      await runner.start();
      await runner.complete("shop", "finished");
      assert.equal((await ana.call("DELETE", "/assignment/tasks/finished")).body.state, "review");
    });

    it("is cancelled while it runs only when the last process is gone", async () => {
      const { ana, runner, world } = shared();
      await ana.submit("running");
      await runner.start();
      await runner.move("shop", "running", "running");
      const askId = await requestPermission(shared(), "running");
      let isOver = false;
      await world.advance(1);
      const replies = [1, 2].map(() =>
        ana.call("DELETE", "/assignment", { body: { id: "running" } }).finally(() => (isOver = true)),
      );
      const ending = await until(async () => {
        const attempt = await liveOf(shared(), "running");
        return attempt.state === "ending" ? attempt : undefined;
      });
      assert.equal(ending.outcome, "canceled");
      // Each of them waits, and looks again after a second.
      await begun(world, 1000, 2);
      assert.equal(isOver, false);
      assert.equal((await ana.task("running")).status, "in-progress");
      const { asks } = (await ana.call("GET", "/assignment/tasks/running")).body;
      assert.deepEqual([asks[0].askId, asks[0].state], [askId, "ERROR"]);
      await runner.bury("shop", "running");
      for (const reply of await Promise.all(replies)) {
        assert.deepEqual(
          [reply.status, reply.body.state, reply.body.error],
          [200, "canceled", "canceled by ana-cards"],
        );
      }
    });

    it("waits for a commit that is being made, which stands", async () => {
      const { ana, runner, world } = shared();
      await ana.submit("committing");
      await runner.start();
      await runner.move("shop", "committing", "running");
      await world.advance(1);
      const reply = await Promise.all([
        runner.move("shop", "committing", "committing").then(() => ana.call("DELETE", "/assignment?id=committing")),
        until(async () => ((await ana.task("committing")).state === "committing" ? true : undefined)).then(async () => {
          await begun(world, 1000);
          const attempt = await liveOf(shared(), "committing");
          await transact(world.server.ctx, (tx) =>
            updateAttempt(tx, attempt.attemptId, attempt.epoch, { state: "ended", outcome: "review" }),
          );
          await runner.move("shop", "committing", "review", { commit: shaOf("kept"), changed: true });
        }),
      ]);
      assert.deepEqual([reply[0].status, reply[0].body.state], [200, "review"]);
    });

    it("tells whoever cancels when processes are left after a minute", async () => {
      const { ana, runner, world } = shared();
      await ana.submit("stubborn");
      await runner.start();
      await runner.move("shop", "stubborn", "running");
      const replied = ana.call("DELETE", "/assignment?id=stubborn");
      await until(async () => ((await liveOf(shared(), "stubborn")).state === "ending" ? true : undefined));
      let reply: Reply | undefined;
      void replied.then((one) => (reply = one));
      await advanceUntil(world, 1000, () => reply !== undefined);
      const late = await replied;
      assert.deepEqual(codeOf(late), [503, "TASK_ENDING"]);
      assert.deepEqual(late.body.error.details, {
        id: "stubborn",
        state: "running",
        error: "canceled by ana-cards",
      });
      assert.equal((await ana.task("stubborn")).status, "in-progress");
      await runner.bury("shop", "stubborn");
      assert.equal((await ana.task("stubborn")).state, "canceled");
    });

    it("is tried again as it was submitted, where it ended without a result", async () => {
      const { ana, runner, world } = shared();
      const by = { by: { kind: "human", id: "h_dana" } as const, principal: "h_dana" };
      const again = (id: string) => retryTask(world.server.ctx, { repo: "shop", id }, by);
      await ana.submit("retried", { prompt: "As it was", dependencies: [], agent: "codex" });
      await assert.rejects(again("retried"), { code: "task_not_ended" });
      await assert.rejects(again("unknown"), { code: "task_not_found" });
      await runner.start();
      await runner.fail("shop", "retried");
      const task = await again("retried");
      assert.deepEqual(
        [task.state, task.prompt, task.agent, task.generation, task.error],
        ["queued", "As it was", "codex", 2, null],
      );
      await runner.start();
      await runner.complete("shop", "retried");
    });

    it("is only for those who give work, and never for an attempt itself", async () => {
      const { ana, sender } = shared();
      await ana.submit("own");
      const attempt = await sender({ scope: "agent", name: "aa-own-1" });
      const body = { id: "own", prompt: "Me again", verdict: "approve", attempt: 1 };
      for (const [method, path] of [
        ["POST", "/assignment"],
        ["GET", "/assignment"],
        ["GET", "/assignment/tasks/own"],
        ["GET", "/assignment/tasks/own/log"],
        ["DELETE", "/assignment/tasks/own"],
        ["POST", "/assignment/tasks/own/review"],
      ] as const) {
        const reply = await attempt.call(method, path, method === "POST" ? { body } : {});
        assert.deepEqual(codeOf(reply), [403, "FORBIDDEN"], `${method} ${path}`);
      }
      assert.deepEqual(codeOf(await attempt.call("GET", "/jobs/aa-job-1")), [404, "JOB_NOT_FOUND"]);
      assert.deepEqual(codeOf(await attempt.call("GET", "/admin/assignments")), [403, "FORBIDDEN"]);
      await ana.call("DELETE", "/assignment/tasks/own");
    });
  });
}
