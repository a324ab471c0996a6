/** An MCP server of the revisions with a handshake, with something of each kind that such a server has. */
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { z } from "zod";

const server = new McpServer(
  { name: "kinds", version: "1.0.0" },
  { capabilities: { logging: {} }, instructions: "Use \u2028 them all" },
);
const text = (words) => ({ content: [{ type: "text", text: words }] });

server.registerTool("echo", { inputSchema: z.looseObject({}), description: "Says \u0085 it again" }, (args) => ({
  ...text(JSON.stringify(args)),
  structuredContent: args,
}));
server.registerTool("bare", { description: "Takes nothing" }, () => text("bare"));
server.registerTool("fails", { inputSchema: {} }, () => ({ ...text("It failed"), isError: true }));
server.registerTool("asks", { inputSchema: {} }, async (_args, { sendNotification, _meta }) => {
  const progressToken = _meta?.progressToken;
  if (progressToken !== undefined) {
    await sendNotification({
      method: "notifications/progress",
      params: { progressToken, progress: 0.5, message: "half" },
    });
  }
  await server.server.sendLoggingMessage({ level: "info", data: "It asks" });
  const schema = { type: "object", properties: { colour: { type: "string" } } };
  const { action, content } = await server.server.elicitInput({ message: "Which?", requestedSchema: schema });
  const { roots } = await server.server.listRoots();
  return text(JSON.stringify({ action, content, roots }));
});
server.registerResource("a", "memo://a", {}, () => ({ contents: [{ uri: "memo://a", text: "a\u2029b" }] }));
server.registerResource("any", new ResourceTemplate("memo://{name}", { list: undefined }), {}, ({ href }) => ({
  contents: [{ uri: href, text: "any" }],
}));
server.registerPrompt(
  "greet",
  { argsSchema: { name: completable(z.string(), (start) => [`${start}na`]) } },
  ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Hello ${name}` } }],
  }),
);
await server.connect(new StdioServerTransport());
