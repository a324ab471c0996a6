import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { raw } from "../../src/core/store/sql.ts";
import { yieldToEventLoop } from "../../src/lib/event-loop.ts";
import { type FeedChange, followFeed } from "../../src/questions/follow-feed.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

/** Lets time pass until something is true; says whether it came true. */
async function comesTrue(world: World, until: () => boolean, turns = 2000): Promise<boolean> {
  for (; turns > 0 && !until(); turns -= 1) {
    await world.advance(50);
    await yieldToEventLoop();
  }
  return until();
}

for (const on of DATABASES) {
  describe(`the feed on ${on}`, () => {
    it("leaves nothing out of its later pages when a node's clock is slow", async () => {
      await using world = await openWorld({ on });
      const ana = world.agent("ana-bot");
      const asked = [await ana.ask(), await ana.ask(), await ana.ask()];
      world.clock.step(-60_000);

      const one = await world.person("bo").get("/human/questions?limit=2");
      const two = await world.person("bo").get(`/human/questions?limit=2&cursor=${one.body.next_cursor}`);

      const shown = [one, two].flatMap(({ body }) =>
        body.questions.map((each: { question_id: string }) => each.question_id),
      );
      assert.deepEqual(shown.toSorted(), asked.map(({ id }) => id).toSorted());
    });

    it("tells those who follow it what happened while it could not be read", async () => {
      await using world = await openWorld({ on });
      const { ctx } = world.server;
      const changes: FeedChange[] = [];
      let failed = 0;
      const log = Object.assign(Object.create(ctx.log) as typeof ctx.log, { warn: () => (failed += 1) });
      const gone = new AbortController();
      const following = (async () => {
        for await (const change of followFeed({ ...ctx, log }).changes(gone.signal)) changes.push(change);
      })();

      // Only what is asked after its first reading is new to it.
      do await world.agent("ana-bot").ask();
      while (!(await comesTrue(world, () => changes.length > 0, 100)));

      await ctx.db.transact((tx) => tx.all(raw("ALTER TABLE questions RENAME TO mislaid")));
      assert.ok(await comesTrue(world, () => failed > 0), "a reading fails");
      await ctx.db.transact((tx) => tx.all(raw("ALTER TABLE mislaid RENAME TO questions")));
      const { id } = await world.agent("ana-bot").ask();
      assert.ok(
        await comesTrue(world, () => changes.some(({ questionId }) => questionId === id)),
        "the next question is told",
      );

      gone.abort();
      await following;
    });
  });
}
