import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { AgentSettings } from "../../src/workshop/agents/agent.ts";
import { createKey } from "../../src/access/create-key.ts";
import { fresh, ROOMY, sharedWorld } from "../support/contract.ts";
import { converse } from "../support/conversation.ts";
import { somebody } from "../support/deciders.ts";

const root = mkdtempSync(join(tmpdir(), "parley-agents-"));
after(() => rmSync(root, { recursive: true }));
const program = (name: string) => fileURLToPath(new URL(`../support/fake-agents/${name}.ts`, import.meta.url));

/** Agents that get Parley's MCP server, each in its own way. */
const AGENTS: Readonly<Record<string, Pick<AgentSettings, "type" | "command"> & Partial<AgentSettings>>> = {
  claude: { type: "claude", command: [program("claude")] },
  codex: { type: "codex", command: [program("codex")] },
  opencode: { type: "acp", flavour: "opencode", command: [program("acp")] },
};

describe("people, for an agent at work", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  for (const [name, settings] of Object.entries(AGENTS)) {
    it(`are reached by ${name}, which was told where and with which token`, async () => {
      const jane = await somebody(world());
      const { text: token } = await createKey(world().server.ctx, { name: fresh(name), scope: "agent" });
      const folder = mkdtempSync(join(root, "p-"));
      const input = { message: "Which port?", to: jane.name, max_wait_seconds: 600 };
      const running = converse({
        folder,
        settings,
        message: "Do it.",
        mcp: { url: `${world().url}/mcp`, token },
        env: { FAKE_AGENT: JSON.stringify([{ mcp: "contact_human", input }]) },
      });
      await jane.decides({ text: "Port 4711." });
      const done = await running;
      assert.equal(done.end.kind, "done", JSON.stringify([done.end, done.stderr]));
      const session = readFileSync(join(folder, "home/.fake-agent", `${done.sessions[0]}.json`), "utf8");
      assert.match(session, /Port 4711\./);
      assert.deepEqual(done.wishes, []);
    });
  }
});
