import { describeHookedAgent } from "../support/hooked-agent.ts";

const tool_input = { command: "rm -rf dist", description: "Remove dist" };
const edited = { command: "rm -r dist/old", description: "Remove dist" };
const [decision, reason] = ["allow", "Approved by operator"];

describeHookedAgent({
  name: "gemini",
  prompt: {
    session_id: "b2c1",
    transcript_path: "/home/ana/.gemini/tmp/chats/s.json",
    cwd: "/home/ana/app",
    hook_event_name: "BeforeTool",
    timestamp: "2026-11-20T10:00:00.000Z",
    tool_name: "run_shell_command",
    tool_input,
  },
  tool: "run_shell_command",
  shown: { ...tool_input, cwd: "/home/ana/app" },
  allowed: { decision, reason },
  denied: (because) => ({ decision: "deny", reason: because }),
  undecided: (systemMessage) => ({ decision: "ask", systemMessage }),
  edit: {
    kwargs: { ...edited, cwd: "/home/ana/app" },
    printed: { decision, reason, hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: edited } },
  },
  failed: { out: /^$/, exit: 2 },
  configuration: {
    file: ".gemini/settings.json",
    written: (command) => ({
      hooks: {
        BeforeTool: [
          {
            matcher:
              "^(run_shell_command|write_file|replace|web_fetch|mcp_(?!parley_(ask_human|check_human_responses|wait_for_human_responses|contact_human|request_approval|list_humans)$).*)$",
            hooks: [{ name: "parley", type: "command", command, timeout: 3_720_000 }],
          },
        ],
      },
    }),
  },
});
