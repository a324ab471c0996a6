/** An MCP server that deletes the files of a folder by their beginning, and shows which these are before it does. */
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = process.argv[2] ?? ".";
const properties = { start: { type: "string" }, dry_run: { type: "boolean" } };
const inputSchema = { type: "object", properties };
const tools = ["delete_files", "preview_delete", "broken_preview"].map((name) => ({ name, inputSchema }));
const found = (start) =>
  readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .sort();
const textOf = (text) => ({ content: [{ type: "text", text }] });

function preview(start) {
  const targets = found(start).map((name) => ({ name, folder }));
  const digest = createHash("sha256").update(JSON.stringify(targets)).digest("hex");
  return { ...textOf("shown"), structuredContent: { targets, digest } };
}
function call({ name, arguments: { start, dry_run: isDry } }) {
  if (name === "broken_preview") return textOf("not JSON");
  if (name === "preview_delete" || isDry) return preview(start);
  const names = found(start);
  for (const one of names) rmSync(join(folder, one));
  return textOf(`deleted ${names.join(" ")}`);
}
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "previewing", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": call,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const result = results[method]?.(params ?? {});
  if (id !== undefined && result) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
