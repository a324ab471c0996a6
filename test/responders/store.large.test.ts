import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { findPin } from "../../src/asks/store/tool-pins.ts";
import { claimRun } from "../../src/asks/store/runner-runs.ts";
import { checkPin } from "../../src/asks/tools/pin-tool.ts";
import { shareRun } from "../../src/asks/jobs/share-run.ts";
import { until } from "../support/contract.ts";
import { heldClock } from "../support/held-clock.ts";
import { openRunnerWorld, type RunnerWorld } from "../support/runner-world.ts";

const NEVER = new AbortController().signal;

for (const on of ["sqlite", "postgres"] as const) {
  describe(`what the answer-runner keeps on ${on}`, () => {
    it("runs identical asks at one time once", async () => {
      const clock = heldClock();
      let isFirst = true;
      await using world: RunnerWorld = await openRunnerWorld({
        on,
        script: async () => {
          // The others wait for the first, and look again after a second.
          await until(() => !isFirst || clock.begun(1000) === 19);
          isFirst = false;
          return '{"answer_text": "EUR"}';
        },
        more: {
          share: (key, askId, signal, run) => shareRun({ ...world.store, clock }, { key, askId, signal }, run),
        },
      });
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => world.answer({ decisionKey: "key-1" })));
      assert.equal(world.llm.heard.length, 1);
      assert.deepEqual(new Set(outcomes.map(({ text }) => text)), new Set(["EUR"]));

      await world.answer({ decisionKey: "key-1" });
      assert.equal(world.llm.heard.length, 2, "what comes later is the cache's to answer");
      await Promise.all([world.answer(), world.answer({ decisionKey: "key-2" })]);
      assert.equal(world.llm.heard.length, 4, "other asks share nothing");
    });

    it("takes over the run of a server that died, and waits for that of one that lives", async () => {
      await using world = await openRunnerWorld({ on, script: () => '{"answer_text": "EUR"}' });
      const ctx = { ...world.store, clock: systemClock };
      await claimRun(world.store.db, "dead", "ask-elsewhere", -1);
      assert.equal((await world.answer({ decisionKey: "dead" })).text, "EUR");

      await claimRun(world.store.db, "alive", "ask-elsewhere", 60_000);
      const stop = new AbortController();
      const waits = shareRun(ctx, { key: "alive", askId: "ask-here", signal: stop.signal }, async () => "mine");
      stop.abort();
      assert.equal(await waits, null);
      const going = new AbortController();
      const gone = shareRun(ctx, { key: "left", askId: "a", signal: going.signal }, async () => {
        going.abort();
        return "half an answer";
      });
      assert.equal(await gone, "half an answer");
      const taken = await shareRun(ctx, { key: "left", askId: "b", signal: NEVER }, async () => "whole");
      assert.equal(taken, "whole", "what was stopped is left to others");

      const clock = heldClock();
      const [one, other] = await Promise.all(
        ["a", "b"].map((askId) =>
          shareRun({ ...ctx, clock }, { key: "race", askId, signal: NEVER }, async () => {
            await until(() => clock.begun(1000) === 1, "a rival that waits");
            return askId;
          }),
        ),
      );
      assert.equal(one, other);
    });

    it("pins a tool at its first use, and notes what it becomes", async () => {
      await using world = await openRunnerWorld({ on, script: () => "" });
      const tool = { name: "read", description: "Reads", inputSchema: { type: "object", properties: {} } };
      const check = (change = {}) => checkPin(world.store, "db.read", { ...tool, ...change });
      assert.deepEqual(await Promise.all([check(), check()]), ["same", "same"]);
      for (const change of [{ name: "x" }, { description: "x" }, { inputSchema: { type: "object" } }]) {
        assert.equal(await check(change), "changed");
      }
      const reordered = { inputSchema: { properties: {}, type: "object" } };
      assert.equal(await check(reordered), "same", "the order of its names says nothing");
      assert.equal((await findPin(world.store.db, "db.read"))?.changed, null);
      assert.equal(await world.acceptTool("db.read"), null);
      await check({ description: "Writes" });
      await world.acceptTool("db.read");
      assert.equal(await check({ description: "Writes" }), "same");
      assert.equal(await check(), "changed");
    });
  });
}
