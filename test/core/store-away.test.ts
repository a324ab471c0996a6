import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";
import { describe, it } from "node:test";
import { openNotify } from "../../src/core/store/notify.ts";
import { isAway } from "../../src/core/store/postgres/errors.ts";
import { sql } from "../../src/core/store/sql.ts";
import { assertRefused, LABELS, limitsOf, until } from "../support/contract.ts";
import { freshDatabase } from "../support/fresh-database.ts";
import { heldClock } from "../support/held-clock.ts";
import { DATABASES, openWorld } from "../support/world.ts";

const AWAY = { code: "STORE_UNAVAILABLE", message: "Try again shortly." };

/** A wire to a database that can be cut and mended. */
async function openWire(databaseUrl: string) {
  const there = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isSilent = false;
  let refused = 0;
  const server = createServer((near) => {
    if (isCut) {
      refused += 1;
      near.destroy();
      return;
    }
    sockets.add(near);
    if (isSilent) return void near.on("error", () => {}).pause();
    const far = connect(Number(there.port), there.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy()).on("close", () => void sockets.delete(one));
      one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = Object.assign(new URL(databaseUrl), { port: String((server.address() as AddressInfo).port) });
  return {
    url: url.href,
    /** How many connections were refused while the wire was cut. */
    refused: () => refused,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    /** Nothing is forwarded any more, without notice: as when the host at the other end is gone. */
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend() {
      if (isSilent) for (const socket of sockets) socket.destroy();
      isSilent = isCut = false;
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe("a store that is away", () => {
  it("is asked once a second whether it is back, by one connection, and wakes others from then on", async () => {
    using wire = await openWire(await freshDatabase());
    const clock = heldClock();
    const topics: string[] = [];
    let failed = 0;
    const options = { url: wire.url, clock, waitMs: 60_000, onError: () => (failed += 1) };
    const listening = await openNotify({ ...options, onTopic: (topic) => topics.push(topic) });
    wire.cut();
    for (let second = 1; second <= 6; second += 1) {
      await until(() => clock.isAwaited(1000));
      clock.advance(1000);
      await until(() => wire.refused() >= second && clock.isAwaited(1000));
      assert.equal(wire.refused(), second);
    }
    wire.mend();
    clock.advance(1000);
    const other = await openNotify({ ...options, onTopic: () => undefined });
    await until(() => {
      other.send(["question q_1"]);
      return topics.length > 0;
    });
    assert.deepEqual([new Set(topics), failed > 0], [new Set(["question q_1"]), true]);
    await other.close();
    await listening.close();
  });

  it("is told as such, with when to come again, and answers again by itself", async () => {
    using wire = await openWire(await freshDatabase());
    await using world = await openWorld({ on: "sqlite", env: { DATABASE_URL: wire.url } });
    const agent = world.agent("ana-bot");
    const { id } = await agent.ask({ options: LABELS });
    const kept = await agent.create({ idempotency_key: "once" });
    wire.cut();

    for (const reply of [
      await agent.create(),
      await agent.poll(id),
      await agent.cancel(id),
      await world.person("bo").answer(id, 0),
      await world.person("bo").get("/human/questions"),
      await world.person("bo").get("/human/stats"),
    ]) {
      assertRefused(reply, 503, AWAY);
      assert.equal(limitsOf(reply).retryAfter, 5);
    }
    wire.mend();
    await until(async () => (await agent.poll(id)).status === 200);
    assert.deepEqual((await agent.create({ idempotency_key: "once" })).body, kept.body);
    assert.equal((await agent.poll(id)).body.current_responses, 0);
    assert.equal((await world.person("bo").answer(id, 0)).status, 201);
  });

  it("is one whose socket, name or network is missing, and not one whose certificate is", async () => {
    const failureOf = (to: NetConnectOpts) =>
      new Promise((resolve) => connect(to, () => assert.fail("it is there")).on("error", resolve));
    const missing = [
      { path: "/nowhere/socket" },
      { host: "db.invalid", port: 1 },
      { host: "255.255.255.255", port: 1 },
    ];
    for (const error of await Promise.all(missing.map(failureOf))) assert.ok(isAway(error), String(error));
    assert.equal(isAway(await readFile("/nowhere/root.crt").catch((error: unknown) => error)), false);
  });
});

describe("a store of which nothing is heard any more", () => {
  it("is told as such to reads and writes alike, and is there again when it is heard of", async () => {
    using wire = await openWire(await freshDatabase());
    const env = { DATABASE_URL: wire.url, PARLEY_DATABASE_WAIT_MS: "4000" };
    await using world = await openWorld({ on: "sqlite", env });
    const agent = world.agent("ana-bot");
    const { id } = await agent.ask({ options: LABELS });
    const kept = await agent.create({ idempotency_key: "once" });
    wire.silence();

    // More of them than there are connections.
    const replies = await Promise.all([
      ...Array.from({ length: 30 }, () => agent.create()),
      agent.create({ idempotency_key: "twice" }),
      agent.poll(id),
      agent.cancel(id),
      world.person("bo").answer(id, 0),
      world.person("bo").get("/human/questions"),
    ]);
    for (const reply of replies) {
      assertRefused(reply, 503, AWAY);
      assert.equal(limitsOf(reply).retryAfter, 5);
    }
    wire.mend();
    await until(async () => (await agent.poll(id)).status === 200);
    assert.deepEqual((await agent.create({ idempotency_key: "once" })).body, kept.body);
    assert.equal((await agent.create({ idempotency_key: "twice" })).status, 201);
    assert.equal((await world.person("bo").answer(id, 0)).status, 201);
  });
});

for (const on of DATABASES) {
  describe(`a bug of ours on ${on}`, () => {
    it("is told as no more than a number to look for", async () => {
      await using world = await openWorld({ on });
      const { id } = await world.agent("ana-bot").ask({ options: LABELS });
      await world.server.ctx.db.transact((tx) => tx.all(sql`DROP TABLE ledger`));
      const reply = await world.person("bo").answer(id, 0);
      const request = reply.headers.get("x-request-id");
      assertRefused(reply, 500, { code: "SERVER_ERROR", message: "Internal error.", details: { request_id: request } });
      assert.doesNotMatch(reply.text, /ledger|SQL|at /);
      const { body } = await world.agent("ana-bot").poll(id);
      assert.deepEqual([body.status, body.current_responses], ["OPEN", 0]);
    });
  });
}
