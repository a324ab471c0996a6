import assert from "node:assert/strict";
import { it } from "node:test";
import { countAlike, listInbox } from "../../src/requests/store/inbox.ts";
import type { Queryable } from "../../src/core/store/db.ts";
import { join, raw, type Sql } from "../../src/core/store/sql.ts";
import { openWorld } from "../support/world.ts";

it("finds an agent's open requests without its history, on SQLite", async () => {
  await using world = await openWorld({ on: "sqlite" });
  const { db } = world.server.ctx;
  const statements: Sql[] = [];
  const recorder: Queryable = {
    dialect: "sqlite",
    async all<Row>(statement: Sql) {
      statements.push(statement);
      return db.all<Row>(statement);
    },
  };
  await countAlike(recorder, ["ana"], ["agent:shop-bot"]);
  await listInbox(recorder, ["ana"], { state: "open", askers: ["agent:shop-bot"] }, { limit: 50 });
  assert.equal(statements.length, 2);
  for (const statement of statements) {
    const plan = await db.all<{ detail: string }>(join([raw("EXPLAIN QUERY PLAN"), statement], " "));
    const ways = plan.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH) a\b/.test(detail));
    assert.deepEqual(ways, ["SEARCH a USING INDEX addressed_asks_due (expires_at>?)"]);
  }
});
