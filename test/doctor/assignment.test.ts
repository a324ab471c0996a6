import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweepTasks } from "../../src/tasks/loops/sweep.ts";
import { examineRows } from "../../src/doctor/store/checks.ts";
import { sql, type Sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { enrol } from "../support/addressed.ts";
import { openAssignment, type AssignmentScene } from "../support/assignment.ts";
import { advanceUntil } from "../support/contract.ts";
import { DATABASES, type DatabaseName } from "../support/world.ts";

/** A store with tasks in most states, one of them replaced while it ran. */
async function lived(on: DatabaseName): Promise<AssignmentScene> {
  const scene = await openAssignment(on);
  const { ana, runner, sender, world } = scene;
  const person = await enrol(world.server.ctx, "Dana", [], { seesAll: true });
  const dana = await sender({ person });
  const review = (id: string, verdict: string) =>
    dana.call("POST", `/assignment/tasks/${id}/review`, { body: { verdict, attempt: 1 } });
  for (const id of ["approved", "rejected", "reviewed", "failed", "canceled", "replaced"]) {
    await ana.submit(id);
    assert.equal(await runner.start(), id);
    if (id === "failed") await runner.fail("shop", id);
    else if (id === "canceled") {
      const replied = ana.call("DELETE", `/assignment?id=${id}`);
      while ((await ana.call("GET", `/assignment/tasks/${id}`)).body.attempts[0].state !== "ending");
      await runner.bury("shop", id);
      assert.equal((await replied).status, 200);
    } else if (id === "replaced") await ana.submit(id);
    else await runner.complete("shop", id);
  }
  await review("approved", "approve");
  await review("rejected", "reject");
  await ana.submit("running");
  assert.equal(await runner.start(), "running");
  await ana.submit("inline", { dependencies: ["approved", "reviewed"] });
  await ana.submit("blocked", { dependencies: ["inline", "unknown"] });
  return scene;
}

async function broken({ world }: AssignmentScene, quick = false): Promise<string[]> {
  const findings = await examineStore(world.server.ctx, { quick });
  return findings.flatMap(({ check, offenders }) => offenders.map((offender) => `${check}: ${offender}`));
}

/** A statement that breaks a rule, and the findings that must follow. */
const BREAKS: readonly [string, Sql, readonly string[]][] = [
  [
    "a task in line whose dependency is not there",
    sql`UPDATE task_dependencies SET depends_on = 'failed' WHERE id = 'inline' AND depends_on = 'approved'`,
    ["J8: shop/inline"],
  ],
  [
    "a blocked task that waits for nothing",
    sql`UPDATE task_dependencies SET depends_on = 'approved' || depends_on WHERE id = 'none'`,
    [],
  ],
  [
    "a blocked task without a dependency",
    sql`DELETE FROM task_dependencies WHERE id = 'blocked'`,
    ["J8: shop/blocked"],
  ],
  [
    "a blocked task without a reason",
    sql`UPDATE tasks SET blocked_reason = NULL WHERE id = 'blocked'`,
    ["J7: shop/blocked"],
  ],
  ["a failed task without one", sql`UPDATE tasks SET error = NULL WHERE id = 'failed'`, ["J7: shop/failed"]],
  ["a commit of work that failed", sql`UPDATE tasks SET commit_sha = 'x' WHERE id = 'failed'`, ["G1: shop/failed"]],
  [
    "an attempt of an earlier submission that goes on",
    sql`UPDATE task_attempts SET state = 'running' WHERE id = 'replaced'`,
    ["J9: shop/replaced"],
  ],
  [
    "a task in progress without an attempt",
    sql`UPDATE task_attempts SET state = 'ended', ended_at = 1 WHERE id = 'running'`,
    ["J9: shop/running", "J2: attempt-7"],
  ],
  [
    "work that was superseded and landed",
    sql`UPDATE task_attempts SET outcome = 'superseded' WHERE id = 'reviewed'`,
    ["J2: shop/reviewed"],
  ],
  [
    "a job that goes on without its attempt",
    sql`UPDATE jobs SET state = 'RUNNING', ended_at = NULL WHERE job_id = 'aa-job-6'`,
    ["J2: attempt-6"],
  ],
  [
    "a job that goes on after its attempt",
    sql`UPDATE jobs SET state = 'RUNNING', ended_at = NULL WHERE job_id = 'aa-job-3'`,
    ["J2: attempt-3"],
  ],
  [
    "an attempt that goes on long after its job",
    sql`UPDATE jobs SET state = 'EXPIRED', ended_at = 1 WHERE job_id =
      (SELECT job_id FROM task_attempts WHERE id = 'running')`,
    ["J4: aa-job-7", "J2: attempt-7"],
  ],
  ["a hole in a log", sql`DELETE FROM task_events WHERE id = 'approved' AND seq = 2`, ["S1, S3: shop/approved"]],
  [
    "a state that nobody was told",
    sql`UPDATE task_events SET data_json = '{"state":"queued"}' WHERE id = 'failed'`,
    ["S1, S3: shop/failed"],
  ],
  ["a hole in the board", sql`DELETE FROM task_board_events WHERE seq = 3`, ["S1: shop"]],
  ["an approval that nobody gave", sql`DELETE FROM task_reviews WHERE id = 'approved'`, ["A1: shop/approved"]],
];

for (const on of DATABASES) {
  describe(`the doctor on tasks, on ${on}`, () => {
    it("finds nothing in a store that was only used, and each broken promise by name", async () => {
      await using scene = await lived(on);
      const { ctx } = scene.world.server;
      assert.deepEqual([await broken(scene), await broken(scene, true)], [[], []]);
      for (const [what, breaking, found] of BREAKS) {
        const undo = new Error("undo");
        await transact(ctx, async (tx) => {
          await tx.all(breaking);
          const findings = await examineRows(tx, false);
          const said = findings.flatMap(({ check, offenders }) => offenders.map((one) => `${check}: ${one}`));
          assert.deepEqual(said, found, what);
          throw undo;
        }).catch((error: unknown) => assert.equal(error, undo, what));
      }
    });

    it("finds nothing after logs and keys were deleted that are no longer kept", async () => {
      await using scene = await lived(on);
      const { world, ana } = scene;
      const { db } = world.server.ctx;
      const logsOf = async () =>
        (await db.all<{ id: string }>(sql`SELECT DISTINCT id FROM task_events ORDER BY id`)).map(({ id }) => id);
      const keys = async () => (await db.all(sql`SELECT 1 AS one FROM task_idempotency`)).length;
      const again = {
        body: { id: "blocked", prompt: "y", dependencies: ["unknown"] },
        headers: { "idempotency-key": "k" },
      };
      await ana.call("POST", "/assignment", again);
      assert.equal(await sweepTasks(world.server.ctx), false);
      assert.equal(await keys(), 1);
      assert.equal((await logsOf()).length, 9);
      await world.advance(86_400_000);
      await sweepTasks(world.server.ctx);
      assert.equal(await keys(), 0);
      assert.equal((await logsOf()).length, 9);
      await world.advance(29 * 86_400_000);
      await sweepTasks(world.server.ctx);
      assert.deepEqual(await logsOf(), ["blocked", "inline", "replaced", "reviewed", "running"]);
      // Its job ran out, which a loop notices sooner or later, and two hours after that nobody has ended it.
      await advanceUntil(world, 3_600_000, async () => (await broken(scene)).join() === "J2: attempt-7");
      await scene.runner.fail("shop", "running");
      assert.deepEqual(await broken(scene), []);
      const { attempts, commit } = (await ana.call("GET", "/assignment/tasks/approved")).body;
      assert.equal(attempts[0].commit, commit, "whose commit is the task's stays");
      await ana.submit("failed");
      assert.deepEqual(await broken(scene), []);
    });
  });
}
