import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { openAssignment } from "../support/assignment.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const codeOf = ({ status, body }: Reply): unknown[] => [status, body.error?.code];

for (const on of DATABASES) {
  describe(`submitting again on ${on}`, () => {
    it("changes nothing under the same key with the same body, and refuses another", async () => {
      await using scene = await openAssignment(on);
      const { ana, runner, world } = scene;
      const headers = { "idempotency-key": "k1" };
      const body = { id: "once", prompt: "Do it", dependencies: [] };
      const first = await ana.call("POST", "/assignment", { body, headers });
      assert.deepEqual([first.status, first.headers.get("idempotency-replayed")], [202, null]);
      await runner.start();
      const replay = await ana.call("POST", "/assignment", { body: { ...body, agent: null }, headers });
      assert.deepEqual([replay.status, replay.headers.get("idempotency-replayed")], [202, "true"]);
      assert.equal(replay.body.state, "preparing", "it is shown as it is now, and goes on");

      const other = await ana.call("POST", "/assignment", { body: { ...body, prompt: "Else" }, headers });
      assert.deepEqual(codeOf(other), [409, "IDEMPOTENCY_MISMATCH"]);
      const elsewhere = await ana.call("POST", "/assignment/blog", { body, headers });
      assert.deepEqual([elsewhere.status, elsewhere.headers.get("idempotency-replayed")], [202, null]);
      const bo = await scene.sender();
      assert.equal((await bo.call("POST", "/assignment/wiki", { body, headers })).status, 202);
      for (const key of ["x".repeat(201), " "]) {
        const bad = await ana.call("POST", "/assignment", { body, headers: { "idempotency-key": key } });
        assert.deepEqual(codeOf(bad), [400, "VALIDATION_ERROR"]);
      }
      await runner.fail("shop", "once");
      await world.advance(24 * 3_600_000);
      const nextDay = await ana.call("POST", "/assignment", { body, headers });
      assert.deepEqual([nextDay.headers.get("idempotency-replayed"), nextDay.body.state], [null, "queued"]);
    });

    it("happens once, however many come at once", async () => {
      await using scene = await openAssignment(on);
      const { ana, world } = scene;
      const nodes = [world, ...(on === "postgres" ? [await scene.addNode()] : [])];
      const headers = { authorization: `Bearer ${ana.key}`, "idempotency-key": "crowd" };
      const body = { id: "one", prompt: "Do it" };
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (nodes[i % nodes.length] ?? world).call("POST", "/assignment", { body, headers }),
        ),
      );
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([202]));
      assert.equal(replies.filter(({ headers: got }) => got.get("idempotency-replayed") === "true").length, 19);
      const [row] = await world.server.ctx.db.all<{ generation: number; seq: number }>(
        sql`SELECT generation, seq FROM tasks WHERE id = 'one'`,
      );
      assert.deepEqual(row, { generation: 1, seq: 1 });

      const crowd = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (nodes[i % nodes.length] ?? world).call("POST", "/assignment", {
            body: { ...body, prompt: `Do it ${i}` },
            headers: { authorization: headers.authorization },
          }),
        ),
      );
      assert.deepEqual(new Set(crowd.map(({ status }) => status)), new Set([202]));
      const [after] = await world.server.ctx.db.all<{ generation: number }>(
        sql`SELECT generation FROM tasks WHERE id = 'one'`,
      );
      assert.equal(after?.generation, 21);
    });

    it("is refused beyond two thousand open tasks of a repository, but not of a task that is open already", async () => {
      await using scene = await openAssignment(on);
      const { ana, world } = scene;
      await ana.submit("first");
      const { db } = world.server.ctx;
      await transact(world.server.ctx, async (tx) => {
        for (let i = 1; i < 2000; i += 1) {
          await tx.all(
            sql`INSERT INTO tasks (repo, id, slug, prompt, warnings_json, state, attempt, generation, started,
                submitted_at, place, updated_at, stale, resolve_conflict, principal, seq)
              VALUES ('shop', ${`many-${i}`}, 's', 'p', '[]', 'queued', 0, 1, 0, ${world.clock.now()}, ${i + 1},
                ${world.clock.now()}, 0, 0, 'assign:x', 0)`,
          );
        }
      });
      const over = await ana.call("POST", "/assignment", { body: { id: "over", prompt: "Do it" } });
      assert.deepEqual(codeOf(over), [429, "RATE_LIMITED"]);
      assert.deepEqual(over.body.error.details, { limit: 2000, open: 2000, retry_after: 60 });
      assert.equal(over.headers.get("retry-after"), "60");
      await ana.submit("first");
      await ana.submit("over", {}, "/assignment/blog");
      await ana.call("DELETE", "/assignment?id=first");
      await ana.submit("over");
      assert.equal((await db.all(sql`SELECT 1 AS one FROM tasks WHERE id = 'over'`)).length, 2);
    });
  });
}
