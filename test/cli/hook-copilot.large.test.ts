import { describeHookedAgent } from "../support/hooked-agent.ts";

const toolInput = { command: "npm publish", description: "Publish it" };

describeHookedAgent({
  name: "copilot",
  prompt: { sessionId: "5f0a", timestamp: 1_790_000_000_000, cwd: "/home/ana/app", toolName: "bash", toolInput },
  tool: "bash",
  shown: toolInput,
  allowed: { behavior: "allow" },
  denied: (message) => ({ behavior: "deny", message }),
  undecided: () => ({}),
  failed: { out: /^\{"behavior":"deny","message":"Parley denied it, [^\n]*\n$/, exit: 2 },
  configuration: {
    file: ".copilot/hooks/parley.json",
    written: (command) => ({
      version: 1,
      hooks: { permissionRequest: [{ type: "command", bash: command, timeoutSec: 3720 }] },
    }),
  },
});
