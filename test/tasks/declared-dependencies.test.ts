import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findFirstInLine } from "../../src/tasks/store/tasks.ts";
import { listDependencies } from "../../src/tasks/store/dependencies.ts";
import { raw, sql, type Sql } from "../../src/core/store/sql.ts";
import { openAssignment, sharedAssignment } from "../support/assignment.ts";
import { DATABASES } from "../support/world.ts";

const gist = ({ state, blockedBy, blockedReason }: Record<string, unknown>): unknown[] => [
  state,
  blockedBy,
  blockedReason,
];

for (const on of DATABASES) {
  describe(`dependencies of tasks on ${on}`, () => {
    const shared = sharedAssignment(on);

    it("may be submitted in any order, and each starts when what it waits for is completed", async () => {
      const { ana, runner } = shared();
      await ana.submit("d", { dependencies: ["b", "c"] });
      await ana.submit("b", { dependencies: ["a"] });
      await ana.submit("c", { dependencies: ["a"] });
      assert.deepEqual(gist(await ana.task("d")), [
        "blocked",
        ["b", "c"],
        "b is not completed yet; c is not completed yet",
      ]);
      assert.deepEqual(gist(await ana.task("b")), ["blocked", ["a"], "a is not known yet"]);
      assert.equal(await runner.start(), undefined);
      await ana.submit("a");
      assert.deepEqual(gist(await ana.task("b")), ["blocked", ["a"], "a is not completed yet"]);
      assert.equal(await runner.start(), "a");
      assert.equal(await runner.start(), undefined);
      await runner.complete("shop", "a");
      assert.deepEqual([await runner.start(), await runner.start()], ["b", "c"]);
      await runner.complete("shop", "b");
      assert.equal(await runner.start(), undefined);
      assert.deepEqual(gist(await ana.task("d")), ["blocked", ["c"], "c is not completed yet"]);
      await runner.complete("shop", "c");
      assert.equal(await runner.start(), "d");
      await runner.complete("shop", "d");
      const used = await listDependencies(shared().world.server.ctx.db, "shop", ["d"]);
      const commits = await Promise.all(["b", "c"].map(async (id) => (await ana.task(id)).commit));
      assert.deepEqual(
        used.map(({ usedCommit }) => usedCommit),
        commits,
      );
    });

    it("never form a ring, whichever task comes last", async () => {
      const { ana } = shared();
      await ana.submit("ring-a", { dependencies: ["ring-b"] });
      await ana.submit("ring-b", { dependencies: ["other", "ring-c"] });
      const body = { id: "ring-c", prompt: "Close it", dependencies: ["else", "ring-a"] };
      const reply = await ana.call("POST", "/assignment", { body });
      assert.equal(reply.status, 409);
      assert.deepEqual(reply.body.error, {
        code: "DEPENDENCY_CYCLE",
        message: "ring-c depends on ring-a, ring-a depends on ring-b, ring-b depends on ring-c",
        details: { cycle: ["ring-c", "ring-a", "ring-b", "ring-c"] },
      });
      assert.deepEqual((await ana.call("GET", "/assignment?id=ring-c")).body.tasks, []);
      await ana.submit("ring-c", { dependencies: ["ring-a"] }, "/assignment/wiki");
      const pair = { id: "ring-b", prompt: "Turn it", dependencies: ["ring-a"] };
      const two = await ana.call("POST", "/assignment", { body: pair });
      assert.deepEqual(two.body.error.details.cycle, ["ring-b", "ring-a", "ring-b"]);
      await ana.submit("ring-a");
      assert.equal((await ana.call("POST", "/assignment", { body: pair })).status, 202);
    });

    it("that fail keep those that wait for them blocked by name, until they are submitted again and completed", async () => {
      const { ana, runner } = shared();
      await ana.submit("base");
      await ana.submit("next", { dependencies: ["base"] });
      while ((await runner.start()) !== "base");
      await runner.fail("shop", "base", "exit 1\nmore words");
      assert.deepEqual(gist(await ana.task("next")), ["blocked", ["base"], "base failed: exit 1"]);
      await ana.submit("base");
      assert.deepEqual(gist(await ana.task("next")), ["blocked", ["base"], "base is not completed yet"]);
      await ana.call("DELETE", "/assignment?id=base");
      assert.deepEqual(gist(await ana.task("next")), ["blocked", ["base"], "base was canceled"]);
      await ana.submit("base");
      while ((await runner.start()) !== "base");
      await runner.complete("shop", "base");
      assert.deepEqual(gist(await ana.task("next")), ["queued", [], undefined]);
      await ana.submit("base");
      assert.deepEqual(gist(await ana.task("next")), ["blocked", ["base"], "base is not completed yet"]);
    });

    it("may have to be approved first, by the rule of the repository or of the task", async () => {
      const { ana, runner } = shared();
      await ana.submit("b-strict", {}, "/assignment/blog");
      await ana.submit("b-next", { dependencies: ["b-strict"] }, "/assignment/blog");
      await ana.submit("b-free", { startDependentsOn: "completed" }, "/assignment/blog");
      await ana.submit("b-other", { dependencies: ["b-free"] }, "/assignment/blog");
      const want = new Set(["b-strict", "b-free"]);
      while (want.size > 0) want.delete((await runner.start()) ?? assert.fail("nothing starts"));
      await runner.complete("blog", "b-strict");
      await runner.complete("blog", "b-free");
      assert.deepEqual(gist(await ana.task("b-next", "/assignment/blog")), [
        "blocked",
        ["b-strict"],
        "b-strict is not approved yet",
      ]);
      assert.equal((await ana.task("b-other", "/assignment/blog")).state, "queued");
      await runner.move("blog", "b-strict", "approved");
      assert.equal((await ana.task("b-next", "/assignment/blog")).state, "queued");
    });
  });

  describe(`work on an earlier commit, on ${on}`, () => {
    it("is marked stale, or done again where the repository says so", async () => {
      await using scene = await openAssignment(on);
      const { ana, runner } = scene;
      for (const repo of ["shop", "wiki"]) {
        const endpoint = `/assignment/${repo}`;
        await ana.submit("low", {}, endpoint);
        await ana.submit("mid", { dependencies: ["low"] }, endpoint);
        await ana.submit("top", { dependencies: ["low", "mid"] }, endpoint);
        for (const id of ["low", "mid", "top"]) {
          assert.equal(await runner.start(), id);
          await runner.complete(repo, id);
        }
        await ana.submit("low", {}, endpoint);
        assert.equal(await runner.start(), "low");
        assert.deepEqual((await ana.task("mid", endpoint)).stale, false);
        await runner.complete(repo, "low", "low, other");
        const states = await Promise.all(["mid", "top"].map((id) => ana.task(id, endpoint)));
        const [mid, top] = states.map(({ state, stale, blockedBy }) => [state, stale, blockedBy]);
        if (repo === "shop") {
          assert.deepEqual(
            [mid, top],
            [
              ["review", true, []],
              ["review", true, []],
            ],
          );
          continue;
        }
        assert.deepEqual(
          [mid, top],
          [
            ["queued", false, []],
            ["blocked", false, ["mid"]],
          ],
        );
        assert.equal(await runner.start(), "mid");
        await runner.complete(repo, "mid", "mid, other");
        assert.equal(await runner.start(), "top");
      }
    });
  });
}

