import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { examineRows } from "../../src/doctor/store/checks.ts";
import { sql, type Sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { advanceUntil } from "../support/contract.ts";
import { answerAsk, claim, openJobs, pendingAsk, type JobScene } from "../support/jobs.ts";
import { DATABASES, type DatabaseName } from "../support/world.ts";

/** A store with jobs in every state, one that was lost and taken over, and an ask that joined another. */
async function lived(on: DatabaseName): Promise<JobScene> {
  const scene = await openJobs(on);
  const { ana, bo, planner, world } = scene;
  const same = { type: "APPROVAL" as const, prompt: "Deploy?" };
  const lost = await scene.claimed(ana);
  await pendingAsk(scene, lost.id, ana, same);
  await world.advance(15_000);
  await advanceUntil(world, 500, async () => (await planner.get(`/jobs/${lost.id}`)).body.state === "QUEUED");
  const next = await claim(bo, lost.kind);
  await pendingAsk(scene, next.id, bo, { ...same, id: "joined" });
  await scene.queue();
  const outlived = await scene.queue({ ttl_s: 2 });
  const done = await scene.claimed(ana);
  await answerAsk(scene, done.id, await pendingAsk(scene, done.id, ana));
  await ana.post(`/jobs/${done.id}/finish`, { state: "SUCCEEDED" }, done.lease);
  const failed = await scene.claimed(ana);
  await pendingAsk(scene, failed.id, ana);
  await ana.post(`/jobs/${failed.id}/finish`, { state: "FAILED" }, failed.lease);
  await planner.post(`/jobs/${(await scene.queue()).job_id}/cancel`, {});
  await world.advance(2000);
  await advanceUntil(world, 500, async () => (await planner.get(`/jobs/${outlived.job_id}`)).body.state === "EXPIRED");
  await ana.post("/jobs", { external: true });
  return scene;
}

async function broken({ world }: JobScene, quick = false): Promise<string[]> {
  const findings = await examineStore(world.server.ctx, { quick });
  return findings.filter(({ offenders }) => offenders.length > 0).map(({ check, promise }) => `${check}: ${promise}`);
}

const WAITING = sql`(SELECT min(job_id) FROM jobs WHERE state = 'WAITING_ON_ANSWER')`;
const RUNNING = sql`(SELECT min(job_id) FROM jobs WHERE state = 'RUNNING')`;
const SUCCEEDED = sql`(SELECT min(job_id) FROM jobs WHERE state = 'SUCCEEDED')`;

/** A corruption that no server writes to a store, and the rule that it breaks. */
const CORRUPTIONS: readonly [what: string, check: string, statement: Sql][] = [
  ["a job goes on before its answer", "J5", sql`UPDATE jobs SET state = 'RUNNING' WHERE job_id = ${WAITING}`],
  [
    "a job waits for nothing",
    "J5",
    sql`UPDATE jobs SET state = 'WAITING_ON_ANSWER', pending_asks = 1 WHERE job_id = ${RUNNING}`,
  ],
  ["a count is off by one", "J5", sql`UPDATE jobs SET pending_asks = pending_asks + 1 WHERE job_id = ${WAITING}`],
  ["a count outlives its job", "J5", sql`UPDATE jobs SET pending_asks = 1 WHERE job_id = ${SUCCEEDED}`],
  ["a lease outlives its job", "J1", sql`UPDATE jobs SET lease_until = ttl_until WHERE job_id = ${SUCCEEDED}`],
  ["a lease is nobody's", "J1", sql`DELETE FROM job_claims WHERE job_id = ${WAITING} AND epoch = 3`],
  ["a job went back to an old number", "J1", sql`UPDATE jobs SET epoch = 2 WHERE job_id = ${WAITING}`],
  ["a job was tried too often", "J1", sql`UPDATE jobs SET attempts = 9 WHERE job_id = ${WAITING}`],
  ["a lease was forgotten", "J3", sql`UPDATE jobs SET lease_until = 1 WHERE job_id = ${WAITING}`],
  ["a time to live was forgotten", "J3", sql`UPDATE jobs SET ttl_until = 1 WHERE state = 'QUEUED'`],
  ["an end is not in the record", "J4", sql`DELETE FROM audit WHERE action = 'job.succeeded'`],
  [
    "an end was not told",
    "J4",
    sql`UPDATE job_events SET event = 'log' WHERE event = 'status' AND body LIKE '%"state":"EXPIRED"%'`,
  ],
  ["an answer is lost", "A1, A2", sql`DELETE FROM answers WHERE status = 'ANSWERED'`],
  ["an answer was changed", "A1, A2", sql`UPDATE answers SET status = 'REJECTED' WHERE status = 'ANSWERED'`],
  [
    "a pending ask has an answer",
    "A1, A2",
    sql`INSERT INTO answers (ask_id, job_id, step_id, status, cacheable, created_at, source, principal, truncated)
      SELECT ask_id, job_id, step_id, 'ANSWERED', 1, 1, 'server', '', 0 FROM asks WHERE ask_id = 'joined'`,
  ],
  [
    "an ask that joined was left behind",
    "A2",
    sql`UPDATE asks SET status = 'ERROR', ended_at = 1 WHERE ask_id = (SELECT joined_to FROM asks WHERE ask_id = 'joined')`,
  ],
  ["a deadline was forgotten", "T1", sql`UPDATE asks SET expires_at = 1 WHERE status = 'PENDING'`],
  [
    "an ask outlived its job",
    "T1",
    sql`UPDATE asks SET status = 'PENDING', ended_at = NULL WHERE job_id = ${SUCCEEDED}`,
  ],
  ["an event is gone", "S1, S3", sql`DELETE FROM job_events WHERE job_id = ${WAITING} AND seq = 2`],
  ["an event came from nowhere", "S1, S3", sql`UPDATE jobs SET seq = seq - 1 WHERE job_id = ${RUNNING}`],
  ["an answer was not told", "S1, S3", sql`UPDATE job_events SET event = 'log' WHERE event = 'answer'`],
];

for (const on of DATABASES) {
  describe(`parley doctor on jobs, on ${on}`, () => {
    it("finds nothing in a store that was used, and everything that was done to it", async () => {
      await using scene = await lived(on);
      const { ctx } = scene.world.server;
      const [joined] = await ctx.db.all<{ joined_to: string | null }>(
        sql`SELECT joined_to FROM asks WHERE ask_id = 'joined'`,
      );
      assert.ok(joined?.joined_to);
      assert.deepEqual(await broken(scene), []);
      assert.deepEqual(await broken(scene, true), []);

      for (const [what, check, statement] of CORRUPTIONS) {
        const undone = new Error("undone");
        // The corruption is checked inside a transaction that is rolled back.
        await assert.rejects(
          transact(ctx, async (tx) => {
            await tx.all(statement);
            const findings = await examineRows(tx, false);
            const found = findings.filter(({ offenders }) => offenders.length > 0).map((finding) => finding.check);
            assert.ok(found.includes(check), `${what}: found ${found.join()}`);
            throw undone;
          }),
          (error) => error === undone || assert.fail(error as Error),
        );
      }
      assert.deepEqual(await broken(scene), []);
    });
  });
}
