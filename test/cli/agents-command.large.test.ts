import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/lib/clock.ts";
import type { AgentRules } from "../../src/tasks/model/rules.ts";
import { findAgents } from "../../src/workshop/agents/find-agents.ts";
import { converse } from "../support/conversation.ts";
import { parley } from "../support/program.ts";

const root = mkdtempSync(join(tmpdir(), "parley-agents-"));
after(() => rmSync(root, { recursive: true }));
const newFolder = () => mkdtempSync(join(root, "c-"));
const command = (...line: string[]) => ({ type: "command" as const, command: line });

describe("a command as an agent", () => {
  const message = "Do it; don't `echo` $HOME\nat once";

  it("is told by an argument, and by a variable", async () => {
    const folder = newFolder();
    const line = 'printf "%s" "$1" > arg.txt; printf "%s" "$AA_PROMPT" > env.txt; cat > in.txt; echo "it is done"';
    const done = await converse({ folder, message, settings: command("/bin/sh", "-c", line, "sh", "AA_PROMPT") });
    assert.deepEqual(done.end, { kind: "done" });
    const read = (name: string) => readFileSync(join(folder, "tree", name), "utf8");
    assert.deepEqual([read("arg.txt"), read("env.txt"), read("in.txt")], [message, message, ""]);
    assert.deepEqual(done.messages, ["it is done"]);
  });

  it("is told by its input where no argument is for that, however long it is", async () => {
    const folder = newFolder();
    const long = "é".repeat(100_000);
    const done = await converse({ folder, message: long, settings: command("/bin/sh", "-c", "cat > in.txt") });
    assert.deepEqual(done.end, { kind: "done" });
    assert.equal(readFileSync(join(folder, "tree/in.txt"), "utf8"), `${long}\n`);
    await assert.rejects(
      converse({ folder, message: long, settings: command("/bin/echo", "AA_PROMPT") }),
      /too long for an argument/,
    );
  });

  it("may reach people by the address and the token in its environment", async () => {
    const mcp = { url: "http://127.0.0.1:9/mcp", token: "t0ken" };
    const settings = command("/bin/sh", "-c", 'echo "$PARLEY_MCP_URL $PARLEY_MCP_TOKEN"');
    const done = await converse({ folder: newFolder(), message, mcp, settings });
    assert.deepEqual(done.messages, ["http://127.0.0.1:9/mcp t0ken"]);
  });

  it("has failed when it says so, has died when it was killed, and cannot go on", async () => {
    const folder = newFolder();
    const failed = await converse({ folder, message, settings: command("/bin/sh", "-c", "echo why >&2; exit 3") });
    assert.deepEqual(failed.end, { kind: "failed", error: "The command ended with exit code 3.\nwhy\n" });
    const died = await converse({ folder, message, settings: command("/bin/sh", "-c", "kill -9 $$") });
    assert.equal(died.end.kind === "died" && died.end.canResume, false);
    const stopped = await converse({
      folder,
      message,
      settings: command("/bin/sh", "-c", "echo on; exec sleep 600"),
      onLine: (_line, { interrupt, kill }) => {
        interrupt();
        kill("SIGINT");
      },
    });
    assert.deepEqual(stopped.end, { kind: "interrupted" });
  });
});

describe("finding agents", () => {
  const bin = newFolder();
  const tells = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  tells("codex", 'echo "codex-cli 0.171.0"');
  tells("claude", 'echo "9.9.9 (Claude Code)"');
  tells("gemini", "exit 1");
  tells("mine", "touch ran");
  mkdirSync(join(bin, "opencode"));
  const agent = (name: string, parts: Partial<AgentRules>): AgentRules => {
    return { name, type: "acp", command: [name], flavour: "other", passEnv: [], keyProxy: false, ...parts };
  };
  const AGENTS = [
    agent("claude", { type: "claude", passEnv: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"] }),
    agent("codex", { type: "codex" }),
    agent("gemini", { flavour: "gemini", command: ["gemini", "--acp"] }),
    agent("opencode", { flavour: "opencode" }),
    agent("mine", { type: "command", command: [join(bin, "mine"), "--do"] }),
    agent("gone", { command: ["/nowhere/agent"] }),
  ];
  const find = (refusal: (needsSandbox: boolean) => string | null = () => null) =>
    findAgents(AGENTS, { env: { PATH: `${bin}${delimiter}/usr/bin:/bin` }, clock: systemClock, refusal });

  it("says which work, which version they are, and why the others do not", async () => {
    const found = await find();
    assert.deepEqual(
      found.map(({ name, version, works, why, remarks }) => [name, version, works, why ?? remarks.join("; ")]),
      [
        [
          "claude",
          "9.9.9",
          true,
          "never tested with this version, but with 2.1.197, 2.1.332; without ANTHROPIC_API_KEY",
        ],
        ["codex", "0.171.0", true, ""],
        ["gemini", null, false, "gemini --version tells no version"],
        ["opencode", null, false, "opencode is not on the PATH"],
        ["mine", null, true, "never tested"],
        ["gone", null, false, "/nowhere/agent is not here"],
      ],
    );
    assert.equal(found[1]?.program, join(bin, "codex"));
  });

  it("says which need a sandbox that is not there, and runs no program it knows nothing of", async () => {
    const found = await find((needsSandbox) => (needsSandbox ? "no room" : null));
    assert.deepEqual(
      found.map(({ works, why }) => works || why),
      [
        true,
        true,
        "gemini --version tells no version",
        "opencode is not on the PATH",
        "no room",
        "/nowhere/agent is not here",
      ],
    );
    assert.throws(() => readFileSync(join(bin, "ran")));
  });

  it("is what `parley agents` prints", async () => {
    const fakes = newFolder();
    for (const name of ["claude", "codex"]) {
      symlinkSync(fileURLToPath(new URL(`../support/fake-agents/${name}.ts`, import.meta.url)), join(fakes, name));
    }
    const PATH = [fakes, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
    const env = { PATH, OPENAI_API_KEY: "x", PARLEY_DATA_DIR: newFolder() };
    const told = await parley(["agents"], env);
    assert.equal(told.code, 0, told.err);
    assert.match(
      told.out,
      /^AGENT +TYPE +VERSION +STATE\nclaude +claude +2\.1\.332 +works; without ANTHROPIC_API_KEY\b/,
    );
    assert.match(told.out, /^codex +codex +0\.171\.0 +works$/m);
    assert.match(told.out, /^gemini +acp +- +does not work: gemini is not on the PATH$/m);
    const wire = JSON.parse((await parley(["agents", "--json"], env)).out) as { name: string; works: boolean }[];
    assert.deepEqual(
      wire.map(({ name, works }) => [name, works]),
      [
        ["claude", true],
        ["codex", true],
        ["gemini", false],
        ["opencode", false],
      ],
    );
  });
});
