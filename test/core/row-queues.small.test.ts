import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openRowQueues } from "../../src/core/store/row-queues.ts";
import { Refusal } from "../../src/refusals.ts";
import { yieldToEventLoop } from "../../src/lib/event-loop.ts";
import { heldClock } from "../support/held-clock.ts";

const STALL_MS = 1800;

/** Work that ends when the test says so. */
function openWork() {
  const clock = heldClock();
  const queues = openRowQueues(clock, STALL_MS);
  const begun: string[] = [];
  const since: number[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const ended = (name: string): PromiseWithResolvers<string> =>
    ends.get(name) ?? ends.set(name, Promise.withResolvers()).get(name)!;
  const run = (name: string, row = "a row") =>
    queues
      .run(row, (sinceMs) => {
        begun.push(name);
        since.push(sinceMs);
        return ended(name).promise;
      })
      .catch((error: unknown) => (error instanceof Refusal ? error.code : String(error)));
  return { clock, begun, since, ended, run };
}

describe("a queue for one row", () => {
  it("has its work done one after another, in the order in which it came; other rows wait for nobody", async () => {
    const { begun, ended, run } = openWork();
    const all = [run("one"), run("two"), run("three"), run("elsewhere", "another row")];
    await yieldToEventLoop();
    assert.deepEqual(begun, ["one", "elsewhere"]);
    for (const name of ["one", "elsewhere", "two", "three"]) ended(name).resolve(`${name} done`);
    assert.deepEqual(await Promise.all(all), ["one done", "two done", "three done", "elsewhere done"]);
    assert.deepEqual(begun, ["one", "elsewhere", "two", "three"]);
  });

  it("lets work wait for as long as what is before it gets done, be it by a refusal, and gives it all its time then", async () => {
    const { clock, since, ended, run } = openWork();
    const all = ["one", "two", "three"].map((name) => run(name));
    clock.advance(STALL_MS - 1);
    ended("one").resolve("done");
    await yieldToEventLoop();
    clock.advance(STALL_MS - 1);
    ended("two").reject(new Refusal("question_closed"));
    await yieldToEventLoop();
    clock.advance(STALL_MS - 1);
    ended("three").resolve("done");
    assert.deepEqual(await Promise.all(all), ["done", "question_closed", "done"]);
    assert.deepEqual(since, [0, STALL_MS - 1, 2 * (STALL_MS - 1)]);
  });

  it("refuses what waits once nothing got done for so long, and not each in its turn", async () => {
    const { clock, begun, since, ended, run } = openWork();
    const all = ["one", "two", "three"].map((name) => run(name));
    clock.advance(1000);
    const late = run("late");
    clock.advance(STALL_MS - 1000);
    assert.deepEqual(await Promise.all(all.slice(1)), ["store_unavailable", "store_unavailable"]);
    ended("one").reject(new Refusal("store_unavailable"));
    await yieldToEventLoop();
    // `late` still has the rest of its own time. The end of `one` does not count as progress.
    assert.deepEqual(
      [begun, since],
      [
        ["one", "late"],
        [0, 1000],
      ],
    );
    ended("late").resolve("done");
    assert.deepEqual([await all[0], await late], ["store_unavailable", "done"]);
    const next = run("next");
    ended("next").resolve("done");
    assert.equal(await next, "done");
  });

  it("takes a thousand that wait, and refuses the next at once", async () => {
    const { ended, run } = openWork();
    const all = Array.from({ length: 1001 }, (_, i) => run(String(i)));
    assert.equal(await run("one more"), "store_unavailable");
    for (let i = 0; i <= 1000; i += 1) ended(String(i)).resolve("done");
    assert.deepEqual(new Set(await Promise.all(all)), new Set(["done"]));
  });
});
