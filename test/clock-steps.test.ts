import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DATABASES, openWorld } from "./world.ts";

const HOUR = 3_600_000;

for (const on of DATABASES) {
  for (const [wrong, stepMs] of [
    ["fast", 2 * HOUR],
    ["slow", -2 * HOUR],
  ] as const) {
    describe(`a node whose clock is two hours ${wrong}, on ${on}`, () => {
      it("counts reads as any other does", async () => {
        await using world = await openWorld({ on, env: { PARLEY_ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR: "3" } });
        const ana = world.agent("ana-bot");
        const { id } = await ana.ask();
        world.clock.step(stepMs);

        const first = [await ana.poll(id), await ana.poll(id), await ana.poll(id), await ana.poll(id)];
        await world.advance(HOUR + 1000);
        const later = await ana.poll(id);

        assert.deepEqual(
          first.map(({ status }) => status),
          [200, 200, 200, 429],
        );
        assert.equal(first[3]?.headers.get("retry-after"), "3600");
        // SQLite's clock is the node's own, and stands still until the slow one has come back to where it was.
        if (on === "postgres" || wrong === "fast") assert.equal(later.status, 200);
      });
    });
  }
}
