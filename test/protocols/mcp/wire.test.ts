import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { sendRaw, sharedWorld } from "../../support/contract.ts";
import { legacy, MODERN, modern, modernRequest, SERVER_KEY, tool } from "../../support/mcp.ts";
import { openWorld } from "../../support/world.ts";

const SUPPORTED = [MODERN, "2025-11-25", "2025-06-18"];
const opening = (protocolVersion: unknown) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: "t", version: "1" },
});

describe("the revisions of MCP", () => {
  const world = sharedWorld({ on: "sqlite" });

  it("open a legacy connection in the requested revision, or else in the newer one", async () => {
    for (const [requested, answered] of [
      ["2025-06-18", "2025-06-18"],
      ["2025-11-25", "2025-11-25"],
      [MODERN, "2025-11-25"],
      ["2024-11-05", "2025-11-25"],
      [7, "2025-11-25"],
    ]) {
      const { status, body, headers } = await legacy(world(), "initialize", opening(requested), {
        headers: { "mcp-protocol-version": "2099-01-01" },
      });
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body.result), ["protocolVersion", "capabilities", "serverInfo", "instructions"]);
      assert.equal(body.result.protocolVersion, answered);
      assert.deepEqual(body.result.capabilities, { tools: {} });
      assert.equal(headers.get("mcp-session-id"), null);
    }
  });

  it("ask for no opening before other calls, and answer notifications with 202 and nothing", async () => {
    assert.deepEqual((await legacy(world(), "ping")).body, { jsonrpc: "2.0", id: 1, result: {} });
    for (const method of ["notifications/initialized", "notifications/cancelled", "notifications/unheard-of"]) {
      const reply = await world().call("POST", "/mcp", { body: { jsonrpc: "2.0", method, params: { requestId: 1 } } });
      assert.deepEqual([reply.status, reply.text], [202, ""]);
    }
  });

  it("answer an unknown method with 200 in legacy revisions and 404 in the modern one", async () => {
    for (const method of ["nope", "resources/list", "tasks/get", "tasks/list", "server/discover"]) {
      const { status, body } = await legacy(world(), method, {});
      assert.deepEqual([status, body.id, body.error.code], [200, 1, -32601], method);
    }
    for (const method of ["nope", "ping", "initialize", "tasks/list", "tasks/result"]) {
      const { status, body } = await modern(world(), method, {});
      assert.deepEqual([status, body.id, body.error.code], [404, 1, -32601], method);
    }
  });

  it("let a modern client discover everything served", async () => {
    const { status, body } = await modern(world(), "server/discover");
    assert.equal(status, 200);
    const { _meta: meta, instructions, ...rest } = body.result;
    assert.deepEqual(rest, {
      resultType: "complete",
      supportedVersions: SUPPORTED,
      capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
      ttlMs: 3_600_000,
      cacheScope: "public",
    });
    assert.match(instructions, /^Ask people\. ask_human returns at once; use wait_for_human_responses to wait\./);
    assert.equal(meta[SERVER_KEY].name, "parley");
  });

  it("say of every modern result what it is and whose, and of a list how long it holds", async () => {
    const modernList = (await modern(world(), "tools/list")).body.result;
    const { tools, ...rest } = modernList;
    assert.deepEqual(Object.keys(rest), ["resultType", "ttlMs", "cacheScope", "_meta"]);
    assert.deepEqual([rest.resultType, rest.ttlMs, rest.cacheScope], ["complete", 300_000, "private"]);
    assert.deepEqual((await legacy(world(), "tools/list")).body.result, { tools });

    const call = await modern(world(), "tools/call", { name: "check_human_responses", arguments: {} });
    assert.equal(call.body.result.resultType, "complete");
    assert.equal(call.body.result._meta[SERVER_KEY].name, "parley");
    assert.deepEqual(Object.keys(await tool(world(), "check_human_responses", {})).sort(), [
      "content",
      "isError",
      "structuredContent",
    ]);
  });

  it("take a call without a version header for one of the revision that a client may leave unsaid", async () => {
    // Gemini CLI agrees on 2025-06-18, and sends no header afterwards.
    const opened = await legacy(world(), "initialize", opening("2025-06-18"));
    assert.equal(opened.body.result.protocolVersion, "2025-06-18");
    const listed = await world().call("POST", "/mcp", { body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
    assert.deepEqual([listed.status, listed.body.result.resultType], [200, undefined]);
    assert.ok(listed.body.result.tools.length > 0);
  });

  it("refuse a version they do not speak, and say which they do", async () => {
    const headers = { "mcp-protocol-version": "2024-11-05" };
    const unspoken = await legacy(world(), "tools/list", {}, { headers, id: "a" });
    assert.deepEqual(
      [unspoken.status, unspoken.body],
      [
        400,
        {
          jsonrpc: "2.0",
          id: "a",
          error: {
            code: -32022,
            message: "Unsupported protocol version",
            data: { supported: SUPPORTED, requested: "2024-11-05" },
          },
        },
      ],
    );
    const future = modernRequest("tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } });
    const refused = await world().call("POST", "/mcp", future);
    assert.deepEqual([refused.status, refused.body.error.data.requested], [400, "2099-01-01"]);
  });

  it("take the version from the message first, so that both eras live at one address", async () => {
    const { body } = modernRequest("ping");
    body.params["_meta"] = { "io.modelcontextprotocol/protocolVersion": "2025-11-25" };
    const reply = await world().call("POST", "/mcp", { body, headers: { "mcp-protocol-version": MODERN } });
    assert.deepEqual([reply.status, reply.body.result], [200, {}]);
  });
});

describe("a modern request", () => {
  const world = sharedWorld({ on: "sqlite" });
  const call = modernRequest("tools/call", { name: "check_human_responses", arguments: { question_id: "q_0" } });
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(call.headers).filter(([name]) => !names.includes(name)));
  const send = (headers: Record<string, string>, body: unknown = call.body) =>
    world().call("POST", "/mcp", { body, headers });

  it("carries its version and capabilities", async () => {
    for (const key of ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"]) {
      const meta = { ...(call.body.params["_meta"] as object), [key]: undefined };
      const { status, body } = await send(call.headers, { ...call.body, params: { ...call.body.params, _meta: meta } });
      assert.deepEqual([status, body.id, body.error.code], [400, 1, -32602], key);
    }
    const bare = await send(call.headers, { jsonrpc: "2.0", id: 4, method: "tools/list" });
    assert.deepEqual([bare.status, bare.body.id, bare.body.error.code], [400, 4, -32602]);
  });

  it("says in its headers what its body says", async () => {
    const wrong = [
      without("mcp-protocol-version"),
      without("mcp-method"),
      without("mcp-name"),
      { ...call.headers, "mcp-protocol-version": "2025-11-25" },
      { ...call.headers, "mcp-method": "tools/list" },
      { ...call.headers, "mcp-name": "ask_human" },
      { ...call.headers, "mcp-name": "=?base64?!!?=" },
    ];
    for (const headers of wrong) {
      const { status, body } = await send(headers);
      assert.deepEqual([status, body.id, body.error.code], [400, 1, -32020], JSON.stringify(headers));
    }
    assert.equal((await send(call.headers)).status, 200);
    const encoded = `=?base64?${Buffer.from("check_human_responses").toString("base64")}?=`;
    assert.equal((await send({ ...call.headers, "mcp-name": encoded })).status, 200);
  });
});

