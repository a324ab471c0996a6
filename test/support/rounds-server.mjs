/** An MCP server of the revision 2026-07-28, whose one tool asks its client before it says what it was called with. */
import { createInterface } from "node:readline";

const shared = { ttlMs: 0, cacheScope: "private", resultType: "complete" };
const form = {
  method: "elicitation/create",
  params: { message: "Which colour?", requestedSchema: { type: "object", properties: { colour: { type: "string" } } } },
};

function resultOf(method, { arguments: args, requestState, inputResponses }) {
  switch (method) {
    case "server/discover":
      return { ...shared, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
    case "tools/list":
      return { ...shared, tools: [{ name: "paint", description: "Paints", inputSchema: { type: "object" } }] };
    case "tools/call":
      if (requestState === undefined) {
        return {
          resultType: "input_required",
          inputRequests: { colour: form },
          requestState: `1 ${JSON.stringify(args)}`,
        };
      }
      if (requestState.startsWith("1 ")) {
        return {
          resultType: "input_required",
          requestState: `2 ${JSON.stringify(inputResponses)} ${JSON.stringify(args)}`,
        };
      }
      return { resultType: "complete", content: [{ type: "text", text: requestState }] };
    default:
      return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const result = resultOf(method, params);
  const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
