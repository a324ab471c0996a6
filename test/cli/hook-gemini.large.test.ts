import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { hasTerminal } from "../../src/lib/terminal.ts";
import { describeHookedAgent } from "../support/hooked-agent.ts";
import { MAIN, newFolder } from "../support/program.ts";

const tool_input = { command: "rm -rf dist", description: "Remove dist" };
const edited = { command: "rm -r dist/old", description: "Remove dist" };
const [decision, reason] = ["allow", "Approved by operator"];

const prompt = {
  session_id: "b2c1",
  transcript_path: "/home/ana/.gemini/tmp/chats/s.json",
  cwd: "/home/ana/app",
  hook_event_name: "BeforeTool",
  timestamp: "2026-11-20T10:00:00.000Z",
  tool_name: "run_shell_command",
  tool_input,
};
const NO_TERMINAL = "Gemini CLI has no terminal at which it could ask.";

describeHookedAgent({
  name: "gemini",
  prompt,
  tool: "run_shell_command",
  shown: { ...tool_input, cwd: "/home/ana/app" },
  allowed: { decision, reason },
  denied: (because) => ({ decision: "deny", reason: because }),
  undecided: (because) =>
    hasTerminal()
      ? { decision: "ask", systemMessage: because }
      : { decision: "deny", reason: `${because} ${NO_TERMINAL}` },
  edit: {
    kwargs: { ...edited, cwd: "/home/ana/app" },
    printed: { decision, reason, hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: edited } },
  },
  failed: { out: /^$/, exit: 2 },
  configuration: {
    file: ".gemini/settings.json",
    written(command, over) {
      const matcher =
        "^(run_shell_command|write_file|replace|web_fetch|mcp_(?!parley_(ask_human|check_human_responses|wait_for_human_responses|contact_human|request_approval|use_approved_call|report_outcome|answer_inquiry|list_humans)$).*)$";
      return {
        hooks: {
          BeforeTool: [
            { matcher, sequential: true, hooks: [{ name: "parley", type: "command", command, timeout: 3_720_000 }] },
          ],
          AfterTool: [{ matcher, hooks: [{ name: "parley", type: "command", command: over, timeout: 5000 }] }],
        },
      };
    },
  },
});

describe("a hook of gemini that reaches no people", () => {
  /** The hook's reply, where it is run by a program that gives it a terminal or takes it away. */
  const replyOf = (program: string, ...args: string[]): string => {
    const hook = [process.execPath, MAIN, "hook", "gemini", "--url", "http://127.0.0.1:1"];
    const command = `echo '${JSON.stringify(prompt)}' | ${hook.join(" ")}`;
    const [file, ...rest] = [program, ...args].map((arg) => (arg === "COMMAND" ? command : arg));
    return execFileSync(file ?? "", rest, { encoding: "utf8", env: { PATH: process.env["PATH"], HOME: newFolder() } });
  };

  it("denies where Gemini CLI has no terminal, at which it would wait for ever, and lets it ask at one", () => {
    assert.match(replyOf("setsid", "--wait", "sh", "-c", "COMMAND"), /"decision":"deny".*has no terminal at which/);
    assert.match(replyOf("script", "-qec", "COMMAND", "/dev/null"), /"decision":"ask"/);
  });
});
