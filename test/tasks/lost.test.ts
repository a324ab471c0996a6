import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openLocalAttemptClient } from "../../src/tasks/loops/local-attempt-client.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { endSilentWork, noteHolder } from "../../src/tasks/lost-workshops.ts";
import { startAttempt } from "../../src/tasks/start-attempt.ts";
import { AttemptLost } from "../../src/workshop/attempt-client.ts";
import { openAssignment, type AssignmentScene } from "../support/assignment.ts";
import { DATABASES } from "../support/world.ts";

const GONE = "workshop:gone";
const HERE = "workshop:here";
const HOUR_MS = 3_600_000;

function toolsOf({ world, ana }: AssignmentScene) {
  const { ctx } = world.server;
  const slots = { repos: ctx.assignment.repos, parallel: 4, agents: ["claude"] };
  const killed: string[] = [];
  const starts = (holder: string) => startAttempt(ctx, { holder, slots });
  return {
    ctx,
    killed,
    starts,
    /** Task "a" is at work in the workshop that is not here. */
    async beginElsewhere() {
      await ana.submit("a");
      const first = await starts(GONE);
      assert.ok(first);
      await noteHolder(ctx, GONE);
      return first;
    },
    look: (survivors: readonly number[] = []) =>
      endSilentWork(ctx, HERE, (attemptId) => {
        killed.push(attemptId);
        return Promise.resolve(survivors);
      }),
    task: () => ana.task("a"),
    async examine() {
      const found = await examineStore(ctx, { quick: false });
      const broken = found.filter(({ offenders }) => offenders.length > 0);
      assert.deepEqual(broken, []);
    },
  };
}

for (const on of DATABASES) {
  describe(`work whose workshop is gone for good, on ${on}`, () => {
    it("ends a minute after it was last heard of, and the next submission starts then and not before", async () => {
      await using scene = await openAssignment(on);
      const { ctx, starts, beginElsewhere, look, killed, task, examine } = toolsOf(scene);
      const first = await beginElsewhere();
      await scene.ana.submit("a", { prompt: "Again" });
      await scene.world.advance(50_000);
      // It ends what it holds itself, as long as it is there.
      await noteHolder(ctx, GONE);
      await scene.world.advance(50_000);
      await look();
      assert.deepEqual([killed, await starts(HERE)], [[], null]);

      await scene.world.advance(11_000);
      await look([4711]);
      assert.deepEqual(killed, [first.attempt.attemptId]);
      assert.equal(await starts(HERE), null, "what still runs here holds it up");
      await look();
      const second = await starts(HERE);
      assert.deepEqual([second?.attempt.generation, second?.attempt.n], [2, 2]);
      assert.equal((await task()).state, "preparing");
      await examine();
    });

    it("is lost after an hour without a word, and the one that comes back is told so", async () => {
      await using scene = await openAssignment(on);
      const { ctx, starts, beginElsewhere, look, killed, task, examine } = toolsOf(scene);
      const first = await beginElsewhere();
      await scene.world.advance(HOUR_MS - 1000);
      await look();
      assert.deepEqual([killed, (await task()).state], [[], "preparing"]);
      await scene.world.advance(2000);
      await look();
      assert.deepEqual(killed, [first.attempt.attemptId]);
      const failed = await task();
      assert.deepEqual([failed.status, failed.state], ["error", "failed"]);
      assert.match(failed.error, /not heard of for an hour/);
      await examine();

      const client = openLocalAttemptClient(ctx, ctx.assignment, first, new AbortController().signal);
      await client.keep();
      assert.equal(client.ending.aborted, true);
      await assert.rejects(client.step("running"), AttemptLost);
      client.close();
      await scene.ana.submit("a");
      assert.equal((await starts(HERE))?.attempt.n, 2);
    });
  });
}
