import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { openWorld, type World } from "../support/world.ts";

const MINUTE_MS = 60_000;

/** Another transaction holds a question, as an answer does that is about to commit. */
async function hold(world: World, question: { id: string }, change: string): Promise<pg.Client> {
  const holder = new pg.Client({ connectionString: world.config.databaseUrl });
  await holder.connect();
  await holder.query("BEGIN");
  await holder.query(`UPDATE questions SET ${change} WHERE ask_id = $1`, [question.id]);
  return holder;
}

/** Waits until so many clients wait for a row of the holder, or for a client that does. */
async function untilWaiting(holder: pg.Client, count: number): Promise<void> {
  for (;;) {
    const { rows } = await holder.query<{ waiting: string }>(
      `WITH waiting AS (SELECT pid, pg_blocking_pids(pid) AS behind FROM pg_locks WHERE NOT granted),
        first AS (SELECT pid FROM waiting WHERE pg_backend_pid() = ANY (behind))
      SELECT count(*) AS waiting FROM waiting
        WHERE pid IN (SELECT pid FROM first) OR behind && (SELECT array_agg(pid) FROM first)`,
    );
    if (Number(rows[0]?.waiting) >= count) return;
  }
}

describe("an answer that meets the deadline", () => {
  it("is refused when its question was held until the deadline had passed, and hears that it expired", async () => {
    await using world = await openWorld({ on: "postgres" });
    const question = await world.agent("ana-bot").ask({ min_responses: 1, timeout_seconds: 60 });
    const holder = await hold(world, question, "held = held");

    const answering = world.person("bo").answer(question, "In time, but not held in time.");
    await untilWaiting(holder, 1);
    await world.advance(MINUTE_MS);
    await holder.query("ROLLBACK");
    await holder.end();

    const { status, body } = await answering;
    assert.deepEqual([status, body.error.details.status], [410, "EXPIRED"]);
    assert.equal((await world.agent("ana-bot").poll(question.id)).body.status, "EXPIRED");
  });

  it("hears how the question ended when one that was in time commits after the deadline", async () => {
    await using world = await openWorld({ on: "postgres" });
    const question = await world.agent("ana-bot").ask({ min_responses: 1, timeout_seconds: 60 });
    const settled = `n = 1, version = 2, state = 'answered', settled_at = ${world.clock.now()}`;
    const holder = await hold(world, question, settled);

    await world.advance(MINUTE_MS);
    const answering = world.person("bo").answer(question, "Too late.");
    // The sweeper waits too.
    await Promise.race([answering, untilWaiting(holder, 2)]);
    await holder.query("COMMIT");
    await holder.end();

    const { status, body } = await answering;
    assert.deepEqual([status, body.error.details.status], [410, "CLOSED"]);
  });
});
