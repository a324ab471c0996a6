import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRefused, fresh, from, IN_PUBLIC, limitsOf, ROOMY, sendRaw, sharedWorld } from "../support/contract.ts";
import type { CallOptions, Reply } from "../support/world.ts";

const PAGE = "https://app.example.com";
const FOREIGN = "https://mallory.example";
const question = { prompt: "Which label is clearer?", type: "text" };
const ORIGIN_REFUSED = { code: "ORIGIN_REFUSED", message: "Requests from this origin are not accepted." };
const NOTHING_HERE = { code: "NOT_FOUND", message: "There is nothing at this address." };
const wrongMethod = (...allowed: string[]) => ({
  code: "METHOD_NOT_ALLOWED",
  message: "This address does not take this method.",
  details: { allowed },
});
const corsOf = (reply: Reply) => reply.headers.get("access-control-allow-origin");

describe("paths", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });

  it("may have slashes repeated and one at the end, and are never redirected", async () => {
    const agent = world().agent(fresh("ana-bot"));
    const { id } = await agent.ask();
    for (const path of [
      `//agent/questions/${id}`,
      `/agent//questions///${id}`,
      `/agent/questions/${id}/`,
      `//agent/questions/${id}/?expand=meta`,
    ]) {
      const reply = await world().call("GET", path, { headers: agent.headers });
      assert.deepEqual([path, reply.status, reply.body.question_id], [path, 200, id]);
    }
    assert.equal((await world().call("POST", "//agent/questions/", { body: question })).status, 201);
    for (const path of ["//human//questions/", "/human/stats/"])
      assert.equal((await world().call("GET", path)).status, 200);
  });

  it("answer HEAD as GET, without a body", async () => {
    const agent = world().agent(fresh("ana-bot"));
    const { id } = await agent.ask();
    for (const path of [
      `/agent/questions/${id}`,
      "/agent/questions",
      "/human/questions",
      "/human/stats",
      "/human/push/key",
    ]) {
      const get = await world().call("GET", path, { headers: agent.headers });
      const head = await world().call("HEAD", path, { headers: agent.headers });
      assert.deepEqual([path, head.status, head.text], [path, get.status, ""]);
      assert.equal(head.headers.get("content-length"), get.headers.get("content-length"));
      assert.equal(head.headers.get("content-type"), "application/json; charset=utf-8");
    }
    assert.equal((await world().call("HEAD", "/agent/questions/q_x")).status, 404);
    for (const path of [`/agent/questions/${id}/events`, "/agent/questions/events", "/human/events"]) {
      const head = await world().call("HEAD", path, { headers: agent.headers, signal: AbortSignal.timeout(60_000) });
      assert.deepEqual([path, head.status], [path, 200]);
      assert.equal(head.headers.get("content-type"), "text/event-stream; charset=utf-8");
    }
  });

  it("that are unknown are 404, in the shape of every other refusal", async () => {
    for (const path of ["/nope", "/agent", "/agent/question", "/human", "/human/me/x", "/k", "/Agent/questions"]) {
      for (const method of ["GET", "POST", "DELETE", "OPTIONS", "PROPFIND"]) {
        assertRefused(await world().call(method, path), 404, NOTHING_HERE);
      }
    }
  });

  it("that take other methods are 405, and say which", async () => {
    const cases: [path: string, allowed: string[], refused: string[]][] = [
      ["/agent/questions", ["GET", "POST"], ["DELETE", "PATCH", "PUT", "OPTIONS", "PROPFIND", "LOCK"]],
      ["/agent/questions/q_x", ["DELETE", "GET"], ["POST", "PUT", "PATCH"]],
      ["/agent/questions/q_x/events", ["GET"], ["POST", "DELETE"]],
      // A question takes DELETE; this path is not the path of a question.
      ["/agent/questions/events", ["GET"], ["POST", "DELETE"]],
      ["/human/questions", ["GET"], ["POST", "DELETE"]],
      ["/human/questions/q_x", ["GET"], ["POST", "PATCH"]],
      ["/human/questions/q_x/results", ["GET"], ["POST"]],
      ["/human/questions/q_x/skip", ["POST"], ["GET", "PUT"]],
      ["/human/questions/q_x/report", ["POST"], ["GET"]],
      ["/human/responses", ["POST"], ["GET", "PUT", "DELETE"]],
      ["/human/push/subscribe", ["POST", "PUT"], ["GET", "DELETE"]],
      ["/human/push/subscribe/sub_x", ["DELETE"], ["GET", "POST"]],
      ["/human/push/key", ["GET"], ["POST"]],
      ["/human/stats", ["GET"], ["POST"]],
      ["/human/leaderboard", ["GET"], ["POST"]],
      ["/human/leaderboard/name", ["DELETE", "PUT"], ["GET", "POST"]],
      ["/human/events", ["GET"], ["POST"]],
      ["/human/recovery", ["POST"], ["GET"]],
      ["/human/recovery/redeem", ["POST"], ["GET"]],
      ["/human/me", ["DELETE"], ["POST"]],
    ];
    for (const [path, allowed, refused] of cases) {
      for (const method of refused) {
        const reply = await world().call(method, path);
        assertRefused(reply, 405, wrongMethod(...allowed));
        assert.equal(reply.headers.get("allow"), allowed.join(", "));
      }
    }
  });

  it("carry the headers of the API on every reply", async () => {
    for (const reply of [
      await world().call("GET", "/human/questions"),
      await world().call("GET", "/nope"),
      await world().call("POST", "/agent/questions", { body: {} }),
      await world().call("DELETE", "/human/me"),
    ]) {
      assert.equal(reply.headers.get("cache-control"), "no-store");
      assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
      assert.equal(reply.headers.get("referrer-policy"), "no-referrer");
      assert.equal(reply.headers.get("cross-origin-resource-policy"), "same-origin");
      assert.ok(reply.headers.get("x-request-id"));
    }
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await world().call("GET", "/nope")).headers.get("x-request-id")),
    );
    assert.equal(new Set(ids).size, 3);
  });
});

