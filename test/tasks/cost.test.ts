import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findLiveAttempts } from "../../src/tasks/store/attempts.ts";
import { listReviewed } from "../../src/tasks/store/tasks.ts";
import type { Queryable, Tx } from "../../src/core/store/db.ts";
import { join, raw, sql, type Sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { pickNextTask, whyBlocked } from "../../src/tasks/move.ts";
import { openAssignment, type AssignmentScene } from "../support/assignment.ts";
import { DATABASES } from "../support/world.ts";

const ROUND = 3000;

/** Adds more tasks that are done, each with its attempt. */
async function finish({ world }: AssignmentScene, round: number): Promise<void> {
  await transact(world.server.ctx, async (tx) => {
    const from = round * ROUND;
    const numbers = raw(
      `WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${from + ROUND - 1})`,
    );
    await tx.all(sql`INSERT INTO tasks (repo, id, slug, prompt, warnings_json, state, attempt, generation, started,
        submitted_at, place, updated_at, stale, resolve_conflict, commit_sha, principal, seq)
      ${numbers} SELECT 'shop', 'old-' || i, 'old-' || i, 'Do it', '[]', 'approved', 1, 1, 1, i, -1000000 + i, i, 0, 0,
        '9f1c2ab04d7e5c6b8a90123456789abcdef01234', 'agent:ana', 0 FROM n`);
    await tx.all(sql`INSERT INTO task_attempts (attempt_id, repo, id, n, generation, job_id, epoch, state, outcome, holder,
        agent, resumes, log_seq, started_at, ended_at)
      ${numbers} SELECT 'old-' || i, 'shop', 'old-' || i, 1, 1, 'job-' || i, 1, 'ended', 'completed', 'here', 'claude', 0, 0,
        i, i FROM n`);
  });
  if (world.on === "postgres") await world.server.ctx.db.all(sql`ANALYZE`);
}

/** Returns what looking for the next task, and for what else is to be done, puts to the database. */
async function looking(scene: AssignmentScene): Promise<{ found: string | undefined; statements: Sql[] }> {
  const { ctx } = scene.world.server;
  const statements: Sql[] = [];
  const noting = <On extends Queryable>(on: On): On["all"] => {
    return (statement) => {
      statements.push(statement);
      return on.all(statement);
    };
  };
  const found = await transact(ctx, async (tx) => {
    const noted: Tx = { dialect: tx.dialect, all: noting(tx), wake: (topic) => tx.wake(topic), tell: () => {} };
    const slots = { repos: ctx.assignment.repos, parallel: 4, agents: ["claude"] };
    const task = await pickNextTask(noted, slots);
    if (task) await whyBlocked(ctx, noted, task);
    return task?.id;
  });
  const { db } = ctx;
  const on = { dialect: db.dialect, all: noting(db) };
  await findLiveAttempts(on, "here");
  await listReviewed(on, ["shop"], 20);
  return { found, statements: statements.filter(({ sql: text }) => /^\s*SELECT/.test(text)) };
}

/** Returns how many rows PostgreSQL looked at. */
async function rowsTouched({ world }: AssignmentScene, statement: Sql): Promise<number> {
  interface Node {
    "Actual Rows": number;
    "Actual Loops": number;
    "Rows Removed by Filter"?: number;
    Plans?: Node[];
  }
  const rows = await world.server.ctx.db.all<Record<string, { Plan: Node }[]>>(
    join([raw("EXPLAIN (ANALYZE, FORMAT JSON)"), statement], " "),
  );
  const count = (node: Node): number =>
    (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"] +
    (node.Plans ?? []).reduce((sum, one) => sum + count(one), 0);
  return Object.values(rows[0] ?? {})[0]?.reduce((sum, { Plan }) => sum + count(Plan), 0) ?? assert.fail("no plan");
}

/** Returns how SQLite goes through tasks and attempts, other than by an index of those alone that are not over. */
async function longWays({ world }: AssignmentScene, statement: Sql): Promise<string[]> {
  const plan = await world.server.ctx.db.all<{ detail: string }>(join([raw("EXPLAIN QUERY PLAN"), statement], " "));
  const steps = plan
    .map(({ detail }) => detail)
    .filter((detail) => /^(SCAN|SEARCH) (tasks|task_attempts|t|a)\b/.test(detail));
  const isShort = (step: string) =>
    /USING (COVERING )?INDEX (aa_tasks_queued|aa_tasks_after|aa_attempts_live)\b/.test(step) ||
    /INDEX sqlite_autoindex_aa_(tasks|attempts)_\d \((repo=\? AND id=\?|attempt_id=\?)\)/.test(step);
  return steps.filter((step) => !isShort(step));
}

for (const on of DATABASES) {
  describe(`looking for the next task on ${on}`, () => {
    it("costs the same however many are finished", async () => {
      await using scene = await openAssignment(on);
      await scene.ana.submit("first");
      await scene.ana.submit("second", { dependencies: ["first"] });
      const costs: unknown[] = [];
      for (const round of [0, 1]) {
        await finish(scene, round);
        const { found, statements } = await looking(scene);
        assert.equal(found, "first");
        assert.ok(statements.length >= 6, `it looks ${statements.length} times`);
        if (on === "sqlite") {
          for (const statement of statements) assert.deepEqual(await longWays(scene, statement), [], statement.sql);
        } else {
          const touched = await Promise.all(statements.map((statement) => rowsTouched(scene, statement)));
          costs.push(touched);
          assert.ok(Math.max(...touched) < 50, `rows looked at: ${touched.join(", ")}`);
        }
      }
      assert.deepEqual(costs[0], costs[1]);
    });
  });
}
