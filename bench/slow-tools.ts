import { setTimeout as sleep } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** A server of tools over stdio with one that reads, and takes a second for it. */
const READ_MS = 1000;
const TOOL = {
  name: "read",
  description: "Reads one thing.",
  inputSchema: { type: "object" as const, properties: { what: { type: "string" } }, additionalProperties: false },
  annotations: { readOnlyHint: true },
};

const server = new Server({ name: "slow", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [TOOL] }));
server.setRequestHandler(CallToolRequestSchema, async () => {
  await sleep(READ_MS);
  return { content: [{ type: "text", text: "12 rows" }] };
});
await server.connect(new StdioServerTransport());