describe("hosts", () => {
  const world = sharedWorld({
    on: "sqlite",
    env: { PARLEY_PUBLIC_URL: "https://ask.example:8443", PARLEY_HOSTS: "inner.example,parley", PARLEY_OPEN: "true" },
  });
  const visit = (host: string | null, path = "/agent/questions") =>
    sendRaw(
      world().url,
      `GET ${path} HTTP/1.1\r\n${host === null ? "" : `Host: ${host}\r\n`}Connection: close\r\n\r\n`,
    );

  it("are answered by the names of this computer, of the public address, and those that are configured", async () => {
    for (const host of [
      "localhost",
      "LocalHost:3415",
      "parley.localhost",
      "a.b.localhost:80",
      "127.0.0.1",
      "127.0.0.1:9",
      "[::1]",
      "[::1]:3415",
      "ask.example",
      "ask.example:8443",
      "ASK.example",
      "inner.example",
      "parley:80",
    ]) {
      assert.deepEqual([host, (await visit(host)).status], [host, 200]);
    }
  });

  it("are refused by any other name, before anything else is looked at", async () => {
    for (const host of [
      "mallory.example",
      "mallory.example:3415",
      "localhost.mallory.example",
      "127.0.0.1.nip.io",
      "notlocalhost",
      "127.0.0.2",
      "0.0.0.0",
      "[::2]",
      "user@localhost",
      "localhost/x",
      "ask.example.",
      "",
    ]) {
      for (const path of ["/agent/questions", "/nope"]) {
        const reply = await visit(host, path);
        const { error } = JSON.parse(reply.text) as { error: { code: string; details: unknown } };
        assert.deepEqual([reply.status, error.code, error.details], [421, "MISDIRECTED", { host }]);
      }
    }
  });

  it("are refused where two are named, whatever they say", async () => {
    for (const [one, other] of [
      ["localhost", "localhost"],
      ["localhost", "mallory.example"],
      ["mallory.example", "localhost"],
    ]) {
      const head = `GET /agent/questions HTTP/1.1\r\nHost: ${one}\r\nhOST: ${other}\r\nConnection: close\r\n\r\n`;
      assert.equal((await sendRaw(world().url, head)).status, 400, `${one}, ${other}`);
    }
  });

  it("are refused without a name, in the shape of every other refusal", async () => {
    const reply = await visit(null);
    assert.equal(reply.status, 421);
    assert.match(reply.text, /^\{"error":\{"code":"MISDIRECTED"/);
    assert.ok(reply.headers.get("x-request-id"));
  });
});

describe("origins", () => {
  const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, PARLEY_CORS_ORIGINS: PAGE } });
  const send = (method: string, path: string, origin: string, { headers, ...more }: CallOptions = {}) =>
    world().call(method, path, { headers: { origin, ...headers }, ...more });

  it("that are foreign are refused for whatever changes something, and read without being let to read", async () => {
    for (const origin of [
      FOREIGN,
      "null",
      "http://127.0.0.1:1",
      "file://",
      `${PAGE}.mallory.example`,
      PAGE.replace("https", "http"),
    ]) {
      assertRefused(await send("POST", "/agent/questions", origin, { body: question }), 403, ORIGIN_REFUSED);
      assertRefused(await send("DELETE", "/human/me", origin), 403, ORIGIN_REFUSED);
      assertRefused(await send("PUT", "/human/push/subscribe", origin, { body: {} }), 403, ORIGIN_REFUSED);
      const read = await send("GET", "/human/questions", origin);
      assert.deepEqual([read.status, corsOf(read)], [200, null]);
      assert.equal((await send("HEAD", "/human/questions", origin)).status, 200);
    }
  });

  it("that are our own, or listed, may do everything", async () => {
    const { port } = new URL(world().url);
    for (const origin of [world().url, PAGE]) {
      assert.equal((await send("POST", "/agent/questions", origin, { body: question })).status, 201, origin);
    }
    const named = await sendRaw(
      world().url,
      `DELETE /human/me HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: http://localhost:${port}\r\nConnection: close\r\n\r\n`,
    );
    assert.equal(named.status, 204);
  });

  it("that are listed are told what they may read, on refusals too, and never with cookies", async () => {
    const { headers } = world().agent(fresh("ana-bot"));
    const replies = [
      [200, await send("GET", "/agent/questions", PAGE, { headers })],
      [201, await send("POST", "/agent/questions", PAGE, { headers, body: question })],
      [400, await send("POST", "/agent/questions", PAGE, { headers, body: {} })],
      [401, await send("GET", "/agent/questions", PAGE, { headers: { authorization: "Bearer x" } })],
      [404, await send("GET", "/nope", PAGE)],
      [405, await send("PATCH", "/agent/questions", PAGE)],
      [415, await send("POST", "/agent/questions", PAGE, { headers: { "content-type": "text/plain" }, body: "x" })],
    ] as const;
    for (const [status, reply] of replies) {
      assert.deepEqual([reply.status, corsOf(reply)], [status, PAGE]);
      assert.match(reply.headers.get("vary") ?? "", /\bOrigin\b/);
      assert.equal(reply.headers.get("access-control-allow-credentials"), null);
      assert.equal(
        reply.headers.get("access-control-expose-headers"),
        "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotency-Replayed, " +
          "X-Participant-Token, Location, WWW-Authenticate, X-Request-Id",
      );
    }
    const raw = await sendRaw(
      world().url,
      `GET / HTTP/1.1\r\nHost: x.example\r\nOrigin: ${PAGE}\r\nConnection: close\r\n\r\n`,
    );
    assert.deepEqual([raw.status, raw.headers.get("access-control-allow-origin")], [421, PAGE]);
  });

  it("that are listed are answered before they ask, without a key", async () => {
    const input = { "access-control-request-method": "POST", "access-control-request-headers": "x-agent-id" };
    for (const [path, methods] of [
      ["/agent/questions", "GET, POST"],
      ["/human/responses", "POST"],
      ["/agent/questions/q_x", "DELETE, GET"],
      ["/human/me", "DELETE"],
      ["/humanlayer/v1/humans/1", "DELETE, GET, PATCH, PUT"],
    ] as const) {
      const reply = await send("OPTIONS", path, PAGE, { headers: input });
      assert.deepEqual([reply.status, reply.text, corsOf(reply)], [204, "", PAGE]);
      assert.equal(reply.headers.get("access-control-allow-methods"), methods);
      assert.equal(
        reply.headers.get("access-control-allow-headers"),
        "Content-Type, Authorization, X-Agent-Id, X-Fingerprint, X-Participant-Token, X-Person, X-Time-Zone, " +
          "X-Idempotency-Key, Idempotency-Key, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, " +
          "Mcp-Session-Id",
      );
      assert.equal(reply.headers.get("access-control-max-age"), "3600");
      assert.match(reply.headers.get("vary") ?? "", /\bOrigin\b/);
    }
    const foreign = await send("OPTIONS", "/agent/questions", FOREIGN, { headers: input });
    assertRefused(foreign, 405, wrongMethod("GET", "POST"));
    assert.equal(corsOf(foreign), null);
  });
});

