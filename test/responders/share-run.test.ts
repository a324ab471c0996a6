import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shareRun } from "../../src/asks/jobs/share-run.ts";
import { fresh } from "../support/contract.ts";
import { answer, sharedRelay } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const NEVER = new AbortController().signal;

for (const on of DATABASES) {
  describe(`one run for identical asks, on ${on}`, () => {
    const scene = sharedRelay(on);

    it("serves those that were posted before the first had its answer, and none that came later", async () => {
      const { ask, program, world } = scene();
      const key = fresh("key");
      const runOf = (asked: { ask_id: string }, gives: string) =>
        shareRun(world.server.ctx, { key, askId: asked.ask_id, signal: NEVER }, async () => gives);
      const [first, beside] = [await ask(), await ask()];
      assert.equal(await runOf(first, "first"), "first");
      assert.equal(await runOf(beside, "beside"), "first");

      const service = await program({ name: fresh("service"), scope: "answer" });
      assert.equal((await answer(service, first, { answer_text: "EUR" })).status, 202);
      await world.advance(1);
      assert.equal(await runOf(beside, "beside"), "first", "it was posted before the answer");
      const later = await ask();
      assert.equal(await runOf(later, "later"), "later");
    });

    it("is done again for an ask that comes to it a second time", async () => {
      const { ask, world } = scene();
      const [key, asked] = [fresh("key"), await ask()];
      const runOf = (gives: string) =>
        shareRun(world.server.ctx, { key, askId: asked.ask_id, signal: NEVER }, async () => gives);
      assert.equal(await runOf("once"), "once");
      assert.equal(await runOf("twice"), "twice");
    });
  });
}
