import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ONE_DATABASE } from "../support/world.ts";
import { openTown } from "../support/town.ts";
import { raceIn } from "../support/town-race.ts";

/** The number of requests at once. Each is a race of its own, and all of them are in each other's way. */
const AT_ONCE = 10;

for (const on of ONE_DATABASE) {
  describe(`one approval at six people's real channels, on ${on}`, () => {
    it(`has one outcome ${AT_ONCE} times, tells everybody else whose, and closes every message`, async () => {
      await using town = await openTown(on);
      const winners = new Set(await raceIn(town, AT_ONCE));
      assert.ok(winners.size > 1, `the same channel won every time: ${[...winners].join()}`);
    });
  });
}