describe("the guards", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  const big = "x".repeat(140_000);

  it("come in one order: path, method, origin, size, type, key, body", async () => {
    const bad = { origin: FOREIGN, authorization: "Bearer bad", "content-type": "text/plain" };
    const steps: [Record<string, string>, string, string, number][] = [
      [bad, "/nope", big, 404],
      [bad, "/human/stats", big, 405],
      [bad, "/agent/questions", big, 403],
      [{ ...bad, origin: world().url }, "/agent/questions", big, 413],
      [{ ...bad, origin: world().url }, "/agent/questions", "x", 415],
      [{ authorization: "Bearer bad" }, "/agent/questions", "x", 401],
      [{}, "/agent/questions", "x", 400],
    ];
    for (const [headers, path, body, status] of steps) {
      const type = headers["content-type"] ?? "application/json";
      const reply = await world().call("POST", path, { body, headers: { ...headers, "content-type": type } });
      assert.deepEqual([path, reply.status], [path, status]);
    }
  });
});

describe("the edge guard", () => {
  const edge = { PARLEY_LIMITS_EDGE_PER_SECOND: "2", PARLEY_LIMITS_EDGE_BURST: "5" };
  const world = sharedWorld({ on: "sqlite", env: { ...IN_PUBLIC, ...ROOMY, ...edge } });
  const visit = (address: string, path = "/human/stats") => world().call("GET", path, { headers: from(address) });

  it("refuses the requests of one address that come too fast, before it looks at anything but the host", async () => {
    for (let i = 0; i < 5; i += 1) assert.equal((await visit("203.0.113.1")).status, 200);
    for (const path of ["/human/stats", "/nope"]) {
      const reply = await visit("203.0.113.1", path);
      assertRefused(reply, 429, {
        code: "RATE_LIMITED",
        message: "Too many requests.",
        details: { limit: 2, window_seconds: 1, retry_after: 1 },
      });
      assert.equal(limitsOf(reply).retryAfter, 1);
    }
    assert.equal((await visit("203.0.113.2")).status, 200);

    await world().advance(1000);
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await visit("203.0.113.1")).status);
    assert.deepEqual(statuses, [200, 200, 429]);
  });

  it("counts this computer too while others can reach the server", async () => {
    const statuses = [];
    for (let i = 0; i < 6; i += 1) statuses.push((await world().call("GET", "/human/stats")).status);
    assert.equal(statuses.at(-1), 429);
  });
});

