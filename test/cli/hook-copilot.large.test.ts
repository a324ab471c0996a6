import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { describeHookedAgent } from "../support/hooked-agent.ts";
import { environment, MAIN } from "../support/program.ts";

const toolInput = { command: "npm publish", description: "Publish it" };

describeHookedAgent({
  name: "copilot",
  prompt: { sessionId: "5f0a", timestamp: 1_790_000_000_000, cwd: "/home/ana/app", toolName: "bash", toolInput },
  tool: "bash",
  shown: { ...toolInput, cwd: "/home/ana/app" },
  allowed: { behavior: "allow" },
  denied: (message) => ({ behavior: "deny", message }),
  undecided: () => ({}),
  failed: { out: /^\{"behavior":"deny","message":"Parley denied it, [^\n]*\n$/, exit: 2 },
  configuration: {
    file: ".copilot/hooks/parley.json",
    written(command, over) {
      const after = [{ type: "command", bash: over, timeoutSec: 5 }];
      return {
        version: 1,
        hooks: {
          permissionRequest: [{ type: "command", bash: command, timeoutSec: 3720 }],
          postToolUse: after,
          postToolUseFailure: after,
        },
      };
    },
  },
});

describe("a hook whose agent is killed outright", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });

  it("withdraws its request from people, and ends", async () => {
    const operator = await decider(world(), "1");
    const env = environment({ PARLEY_URL: world().url, PROMPT: JSON.stringify({ toolName: "bash", toolInput }) });
    const line = 'printf %s "$PROMPT" | "$0" "$1" hook copilot; true';
    const agent = spawn("/bin/sh", ["-c", line, process.execPath, MAIN], { env, stdio: ["ignore", "pipe", "ignore"] });
    const hookEnded = once(agent, "close");
    await until(async () => ((await operator.inbox()).length === 1 ? true : undefined));
    agent.kill("SIGKILL");
    await until(async () => ((await operator.inbox()).length === 0 ? true : undefined));
    await hookEnded;
  });
});
