import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { DATABASES, openWorld, type World } from "../support/world.ts";

/** From now on time goes on by a second whenever the store looks at it. */
async function letTimeRun(world: World): Promise<void> {
  const { now } = world.clock;
  let looks = 0;
  world.clock.now = () => now() + 1000 * ++looks;
  if (world.config.databaseUrl === undefined) return;

  const client = new pg.Client({ connectionString: world.config.databaseUrl });
  await client.connect();
  await client.query(`CREATE SEQUENCE looks`);
  await client.query(`CREATE OR REPLACE FUNCTION parley_now() RETURNS bigint LANGUAGE sql VOLATILE
    AS $$ SELECT ms + 1000 * nextval('looks') FROM held_clock $$`);
  await client.end();
}

for (const on of DATABASES) {
  describe(`the end of a question on ${on}`, () => {
    it("is the time of its last answer, however long the store took to write it down", async () => {
      await using world = await openWorld({ on });
      const ana = world.agent("ana-bot");
      const question = await ana.ask({ min_responses: 2 });
      await letTimeRun(world);
      await world.person("bo").answer(question, "Send");
      await world.person("cy").answer(question, "Submit");

      const { body } = await ana.poll(question.id, "?expand=meta");

      assert.equal(body.status, "CLOSED");
      assert.equal(body.closed_at, body.responses[1].created_at);
    });
  });
}