describe("the edge guard of a server that only this computer reaches", () => {
  const world = sharedWorld({
    on: "sqlite",
    env: { ...ROOMY, PARLEY_LIMITS_EDGE_PER_SECOND: "2", PARLEY_LIMITS_EDGE_BURST: "5" },
  });

  it("counts nothing", async () => {
    for (let i = 0; i < 20; i += 1) assert.equal((await world().call("GET", "/human/stats")).status, 200);
  });
});

describe("what is no HTTP", () => {
  const world = sharedWorld({ on: "sqlite" });

  it("is refused in the shape of every other refusal, and the connection closed", async () => {
    const { host } = new URL(world().url);
    const cases: [bytes: string, status: number, code: string][] = [
      ["nonsense\r\n\r\n", 400, "VALIDATION_ERROR"],
      [`BREW /agent/questions HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400, "VALIDATION_ERROR"],
      [`GET agent HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400, "VALIDATION_ERROR"],
      [`GET / HTTP/1.1\r\nHost: ${host}\r\nX-Big: ${"x".repeat(17_000)}\r\n\r\n`, 431, "PAYLOAD_TOO_LARGE"],
      [
        `POST /agent/questions HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
        400,
        "VALIDATION_ERROR",
      ],
      [
        `POST /agent/questions HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        400,
        "VALIDATION_ERROR",
      ],
      [`GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\x00b\r\n\r\n`, 400, "VALIDATION_ERROR"],
    ];
    for (const [bytes, status, code] of cases) {
      const reply = await sendRaw(world().url, bytes);
      const { error } = JSON.parse(reply.text) as { error: { code: string; message: string } };
      assert.deepEqual([reply.status, error.code], [status, code], bytes.slice(0, 60));
      assert.ok(error.message);
      assert.equal(reply.headers.get("content-type"), "application/json; charset=utf-8");
      assert.equal(reply.headers.get("connection"), "close");
    }
    assert.equal((await world().call("GET", "/human/stats")).status, 200);
  });
});