describe("the line of tasks", () => {
  for (const on of DATABASES) {
    it(`is looked at by its own index, however many tasks are over, on ${on}`, async () => {
      await using scene = await openAssignment(on);
      const { world, ana, runner } = scene;
      const { db } = world.server.ctx;
      await db.transact((tx) =>
        tx.all(
          sql`INSERT INTO tasks (repo, id, slug, prompt, warnings_json, state, attempt, generation, started,
              submitted_at, place, updated_at, stale, resolve_conflict, principal, seq)
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            SELECT 'shop', 'over-' || i, 's', 'p', '[]', 'failed', 0, 1, 0, i, i, i, 0, 0, 'assign:x', 0 FROM n`,
        ),
      );
      await db.transact((tx) => tx.all(raw("ANALYZE")));
      await ana.submit("one");
      let asked: Sql | undefined;
      const all = async <Row>(statement: Sql): Promise<Row[]> => {
        asked = statement;
        return db.all<Row>(statement);
      };
      const look = { repo: "shop", agent: "claude", agents: null };
      assert.equal((await findFirstInLine({ dialect: db.dialect, all }, look))?.task.id, "one");
      const [explain, sort] =
        on === "sqlite" ? ["EXPLAIN QUERY PLAN ", /TEMP B-TREE|^SCAN/] : ["EXPLAIN ", /Sort|Seq Scan on tasks/];
      const rows = await db.all<Record<string, string>>(sql`${raw(explain)}${asked}`);
      const plan = rows.map((row) => row["detail"] ?? row["QUERY PLAN"]).join("\n");
      assert.match(plan, /aa_tasks_queued/);
      assert.doesNotMatch(plan, sort);
      assert.equal(await runner.start(), "one");
    });
  }

  it("fills no slot twice, whoever looks at the same moment", async () => {
    await using scene = await openAssignment("postgres");
    const { ana, runner } = scene;
    for (let i = 0; i < 8; i += 1) await ana.submit(`p${i}`);
    const started = await Promise.all(Array.from({ length: 8 }, () => runner.start()));
    assert.deepEqual(started.filter((id) => id !== undefined).sort(), ["p0", "p1"]);
    for (let i = 0; i < 8; i += 1) await ana.submit(`w${i}`, {}, "/assignment/wiki");
    await ana.submit("b0", {}, "/assignment/blog");
    const more = await Promise.all(Array.from({ length: 8 }, () => runner.start()));
    assert.deepEqual(more.filter((id) => id !== undefined).sort(), ["b0", "w0"], "four in all");
  });
});
