import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { whyOthersReach } from "../../../src/lib/network/reach.ts";
import { createKey } from "../../../src/access/create-key.ts";
import { ROOMY, sendRaw } from "../../support/contract.ts";
import { keylessRoutes, letIn, noteRoutes, type Place } from "../../support/reach.ts";
import { openWorld, type World } from "../../support/world.ts";

const BINDS = ["127.0.0.1", "0.0.0.0"];
const PUBLIC_URLS = ["http://localhost:3415", "https://ask.example.com"];
const PROXIES = [undefined, "127.0.0.1"];
const SIGNS: Record<string, string>[] = [
  { "x-forwarded-for": "203.0.113.77" },
  { "X-Forwarded-Host": "ask.example.com" },
  { forwarded: "for=203.0.113.77" },
  { via: "1.1 proxy" },
  { "x-real-ip": "203.0.113.77" },
  { "cf-connecting-ip": "203.0.113.77" },
  { "x-forwarded-for": "127.0.0.1" },
  { "x-forwarded-for": "" },
];
const ENV = { ...ROOMY, PARLEY_LIMITS_EDGE_PER_SECOND: "1000000", PARLEY_LIMITS_EDGE_BURST: "1000000" };

const placeOf = (world: World, host?: string): Place => {
  const port = Number(new URL(world.url).port);
  return { address: "127.0.0.1", port, host: host ?? `127.0.0.1:${port}` };
};

const CELLS = BINDS.flatMap((bind) =>
  PUBLIC_URLS.flatMap((publicUrl) => PROXIES.map((proxies) => ({ bind, publicUrl, proxies }))),
);
const KNOWN = [
  "POST /agent/questions",
  "POST /human/responses",
  "POST /function_calls",
  "GET /humans",
  "GET /metrics",
  "POST /asks",
  "POST /jobs",
  "POST /jobs/claim",
  "POST /mcp",
  "GET /agent/questions/events",
  "GET /receipts/:id",
];

describe("open mode", () => {
  const tableOf = noteRoutes();

  it("lets programs of this computer in, and nobody else, by any route, however the server is reached", async () => {
    await using home = await openWorld({ on: "sqlite", env: ENV });
    const keyless = await keylessRoutes(tableOf(), placeOf(home));
    const names = keyless.map(({ method, url }) => `${method} ${url}`);
    assert.deepEqual(
      KNOWN.filter((one) => !names.includes(one)),
      [],
    );

    for (const { bind, publicUrl, proxies } of CELLS) {
      const env = {
        ...ENV,
        PARLEY_HOST: bind,
        PARLEY_PUBLIC_URL: publicUrl,
        ...(proxies && { PARLEY_TRUSTED_PROXIES: proxies }),
      };
      await using world = await openWorld({ on: "sqlite", env });
      const cell = JSON.stringify({ bind, publicUrl, proxies });
      const isOwn = bind !== "0.0.0.0" && publicUrl === PUBLIC_URLS[0] && proxies === undefined;
      assert.equal(world.server.othersReachIt === null, isOwn, cell);
      const place = placeOf(world, new URL(publicUrl).host);
      const open = await letIn(keyless, place);
      assert.equal(open.length, isOwn ? keyless.length : 0, `${cell}: ${open.join(", ")}`);
      for (const [index, headers] of (isOwn ? SIGNS : SIGNS.slice(0, 1)).entries()) {
        // One guard stands before every route: one sign shows that, and the other signs are shown at some.
        const routes = index === 0 ? keyless : keyless.filter(({ method, url }) => KNOWN.includes(`${method} ${url}`));
        assert.deepEqual(await letIn(routes, place, headers), [], `${cell} ${JSON.stringify(headers)}`);
      }
    }
  });

  it("refuses what a proxy passed on with the sentence that says what to set", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const { port } = new URL(world.url);
    const via = { via: "1.1 proxy" };
    const says = "This came through a proxy: set PARLEY_PUBLIC_URL, and use a key.";
    for (const path of ["/agent/questions", "/human/questions", "/humans", "/asks/x", "/jobs", "/metrics"]) {
      const reply = await world.call("GET", path, { headers: via });
      assert.deepEqual([path, reply.status, reply.body.error.message], [path, 401, says]);
    }
    // The bare request that nginx sends to a fixed address.
    const bare = `GET /agent/questions HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
    const reply = await sendRaw(world.url, bare);
    const message = /"message":"([^"]*)"/.exec(reply.text)?.[1] ?? "";
    assert.equal(reply.status, 401);
    assert.match(message, /^This speaks HTTP\/1\.0, as a proxy may: use HTTP\/1\.1 or a key, .*PARLEY_PUBLIC_URL/);
    const said = await sendRaw(world.url, bare.replace("Connection", "Via: 1.0 proxy\r\nConnection"));
    assert.ok(said.text.includes(says), said.text);
    const { text } = await createKey(world.server.ctx, { name: "ana-bot", scope: "agent" });
    const keyed = await world.call("GET", "/agent/questions", { headers: { ...via, authorization: `Bearer ${text}` } });
    assert.equal(keyed.status, 200);
  });

  it("ends with what is listened at, whatever the settings say", () => {
    const settings = { host: "127.0.0.1", hosts: [], trustedProxies: [] };
    const at = (address: string) => ({ address, family: "IPv4", port: 3415 });
    assert.equal(whyOthersReach(settings, [at("127.0.0.1"), at("::1")]), null);
    assert.equal(whyOthersReach(settings, [at("127.0.0.1"), at("0.0.0.0")]), "it listens at 0.0.0.0");
    assert.equal(whyOthersReach(settings, [at("10.0.0.2")]), "it listens at 10.0.0.2");
    assert.equal(whyOthersReach(settings, ["/run/parley.sock"]), "it listens at /run/parley.sock");
    assert.ok(whyOthersReach(settings, [null]));
  });
});

describe("a webhook of an agent", () => {
  it("leads to this computer only while nobody else reaches the server, and never on behalf of somebody else", async () => {
    const register = async (world: World, headers: Record<string, string> = {}) => {
      const { text } = await createKey(world.server.ctx, { name: "ana-bot", scope: "agent" });
      const reply = await world.call("POST", "/humanlayer/v1/webhook_endpoints", {
        headers: { authorization: `Bearer ${text}`, ...headers },
        body: { url: "http://127.0.0.1:9/told", format: "a2h" },
      });
      return reply.status;
    };
    await using home = await openWorld({ on: "sqlite" });
    assert.equal(await register(home), 201);
    assert.equal(await register(home, { "x-forwarded-for": "203.0.113.77" }), 422);
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_PUBLIC_URL: "https://ask.example.com" } });
    assert.equal(await register(world), 422);
  });
});
