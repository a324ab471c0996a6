import { copilot } from "../../src/connect/agents/copilot/copilot.ts";
import { describeWire } from "../support/prompt-wire.ts";

const common = { sessionId: "s1", timestamp: 1_700_000_000_000, cwd: "/app" };
const snake = { hook_event_name: "PermissionRequest", session_id: "s1" };

describeWire({
  agent: copilot,
  prompts: [
    {
      sent: { ...common, toolName: "bash", toolInput: { command: "rm -rf dist", requestSandboxBypass: true } },
      tool: "bash",
      shown: { command: "rm -rf dist", requestSandboxBypass: true, cwd: "/app" },
    },
    {
      sent: { ...common, toolName: "create", toolArgs: '{"path":"a"}' },
      tool: "create",
      shown: { path: "a", cwd: "/app" },
    },
    { sent: { ...snake, tool_name: "Bash", tool_input: { command: "ls" } }, tool: "Bash", shown: { command: "ls" } },
    {
      sent: { ...common, toolName: "edit", toolArgs: '{"a":1,"a":2}' },
      tool: "edit",
      shown: { input_json: '{"a":2}', cwd: "/app" },
    },
  ],
  decisions: [
    [{ kind: "allow", because: "Approved by Ana" }, '{"behavior":"allow"}'],
    [{ kind: "deny", because: "Rejected by Ana: no" }, '{"behavior":"deny","message":"Rejected by Ana: no"}'],
    [{ kind: "undecided", because: "Nobody there." }, "{}"],
  ],
  otherEvents: [
    { ...snake, hook_event_name: "Stop" },
    { ...common, hookName: "preToolUse", toolName: "bash", toolArgs: "{}" },
  ],
  unreadable: [
    common,
    { ...common, toolName: "bash" },
    { ...common, toolName: "bash", toolArgs: "ls" },
    { ...common, toolName: "bash", toolInput: [1] },
    { ...common, toolName: "", toolInput: {} },
  ],
});
