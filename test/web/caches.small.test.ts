import assert from "node:assert/strict";
import { it } from "node:test";
import { dropStale } from "../../web/src/stale-caches.ts";

/** The caches of a browser, in the order in which they were made, each with the files that it holds. */
function cachesOf(held: Record<string, readonly string[]>): CacheStorage {
  const all = new Map(Object.entries(held));
  return {
    keys: () => Promise.resolve([...all.keys()]),
    open: (name: string) => Promise.resolve({ keys: () => Promise.resolve(all.get(name)) }),
    delete: (name: string) => Promise.resolve(all.delete(name)),
  } as unknown as CacheStorage;
}

it("keeps the files of the release before, though an install has failed since", async () => {
  for (const [held, left] of [
    [{ a: ["/"], b: ["/"], c: ["/"] }, ["b", "c"]],
    [{ a: ["/"], b: [], c: ["/"] }, ["a", "c"]],
    [{ b: [], c: ["/"] }, ["c"]],
    [{ c: ["/"] }, ["c"]],
  ] as const) {
    const caches = cachesOf(held);
    await dropStale(caches, "c");
    assert.deepEqual(await caches.keys(), left);
  }
});
