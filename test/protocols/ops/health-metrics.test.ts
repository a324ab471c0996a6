import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VERSION } from "../../../src/lib/version.ts";
import { DeliveryError } from "../../../src/channels/channel.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { askPeople, leaf, providerOf, until } from "../../support/addressed.ts";
import { DATABASES, openWorld, type World } from "../../support/world.ts";

/** Returns the value of one figure, with its labels as they are printed. */
async function figure(world: World, name: string): Promise<number | undefined> {
  const { text } = await world.call("GET", "/metrics");
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

for (const on of DATABASES) {
  describe(`what an operator is woken by, on ${on}`, () => {
    it("says which version runs, that it is ready, and how much room there is", async () => {
      await using world = await openWorld({ on });
      assert.equal(await figure(world, `parley_build_info{version="${VERSION}",database="${on}"}`), 1);
      assert.equal(await figure(world, "parley_ready"), 1);
      assert.ok(((await figure(world, "parley_data_free_bytes")) ?? 0) > 0);
      const { db } = world.server.ctx;
      await world.agent("ana-bot").ask();
      await db.transact((tx) => tx.all(sql`UPDATE questions SET version = 7`));
      await world.advance(60_000);
      await until(async () => {
        await world.advance(500);
        return (await figure(world, "parley_ready")) === 0;
      });
    });

    it("says how long the oldest of each kind has been waiting", async () => {
      await using world = await openWorld({ on });
      const oldest = (kind: string) => figure(world, `parley_oldest_waiting_seconds{kind="${kind}"}`);
      assert.deepEqual([await oldest("question"), await oldest("request"), await oldest("ask")], [0, 0, 0]);
      const { id } = await world.agent("ana-bot").ask({ timeout_seconds: 3600 });
      await world.advance(30_000);
      await askPeople(world.server.ctx);
      await world.advance(10_000);
      assert.deepEqual([await oldest("question"), await oldest("request")], [40, 10]);
      assert.equal(await figure(world, "parley_requests_open"), 1);
      assert.equal((await world.agent("ana-bot").cancel(id)).status, 200);
      assert.equal(await oldest("question"), 0);
    });

    it("says which channel does not get its messages out, and that it does again", async () => {
      const email = providerOf("email");
      email.failing.push(...Array.from({ length: 3 }, () => new DeliveryError("is away", { retry: true })));
      await using world = await openWorld({ on, channels: [email] });
      const target = { via: "email", to: "ana@example.com", informed: false, settings: {} } as const;
      await askPeople(world.server.ctx, { audience: leaf(target) });
      const mails = (name: string) => figure(world, `parley_deliveries_${name}{channel="email"}`);
      await until(async () => {
        await world.advance(100);
        return (await mails("retrying")) === 1;
      });
      assert.equal(await mails("waiting"), 1);
      await until(async () => {
        await world.advance(1000);
        return email.sent.length === 1;
      });
      await until(async () => (await mails("waiting")) === 0);
      assert.deepEqual([await mails("retrying"), await mails("late_seconds")], [0, 0]);
    });
  });
}
