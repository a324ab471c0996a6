/** An MCP server whose one tool is called and never answers; it speaks of the call on standard error. */
import { createInterface } from "node:readline";

const tools = [{ name: "charge", description: "Charges a card", inputSchema: { type: "object" } }];
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "unanswering", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "tools/call") process.stderr.write(`called ${JSON.stringify(params.arguments)}\n`);
  const result = results[method]?.(params ?? {});
  if (id !== undefined && result) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
