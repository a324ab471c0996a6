import { describeHookedAgent } from "../support/hooked-agent.ts";

const EVENT = { hookEventName: "PermissionRequest" };
const tool_input = { command: "curl example.com", description: "Reach the network?" };

describeHookedAgent({
  name: "codex",
  prompt: {
    session_id: "019ac1",
    turn_id: "turn-1",
    transcript_path: null,
    cwd: "/home/ana/app",
    hook_event_name: "PermissionRequest",
    model: "gpt-5",
    permission_mode: "default",
    tool_name: "Bash",
    tool_input,
  },
  tool: "Bash",
  shown: { ...tool_input, cwd: "/home/ana/app" },
  allowed: { hookSpecificOutput: { ...EVENT, decision: { behavior: "allow" } } },
  denied: (message) => ({ hookSpecificOutput: { ...EVENT, decision: { behavior: "deny", message } } }),
  undecided: (systemMessage) => ({ systemMessage }),
  failed: { out: /^$/, exit: 2 },
  configuration: {
    file: ".codex/hooks.json",
    written: (command, over) => ({
      hooks: {
        PermissionRequest: [{ hooks: [{ type: "command", command, timeout: 3720 }] }],
        PostToolUse: [{ hooks: [{ type: "command", command: over, timeout: 5 }] }],
      },
    }),
  },
});