describe("what is no request", () => {
  const world = sharedWorld({ on: "sqlite" });
  const post = (body: unknown, headers: Record<string, string> = {}) => world().call("POST", "/mcp", { body, headers });

  it("is refused by what is wrong with it, with the request's id where one is known", async () => {
    const cases: [body: unknown, status: number, code: number, id?: unknown][] = [
      ["{", 400, -32700],
      ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32700],
      ["", 400, -32700],
      [[], 400, -32600],
      [[{ jsonrpc: "2.0", id: 1, method: "ping" }], 400, -32600],
      ["7", 400, -32600],
      [{ id: 1, method: "ping" }, 400, -32600],
      [{ jsonrpc: "2.0", id: null, method: "ping" }, 400, -32600],
      [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, 400, -32600],
      [{ jsonrpc: "2.0", id: 3, method: 7 }, 400, -32600, 3],
      [{ jsonrpc: "2.0", id: "p", method: "tools/list", params: [1] }, 200, -32602, "p"],
      [{ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "answer" } }, 200, -32602, 4],
      [{ jsonrpc: "2.0", id: 5, method: "tools/call", params: {} }, 200, -32602, 5],
    ];
    for (const [body, status, code, id] of cases) {
      const reply = await post(body);
      assert.deepEqual([reply.status, reply.body.error?.code, reply.body.id], [status, code, id], JSON.stringify(body));
    }
  });

  it("is not what has null for its params, for _meta or for the version: that is the same as nothing", async () => {
    const listed = (await legacy(world(), "tools/list")).body;
    assert.ok(listed.result.tools.length > 0);
    for (const params of [null, { _meta: null }, { _meta: { "io.modelcontextprotocol/protocolVersion": null } }]) {
      assert.deepEqual((await legacy(world(), "tools/list", params)).body, listed);
    }
    assert.equal((await legacy(world(), "initialize", null)).body.result.protocolVersion, "2025-11-25");
    const notified = { jsonrpc: "2.0", method: "notifications/initialized", params: null };
    assert.equal((await post(notified)).status, 202);
  });

  it("is ignored in legacy revisions when it is a response, and refused in the modern one", async () => {
    const response = { jsonrpc: "2.0", id: 1, result: {} };
    assert.equal((await post(response)).status, 202);
    const refused = await post(response, { "mcp-protocol-version": MODERN });
    assert.deepEqual([refused.status, refused.body.error.code], [400, -32600]);
  });

  it("may be up to a mebibyte long, and is JSON", async () => {
    const long = { jsonrpc: "2.0", id: 1, method: "ping", params: { pad: "x".repeat(1_048_000) } };
    assert.equal((await post(long)).status, 200);
    const longer = await post({ ...long, params: { pad: "x".repeat(1_050_000) } });
    assert.deepEqual([longer.status, longer.body.error.code], [413, -32600]);
    const chunked = await sendRaw(
      world().url,
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${"10000\r\n" + "x".repeat(65_536) + "\r\n"}`.concat(
        ("10000\r\n" + "x".repeat(65_536) + "\r\n").repeat(17),
        "0\r\n\r\n",
      ),
    );
    assert.equal(chunked.status, 413);
    const form = await post("a=b", { "content-type": "application/x-www-form-urlencoded" });
    assert.deepEqual([form.status, form.body.error.code, form.body.jsonrpc], [415, -32600, "2.0"]);
  });

  it("comes by POST only", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const reply = await world().call(method, "/mcp");
      assert.deepEqual([reply.status, reply.headers.get("allow")], [405, "POST"], method);
    }
    for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"]) {
      assert.equal((await world().call("GET", path)).status, 404);
    }
  });
});

describe("the guards of MCP", () => {
  it("stand before parsing: a foreign page and a rebound name get nowhere, on loopback too", async () => {
    await using world = await openWorld({ on: "sqlite" });
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1"]) {
      const reply = await world.call("POST", "/mcp", { body: "not JSON", headers: { origin } });
      const error = { code: -32600, message: "Origin not allowed" };
      assert.deepEqual([reply.status, reply.body], [403, { jsonrpc: "2.0", error }]);
      assert.equal(reply.headers.get("access-control-allow-origin"), null);
    }
    const { host } = new URL(world.url);
    assert.equal((await legacy(world, "ping", {}, { headers: { origin: `http://${host}` } })).status, 200);

    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const rebound = await sendRaw(
      world.url,
      `POST /mcp HTTP/1.1\r\nHost: rebound.example:3415\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    assert.equal(rebound.status, 421);
    assert.match(rebound.text, /"jsonrpc":"2\.0"/);
  });

  it("take a key by header, by agent id and by path, and know an agent without one in open mode only", async () => {
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_OPEN: "false" } });
    const { text: key } = await createKey(world.server.ctx, { name: "ana-bot", scope: "agent" });
    const { text: personal } = await createKey(world.server.ctx, { name: "app", scope: "executor" });
    const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

    const keyless: Record<string, string>[] = [
      {},
      bearer("nonsense"),
      { authorization: "Basic abc" },
      { "x-agent-id": "me" },
    ];
    for (const headers of keyless) {
      const reply = await legacy(world, "ping", {}, { headers });
      assert.deepEqual([reply.status, reply.headers.get("www-authenticate")], [401, 'Bearer realm="parley"']);
      assert.deepEqual(Object.keys(reply.body), ["jsonrpc", "error"]);
    }
    const scoped = await legacy(world, "ping", {}, { headers: bearer(personal) });
    assert.equal(scoped.status, 403);
    assert.match(scoped.headers.get("www-authenticate") ?? "", /error="insufficient_scope"/);

    assert.equal((await legacy(world, "ping", {}, { headers: bearer(key) })).status, 200);
    assert.equal((await legacy(world, "ping", {}, { headers: { "x-agent-id": `me:${key}` } })).status, 200);
    const byPath = await world.call("POST", `/k/${key}/mcp`, { body: { jsonrpc: "2.0", id: 1, method: "ping" } });
    assert.equal(byPath.status, 200);
    assert.equal((await world.call("POST", "/agent/questions", { body: {}, headers: bearer(personal) })).status, 401);
  });
});
