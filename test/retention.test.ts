import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweep } from "../src/loops/sweep.ts";
import { DATABASES, openWorld } from "./world.ts";

const DAY_MS = 86_400_000;

for (const on of DATABASES) {
  describe(`retention on ${on}`, () => {
    it("forgets an answered and an expired question each after its own days, and an open one never", async () => {
      const env = {
        PARLEY_ASK_A_HUMAN_RETENTION_CLOSED_DAYS: "3",
        PARLEY_ASK_A_HUMAN_RETENTION_EXPIRED_DAYS: "1",
      };
      await using world = await openWorld({ on, env });
      const ana = world.agent("ana-bot");
      const answered = await ana.ask({ min_responses: 1 });
      await world.person("bo").answer(answered, "Submit, because it says what happens.");
      const cancelled = await ana.ask();
      await ana.cancel(cancelled.id);
      const statuses = async (...ids: string[]) => Promise.all(ids.map(async (id) => (await ana.poll(id)).status));

      await world.advance(DAY_MS - 1);
      await sweep(world.server.ctx);
      assert.deepEqual(await statuses(answered.id, cancelled.id), [200, 200]);

      await world.advance(1);
      await sweep(world.server.ctx);
      assert.deepEqual(await statuses(answered.id, cancelled.id), [200, 404]);

      await world.advance(DAY_MS);
      const open = await ana.ask({ timeout_seconds: 86_400 });
      await world.advance(DAY_MS - 1);
      await sweep(world.server.ctx);
      assert.deepEqual(await statuses(answered.id, open.id), [200, 200]);

      await world.advance(1);
      await sweep(world.server.ctx);
      assert.deepEqual(await statuses(answered.id, open.id), [404, 200]);
    });
  });
}
