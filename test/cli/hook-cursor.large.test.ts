import { describeHookedAgent } from "../support/hooked-agent.ts";

const refused = (permission: string) => (because: string) => ({
  permission,
  user_message: because,
  agent_message: because,
});

describeHookedAgent({
  name: "cursor",
  prompt: {
    conversation_id: "c1",
    generation_id: "g1",
    model: "default",
    hook_event_name: "beforeMCPExecution",
    cursor_version: "3.9.16",
    workspace_roots: ["/home/ana/app"],
    user_email: null,
    tool_name: "query",
    tool_input: { sql: "drop table orders" },
    command: "npx db-server",
  },
  tool: "MCP:query",
  shown: { server: "npx db-server", tool_input: { sql: "drop table orders" }, cwd: "/home/ana/app" },
  allowed: { permission: "allow" },
  denied: refused("deny"),
  undecided: refused("ask"),
  failed: { out: /^\{"permission":"deny","user_message":"Parley denied it, [^\n]*\n$/, exit: 0 },
  configuration: {
    file: ".cursor/hooks.json",
    written(command, over) {
      const hooks = [{ command, timeout: 3720, failClosed: true }];
      const after = [{ command: over, timeout: 5 }];
      return {
        version: 1,
        hooks: {
          beforeShellExecution: hooks,
          beforeMCPExecution: hooks,
          afterShellExecution: after,
          afterMCPExecution: after,
        },
      };
    },
  },
});
