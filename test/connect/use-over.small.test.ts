import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hookFilesOf, type PromptingAgent } from "../../src/connect/agent.ts";
import { claude } from "../../src/connect/agents/claude/claude.ts";
import { codex } from "../../src/connect/agents/codex/codex.ts";
import { copilot } from "../../src/connect/agents/copilot/copilot.ts";
import { cursor } from "../../src/connect/agents/cursor/cursor.ts";
import { gemini } from "../../src/connect/agents/gemini/gemini.ts";
import { openclaw } from "../../src/connect/agents/openclaw/openclaw.ts";
import { opencode } from "../../src/connect/agents/opencode/opencode.ts";
import { endMarkOf, reportOf, TEST_SESSION } from "../../src/connect/use-over.ts";

const s1 = { session_id: "s1", cwd: "/app" };
const input = { command: "make" };
const bash = { ...s1, tool_name: "Bash", tool_input: input };
const claudeOver = { ...bash, hook_event_name: "PostToolUse", tool_use_id: "t1", cwd: "/app/dist" };
const failed = { ...claudeOver, hook_event_name: "PostToolUseFailure", is_interrupt: false };
const shell = { ...s1, tool_name: "run_shell_command", tool_input: input };
const after = { ...shell, hook_event_name: "AfterTool" };
const said = (text: string) => ({ llmContent: `<untrusted_context>\n${text}\n</untrusted_context>` });
const asked = { hookName: "permissionRequest", sessionId: "s1", toolName: "bash", toolInput: input };
const used = { sessionId: "s1", toolName: "bash", toolArgs: { ...input, description: "Make it" } };
const told = (textResultForLlm: string) => ({ resultType: "success", textResultForLlm });
const cursors = { conversation_id: "s1", workspace_roots: ["/app"] };
const mcp = { ...cursors, tool_name: "query", tool_input: '{"sql":"x"}' };
const plugin = { session_id: "s1", tool_name: "exec", tool_input: input };

/** Each agent's prompt, and events after a tool with the end that they tell. */
const TOLD: [PromptingAgent, object, [object, string][]][] = [
  [
    claude,
    { ...bash, hook_event_name: "PermissionRequest" },
    [
      [claudeOver, "done"],
      [{ ...failed, error: "Exit code 3\nno rule for the secret" }, "failed exit 3"],
      [{ ...failed, error: "no such file" }, "failed"],
      [{ ...failed, error: "Exit code 3", is_interrupt: true }, "failed interrupted"],
    ],
  ],
  [
    codex,
    { ...bash, hook_event_name: "PermissionRequest", tool_input: { ...input, description: "May I?" } },
    [[{ ...bash, hook_event_name: "PostToolUse", tool_use_id: "c1", tool_response: "" }, "done"]],
  ],
  [
    gemini,
    { ...shell, hook_event_name: "BeforeTool" },
    [
      [{ ...after, tool_response: said("Output: Exit Code: 3\nProcess Group PGID: 7") }, "done"],
      [{ ...after, tool_response: said("Output: x\nExit Code: 3\nProcess Group PGID: 7") }, "failed exit 3"],
      [{ ...after, tool_response: said("Output: x\nSignal: 9\nProcess Group PGID: 7") }, "failed signal 9"],
      [{ ...after, tool_response: { llmContent: "x", error: { message: "a secret" } } }, "failed"],
    ],
  ],
  [
    copilot,
    asked,
    [
      [{ ...used, toolResult: told("made\n<shellId: 0 completed with exit code 0>") }, "done"],
      [{ ...used, toolResult: told("\n<shellId: 0 completed with exit code 3>") }, "failed exit 3"],
      [{ ...used, error: "a secret" }, "failed"],
    ],
  ],
  [
    cursor,
    { ...cursors, hook_event_name: "beforeShellExecution", command: "make" },
    [[{ ...cursors, hook_event_name: "afterShellExecution", command: "make", output: "made" }, "done"]],
  ],
  [
    cursor,
    { ...mcp, hook_event_name: "beforeMCPExecution", url: "http://localhost:3000/mcp" },
    [
      [{ ...mcp, hook_event_name: "afterMCPExecution", result_json: '{"content":[]}' }, "done"],
      [{ ...mcp, hook_event_name: "afterMCPExecution", result_json: '{"isError":true}' }, "failed"],
    ],
  ],
  [
    openclaw,
    { ...plugin, hook_event_name: "before_tool_call" },
    [
      [{ ...plugin, hook_event_name: "after_tool_call", exit: 0 }, "done"],
      [{ ...plugin, hook_event_name: "after_tool_call", exit: 3 }, "failed exit 3"],
      [{ ...plugin, hook_event_name: "after_tool_call", error: "a secret" }, "failed"],
    ],
  ],
  [
    opencode,
    { ...plugin, hook_event_name: "permission.asked", tool_input: { input } },
    [[{ ...plugin, hook_event_name: "message.part.updated", tool_input: { input }, exit: 3 }, "failed exit 3"]],
  ],
];
const bytesOf = (event: object) => Buffer.from(JSON.stringify(event));

describe("the end of a use of a tool", () => {
  for (const [agent, sent, overs] of TOLD) {
    it(`finds the prompt of it and is told as ${agent.title} tells it, without what the tool returned`, () => {
      const prompt = agent.read(bytesOf(sent)) ?? assert.fail();
      for (const [event, end] of overs) {
        const over = agent.after?.read(bytesOf({ tool_response: "a secret", ...event })) ?? assert.fail();
        const report = reportOf(agent, over) ?? assert.fail();
        assert.equal([report.outcome, report.text].filter((part) => part !== undefined).join(" "), end);
        assert.deepEqual([report.tool, report.use_digest], [prompt.tool, endMarkOf(agent, prompt)]);
        assert.doesNotMatch(JSON.stringify(report), /secret|make|sql/);
      }
    });
  }

  it("is promised by no prompt by which people try a hook", () => {
    const prompt = codex.read(bytesOf({ ...bash, hook_event_name: "PermissionRequest" })) ?? assert.fail();
    assert.equal(endMarkOf(codex, { ...prompt, session: TEST_SESSION }), undefined);
  });

  it("has a hook beside that of the prompt, which goes with it, and none where it is not wanted", () => {
    for (const agent of new Set(TOLD.map(([one]) => one))) {
      const [file] = hookFilesOf(agent, { HOME: "/h" });
      const command = `parley hook ${agent.name}`;
      const over = `${command} --over`;
      const text = file?.withHook("", { command, over, timeoutSeconds: 60 }) ?? "";
      assert.ok(text.includes(over), agent.name);
      assert.doesNotMatch(file?.withHook(text, null) ?? "", /parley hook/);
      assert.ok(!file?.withHook(text, { command, timeoutSeconds: 60 }).includes("--over"), agent.name);
    }
  });
});
