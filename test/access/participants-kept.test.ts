import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweep } from "../../src/server/loops/sweep.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const DAY_MS = 86_400_000;

async function pass(world: World, days: number): Promise<void> {
  await world.advance(days * DAY_MS);
  while (await sweep(world.server.ctx));
}

for (const on of DATABASES) {
  describe(`a participant on ${on}`, () => {
    it("is kept 400 days after the last request, known by a fingerprint alone or by a credential", async () => {
      await using world = await openWorld({ on });
      const question = await world.agent("ana-bot").ask({ min_responses: 50 });
      const [bo, cy, dee] = [world.person("bo"), world.person("cy"), world.person("dee")];
      const credential = (await cy.answer(question, "Send")).headers.get("x-participant-token") ?? "";
      for (const person of [bo, dee]) await person.answer(question, "Send");
      const total = async (headers: Record<string, string>) =>
        (await world.call("GET", "/human/stats", { headers })).body.total_answers;

      await pass(world, 399);
      assert.equal(await total(bo.headers), 1);
      assert.equal(await total({ "x-participant-token": credential }), 1);

      await pass(world, 2);
      assert.equal(await total(bo.headers), 1);
      assert.equal(await total({ "x-participant-token": credential }), 1);
      assert.equal(await total(dee.headers), 0);

      await pass(world, 401);
      assert.equal(await total(bo.headers), 0);
    });
  });
}
