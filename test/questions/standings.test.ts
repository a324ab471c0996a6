import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweep } from "../../src/server/loops/sweep.ts";
import { examineRows } from "../../src/doctor/store/checks.ts";
import { sql } from "../../src/core/store/sql.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const DAY_MS = 86_400_000;
const PERIODS = ["daily", "weekly", "all_time"] as const;
/** Answers of three people on three days, of which the first is in the week before. */
async function lived(on: World["on"]): Promise<World> {
  // A Sunday at noon.
  const world = await openWorld({ on, at: Date.UTC(2026, 2, 1, 12) });
  const agent = world.agent("ana-bot");
  for (const [day, answering] of [["ana", "bo"], ["ana", "cy"], ["cy"]].entries()) {
    if (day > 0) await world.advance(DAY_MS);
    for (const name of answering) {
      const reply = await world.person(name).answer(await agent.ask({ options: ["Send", "Submit"] }), 0);
      assert.equal(reply.status, 201);
    }
  }
  return world;
}

async function leaderboards(world: World): Promise<unknown[]> {
  return Promise.all(
    PERIODS.map(async (period) => (await world.person("bo").get(`/human/leaderboard?period=${period}`)).body),
  );
}

async function broken(world: World): Promise<string[]> {
  return (await examineRows(world.server.ctx.db, false)).flatMap(({ offenders }) => offenders);
}

for (const on of DATABASES) {
  describe(`standings on ${on}`, () => {
    it("of days and weeks long over are deleted, and no others", async () => {
      await using world = await lived(on);
      const kept = async () =>
        (
          await world.server.ctx.db.all<{ period: string; rows: number }>(
            sql`SELECT period, count(*) AS rows FROM scores GROUP BY period ORDER BY period`,
          )
        ).map(({ period, rows }) => [period, rows]);
      const allTime = ["all_time", 3];
      while (await sweep(world.server.ctx));
      // The first answers were given on the Sunday before this week.
      assert.deepEqual(await kept(), [allTime, ["daily", 5], ["weekly", 2]]);

      await world.advance(9 * DAY_MS);
      while (await sweep(world.server.ctx));
      assert.deepEqual(await kept(), [allTime]);
      const [daily, weekly, ever] = (await leaderboards(world)) as { entries: unknown[]; your_rank: number | null }[];
      assert.deepEqual([daily?.entries, weekly?.entries, daily?.your_rank], [[], [], null]);
      assert.equal(ever?.your_rank, 3);
      assert.deepEqual(await broken(world), []);
    });
  });
}
