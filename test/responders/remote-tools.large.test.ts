import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, before, describe, it } from "node:test";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { openRunnerWorld } from "../support/runner-world.ts";
import { call, done } from "../support/tools-world.ts";

const TOOL = { name: "rates", description: "Tells rates", inputSchema: { type: "object" as const } };
const MINT = `console.log(JSON.stringify({ "x-minted": "for-one-ask" }))`;

function* endless(): Generator<string> {
  for (;;) yield "x".repeat(100_000);
}

describe("tools behind an address", () => {
  const heard: IncomingHttpHeaders[] = [];
  let isEndless = false;
  const http = createServer((request, response) => {
    void (async () => {
      heard.push(request.headers);
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
      if (isEndless) {
        response.writeHead(200, { "content-type": "application/json" });
        await pipeline(Readable.from(endless()), response).catch(() => undefined);
        return;
      }
      const server = new Server({ name: "rates", version: "1" }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [TOOL] }));
      server.setRequestHandler(CallToolRequestSchema, () => ({
        content: [{ type: "text", text: "1 EUR = 1.08 USD" }],
      }));
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport as Parameters<typeof server.connect>[0]);
      await transport.handleRequest(request, response, text === "" ? undefined : JSON.parse(text));
    })();
  });
  before(async () => {
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
  });
  after(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = () => `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const open = (more: object) =>
    openRunnerWorld({
      servers: { rates: { url: url(), ...more } },
      tools: { "fx.rates": { server: "rates", tool: "rates" } },
      env: { RATES_TOKEN: "Bearer of-the-operator" },
      script: ({ results }) => (results.length === 0 ? call("fx_rates") : done(results[0])),
    });

  it("are called with the operator's headers, and credentials made for the ask", async () => {
    await using world = await open({
      headers_env: { authorization: "RATES_TOKEN" },
      mint: [process.execPath, "-e", MINT],
    });
    const outcome = await world.answer({ allowedTools: ["fx.rates"] });
    assert.equal(outcome.text, "1 EUR = 1.08 USD");
    assert.deepEqual(outcome.attestation?.tools_used, ["fx.rates"]);
    for (const headers of heard) {
      assert.equal(headers.authorization, "Bearer of-the-operator");
      assert.equal(headers["x-minted"], "for-one-ask");
    }
  });

  it("fail their ask where the environment lacks a header, or no credentials can be made", async () => {
    for (const more of [
      { headers_env: { authorization: "NO_SUCH" } },
      { mint: [process.execPath, "-e", "console.log('password: hunter2')"] },
      { mint: ["/nowhere/at-all"] },
    ]) {
      await using world = await open(more);
      const outcome = await world.answer({ allowedTools: ["fx.rates"] });
      assert.deepEqual(outcome.error, { code: "E_TOOL_ERROR", text: "rates cannot be reached" });
      assert.ok(!world.logged.join("").includes("hunter2"));
    }
  });

  it("are let go of where their reply has no end", async () => {
    isEndless = true;
    await using world = await open({});
    const outcome = await world.answer({ allowedTools: ["fx.rates"] });
    assert.deepEqual(outcome.error, { code: "E_TOOL_ERROR", text: "rates cannot be reached" });
  });
});
