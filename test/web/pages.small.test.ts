import assert from "node:assert/strict";
import { it } from "node:test";
import { type InfiniteData, InfiniteQueryObserver, QueryClient } from "@tanstack/query-core";
import { readOn } from "../../web/src/query/pages.ts";

/** The state in which the list is read, which every page shows. */
let state = "a";

/** A list of ten pages, whose readings wait until they are let go. */
function openList() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } });
  const reads: (() => void)[] = [];
  const observer = new InfiniteQueryObserver<string, Error, InfiniteData<string, number>, string[], number>(client, {
    queryKey: ["list"],
    queryFn: ({ pageParam: page }) => new Promise((resolve) => reads.push(() => resolve(`${page}${state}`))),
    initialPageParam: 1,
    getNextPageParam: (_last, _all, page) => (page < 10 ? page + 1 : undefined),
  });
  const stop = observer.subscribe(() => {});
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    client,
    observer,
    shown: () => observer.getCurrentResult().data?.pages,
    /** Lets every reading go, and those that follow from it. */
    async flow(): Promise<void> {
      for (await turn(); reads.length > 0; await turn()) reads.shift()?.();
    },
    turn,
    [Symbol.dispose]() {
      stop();
      client.clear();
    },
  };
}

it("reads a page more after the reading of the list that goes on, which is not given up", async () => {
  state = "a";
  using list = openList();
  await list.flow();
  const anew = list.client.invalidateQueries({ queryKey: ["list"] });
  const more = readOn(list.observer, { throwOnError: true });
  state = "b";
  await list.flow();
  await Promise.all([anew, more]);
  assert.deepEqual(list.shown(), ["1b", "2b"]);
});

it("reads a page more, though the list is read anew meanwhile", async () => {
  state = "a";
  using list = openList();
  await list.flow();
  const more = readOn(list.observer, { throwOnError: true });
  await list.turn();
  state = "b";
  const anew = list.client.invalidateQueries({ queryKey: ["list"] });
  await list.flow();
  await Promise.all([anew, more]);
  assert.deepEqual(list.shown(), ["1b", "2b"]);
});
