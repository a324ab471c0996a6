import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gemini, printFor } from "../../src/connect/agents/gemini/gemini.ts";
import { describeWire } from "../support/prompt-wire.ts";

const common = { session_id: "s1", cwd: "/app", hook_event_name: "BeforeTool", timestamp: "2026-11-20T10:00:00Z" };

describeWire({
  agent: gemini,
  prompts: [
    {
      sent: { ...common, tool_name: "run_shell_command", tool_input: { command: "rm -rf dist", dir_path: "." } },
      tool: "run_shell_command",
      shown: { command: "rm -rf dist", dir_path: ".", cwd: "/app" },
    },
    {
      sent: {
        ...common,
        tool_name: "mcp_files_write",
        tool_input: { path: "a" },
        mcp_context: { server_name: "files" },
      },
      tool: "mcp_files_write",
      shown: { path: "a", cwd: "/app" },
    },
  ],
  decisions: [
    [{ kind: "allow", because: "Approved by Ana" }, '{"decision":"allow","reason":"Approved by Ana"}'],
    [
      { kind: "allow", because: "Approved by Ana", updatedInput: { command: "ls", dir_path: "." } },
      '{"decision":"allow","reason":"Approved by Ana","hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"ls","dir_path":"."}}}',
    ],
    // Gemini CLI might still run an argument that a person took out.
    [
      { kind: "allow", because: "Approved by Ana", updatedInput: { command: "ls" } },
      '{"decision":"deny","reason":"Not approved: Gemini CLI cannot leave out dir_path, as the edited input does."}',
    ],
    [{ kind: "deny", because: "Rejected by Ana: no" }, '{"decision":"deny","reason":"Rejected by Ana: no"}'],
  ],
  otherEvents: [{ ...common, hook_event_name: "AfterTool", tool_name: "x", tool_input: {} }],
  unreadable: [
    common,
    { ...common, tool_name: "replace", tool_input: [1] },
    { ...common, tool_name: 1, tool_input: {} },
  ],
});

describe("a prompt of Gemini CLI about which nobody could be asked", () => {
  it("is put to whoever sits at its terminal, and denied where it has none", () => {
    const sent = { ...common, tool_name: "replace", tool_input: {} };
    const prompt = gemini.read(Buffer.from(JSON.stringify(sent))) ?? assert.fail();
    const printed = (isAtTerminal: boolean) =>
      printFor(() => isAtTerminal, prompt, { kind: "undecided", because: "Nobody there." });
    assert.equal(printed(true), '{"decision":"ask","systemMessage":"Nobody there."}');
    assert.equal(
      printed(false),
      '{"decision":"deny","reason":"Nobody there. Gemini CLI has no terminal at which it could ask."}',
    );
  });
});
