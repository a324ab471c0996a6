import { cursor } from "../../src/connect/agents/cursor/cursor.ts";
import { describeWire } from "../support/prompt-wire.ts";

const common = { conversation_id: "s1", generation_id: "g1", cursor_version: "3.9.16", workspace_roots: ["/app"] };
const shell = { ...common, hook_event_name: "beforeShellExecution" };
const mcp = { ...common, hook_event_name: "beforeMCPExecution", tool_name: "query" };

describeWire({
  agent: cursor,
  prompts: [
    {
      sent: { ...shell, command: "rm -rf dist", cwd: "/app" },
      tool: "Shell",
      shown: { command: "rm -rf dist", cwd: "/app" },
    },
    {
      sent: { ...mcp, tool_input: '{"sql":"select 1"}', command: "npx db-server" },
      tool: "MCP:query",
      shown: { server: "npx db-server", tool_input: { sql: "select 1" }, cwd: "/app" },
    },
    {
      sent: { ...mcp, tool_input: { sql: "select 1" }, url: "http://localhost:3000/mcp" },
      tool: "MCP:query",
      shown: { server: "http://localhost:3000/mcp", tool_input: { sql: "select 1" }, cwd: "/app" },
    },
    {
      sent: { ...mcp, tool_input: '{"a":1,"a":2}' },
      tool: "MCP:query",
      shown: { input_json: '{"tool_input":{"a":2}}', cwd: "/app" },
    },
  ],
  decisions: [
    [{ kind: "allow", because: "Approved by Ana" }, '{"permission":"allow"}'],
    [
      { kind: "deny", because: "Rejected by Ana: no" },
      '{"permission":"deny","user_message":"Rejected by Ana: no","agent_message":"Rejected by Ana: no"}',
    ],
    [
      { kind: "undecided", because: "Nobody there." },
      '{"permission":"ask","user_message":"Nobody there.","agent_message":"Nobody there."}',
    ],
  ],
  otherEvents: [{ ...common, hook_event_name: "afterFileEdit", file_path: "a", edits: [] }],
  unreadable: [
    common,
    shell,
    { ...shell, command: ["ls"] },
    mcp,
    { ...mcp, tool_input: "ls" },
    { ...mcp, tool_input: "[1]" },
    { ...mcp, tool_name: "", tool_input: "{}" },
  ],
});
