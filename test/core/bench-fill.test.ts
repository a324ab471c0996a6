import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fillPostgres, fillSqlite, storedQuestion } from "../../bench/fill.ts";
import { sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { DATABASES, openWorld } from "../support/world.ts";

const FILLING = { questions: 60, open: 5 };

for (const on of DATABASES) {
  describe(`a store that the benchmark fills, on ${on}`, () => {
    it("has the tables of today, and rows in which the doctor finds nothing", async () => {
      await using world = await openWorld({ on, at: Date.now() });
      const { config, server } = world;
      if (config.databaseUrl) await fillPostgres(config.databaseUrl, FILLING);
      else fillSqlite(config.dataDir, FILLING);

      const { id, agent } = storedQuestion(FILLING.questions - 1);
      const reply = await world.agent(agent).poll(id);
      assert.deepEqual([reply.status, reply.body.status], [200, "PARTIAL"], reply.text);
      const [scored] = await server.ctx.db.all<{ answers: number }>(
        sql`SELECT sum(answers) AS answers FROM scores WHERE period = 'all_time'`,
      );
      const [given] = await server.ctx.db.all<{ answers: number }>(sql`SELECT count(*) AS answers FROM responses`);
      assert.ok(Number(given?.answers) > 0);
      assert.equal(Number(scored?.answers), Number(given?.answers));
      const findings = await examineStore(server.ctx, { quick: false });
      assert.deepEqual(
        findings.filter(({ offenders }) => offenders.length > 0),
        [],
      );
    });
  });
}
