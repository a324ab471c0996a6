import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { raw } from "../../src/core/store/sql.ts";
import { openWorld } from "../support/world.ts";

describe("a deadline while the store takes no writes", () => {
  it("is told once no answer that came in time can still be on its way, and not before", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const ana = world.agent("ana-bot");
    const { id } = await ana.ask({ timeout_seconds: 60 });
    await assert.rejects(world.server.ctx.db.transact((tx) => tx.all(raw("PRAGMA query_only = ON"))));

    await world.advance(61_000);
    assert.equal((await ana.poll(id)).status, 503);
    await world.advance(10_000);
    const { status, body } = await ana.poll(id);

    assert.deepEqual([status, body.status], [200, "EXPIRED"]);
  });
});
