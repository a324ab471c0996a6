import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shareRead, shareRun } from "../../src/core/store/share-read.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { yieldToEventLoop } from "../../src/lib/event-loop.ts";

/** Reads that end when they are told to. */
function heldReads() {
  const ends: { resolve: (n: number) => void; reject: (error: Error) => void }[] = [];
  const read = () => new Promise<number>((resolve, reject) => ends.push({ resolve, reject }));
  return { ends, read };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await yieldToEventLoop();
}

describe("a read that callers share", () => {
  it("is one for those who ask together, and one more for all who ask while it is under way", async () => {
    const { ends, read } = heldReads();
    const shared = shareRead({ sleep: () => new Promise(() => {}) }, read);
    const first = [shared(), shared()];
    await turns();
    assert.equal(ends.length, 1);
    const second = [shared()];
    await turns();
    second.push(shared());
    await turns();
    assert.equal(ends.length, 1);
    ends[0]?.resolve(1);
    assert.deepEqual(await Promise.all(first), [1, 1]);
    await turns();
    assert.equal(ends.length, 2);
    ends[1]?.resolve(2);
    assert.deepEqual(await Promise.all(second), [2, 2]);
  });

  it("fails for those who asked for it, and for nobody after them", async () => {
    const { ends, read } = heldReads();
    const shared = shareRead(systemClock, read);
    const first = [shared(), shared()];
    await turns();
    const second = shared();
    ends[0]?.reject(new Error("away"));
    for (const one of first) await assert.rejects(one, /away/);
    await turns();
    ends[1]?.resolve(2);
    assert.equal(await second, 2);
  });

  it("does not wait for long for one that does not end", async () => {
    const { ends, read } = heldReads();
    const waits: number[] = [];
    const shared = shareRead({ sleep: async (ms) => void waits.push(ms) }, read);
    const first = shared();
    await turns();
    const second = shared();
    await turns();
    assert.deepEqual([ends.length, waits], [2, [100]]);
    ends[1]?.resolve(2);
    assert.equal(await second, 2);
    ends[0]?.resolve(1);
    assert.equal(await first, 1);
  });
});

describe("a run that waiters share", () => {
  it("begins after the last of one turn asked, once for each key and turn", async () => {
    const db = {} as Parameters<typeof shareRun>[0];
    let runs = 0;
    const ask = (key: string) => shareRun(db, key, async () => (runs += 1));
    const together = [ask("one"), ask("one"), ask("other")];
    assert.equal(runs, 0);
    assert.deepEqual(await Promise.all(together), [1, 1, 2]);
    assert.equal(await ask("one"), 3);
  });
});
