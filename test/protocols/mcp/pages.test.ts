import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createKey } from "../../../src/access/create-key.ts";
import { ROOMY, sharedWorld } from "../../support/contract.ts";
import { TOOL_NAMES } from "../../support/mcp.ts";

const PAGE = "https://page.example";
const WHO = { name: "a-page", version: "1.0.0" };
/** The headers that a browser sends by itself, or that a page may send without a preflight. */
const FREE = ["accept", "accept-language", "content-language", "range", "user-agent", "connection"];

const partsOf = (list: string | null) => (list ?? "").toLowerCase().split(/\s*,\s*/);

describe("an MCP client in a page", () => {
  const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, PARLEY_CORS_ORIGINS: PAGE, PARLEY_OPEN: "false" } });

  /** Asks first, as a browser does, and refuses what the page may not send or read. */
  const asPage: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("origin", PAGE);
    const unfree = [...headers.keys()].filter((name) => name !== "origin" && !FREE.includes(name));
    const preflight = await fetch(input, {
      method: "OPTIONS",
      headers: {
        origin: PAGE,
        "access-control-request-method": init?.method ?? "GET",
        "access-control-request-headers": unfree.sort().join(","),
      },
    });
    assert.equal(preflight.status, 204);
    const allowed = partsOf(preflight.headers.get("access-control-allow-headers"));
    assert.deepEqual(
      unfree.filter((name) => !allowed.includes(name)),
      [],
    );
    const reply = await fetch(input, { ...init, headers });
    assert.equal(reply.headers.get("access-control-allow-origin"), PAGE);
    return reply;
  };
  const key = async () => (await createKey(world().server.ctx, { name: "page", scope: "agent" })).text;

  for (const mode of ["auto", "legacy"] as const) {
    it(`may send what the official client sends (${mode})`, async () => {
      const client = new Client(WHO, { versionNegotiation: { mode } });
      const requestInit = { headers: { authorization: `Bearer ${await key()}` } };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${world().url}/mcp`), { fetch: asPage, requestInit }),
      );
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        TOOL_NAMES,
      );
      const args = { question: "Can a page ask this question?", min_responses: 1 };
      assert.ok(!(await client.callTool({ name: "ask_human", arguments: args })).isError);
      await client.close();
    });
  }

  it("may send what the older client sends", async () => {
    const client = new OldClient(WHO);
    const requestInit = { headers: { authorization: `Bearer ${await key()}` } };
    const pipe = new OldHttp(new URL(`${world().url}/mcp`), { fetch: asPage, requestInit });
    await client.connect(pipe as Parameters<typeof client.connect>[0]);
    assert.equal((await client.listTools()).tools.length, TOOL_NAMES.length);
    await client.close();
  });

  it("may read how to sign in", async () => {
    const reply = await fetch(`${world().url}/mcp`, {
      method: "POST",
      headers: { origin: PAGE, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    assert.equal(reply.status, 401);
    assert.ok(reply.headers.has("www-authenticate"));
    assert.ok(partsOf(reply.headers.get("access-control-expose-headers")).includes("www-authenticate"));
  });
});
