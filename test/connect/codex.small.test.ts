import { codex } from "../../src/connect/agents/codex/codex.ts";
import { describeWire } from "../support/prompt-wire.ts";

const common = { session_id: "s1", turn_id: "t1", hook_event_name: "PermissionRequest" };
const patch = { command: "*** Begin Patch\n*** Add File: a\n+a\n*** End Patch" };

describeWire({
  agent: codex,
  prompts: [
    {
      sent: { ...common, tool_name: "Bash", tool_input: { command: "rm -rf dist", description: "clean" } },
      tool: "Bash",
      shown: { command: "rm -rf dist", description: "clean" },
    },
    { sent: { ...common, tool_name: "apply_patch", tool_input: patch }, tool: "apply_patch", shown: patch },
    {
      sent: { ...common, tool_name: "mcp__files__write", tool_input: { path: "a", size: 3 } },
      tool: "mcp__files__write",
      shown: { path: "a", size: 3 },
    },
  ],
  decisions: [
    [
      { kind: "allow", because: "Approved by Ana" },
      '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}',
    ],
    // Codex denies where a decision has another member: it has no edits.
    [
      { kind: "allow", because: "Approved by Ana", updatedInput: { command: "ls" } },
      '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}',
    ],
    [
      { kind: "deny", because: "Rejected by Ana: no" },
      '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Rejected by Ana: no"}}}',
    ],
    [{ kind: "undecided", because: "Nobody there." }, '{"systemMessage":"Nobody there."}'],
  ],
  otherEvents: [{ ...common, hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: {} }],
  unreadable: [
    common,
    { ...common, tool_name: "Bash", tool_input: "ls" },
    { ...common, tool_name: "", tool_input: {} },
  ],
});
