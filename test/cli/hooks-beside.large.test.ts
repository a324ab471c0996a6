import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { newFolder, parley, start, until } from "../support/program.ts";

const group = (command: string) => [{ matcher: "*", hooks: [{ type: "command", command }] }];
const OVERRIDES = /audit\.json speaks after Parley's: its allow overrides people's no/;
const FIRST = /settings\.json runs at the same time as Parley's, and the first answer counts/;
const SECOND_WAY = /without --permission-prompt-tool mcp__parley__approve/;

/** A home in which Claude Code and Copilot CLI have a hook of somebody else. */
function openHome() {
  const [home, data] = [newFolder(), newFolder()];
  const write = (file: string, value: object) => {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), JSON.stringify(value));
  };
  write(".claude/settings.json", { hooks: { PermissionRequest: group("audit") } });
  write(".copilot/hooks/audit.json", {
    version: 1,
    hooks: { permissionRequest: [{ type: "command", bash: "audit" }] },
  });
  return { HOME: home, PATH: "", PARLEY_DATA_DIR: data, PARLEY_URL: "http://127.0.0.1:9" };
}

describe("hooks of others beside Parley's", () => {
  it("are named when the hook is installed, by connect, by its status and by the doctor", async () => {
    const env = openHome();
    const claude = await parley(["hook", "install", "claude", "--yes"], env);
    assert.match(claude.err, FIRST);
    assert.match(claude.out + claude.err, SECOND_WAY);
    const copilot = await parley(["hook", "install", "copilot", "--yes"], env);
    assert.match(copilot.err, OVERRIDES);
    assert.match(copilot.out + copilot.err, /trusted_folders/);
    const connected = await parley(["connect", "claude", "copilot", "--no-test", "--yes"], env);
    for (const wanted of [FIRST, OVERRIDES]) assert.match(connected.err, wanted);
    const status = await parley(["connect", "status"], env);
    for (const wanted of [FIRST, OVERRIDES, SECOND_WAY]) assert.match(status.err, wanted);
    const rows = JSON.parse((await parley(["connect", "status", "--json"], env)).out) as { beside: string[] }[];
    assert.deepEqual(
      rows.map(({ beside }) => beside.length),
      [1, 1],
    );
    await parley(["keys", "create", "coder", "--scope", "agent"], env);
    const { out } = await parley(["doctor", "--quick", "--json"], env);
    const { facts } = JSON.parse(out) as { facts: Record<string, string> };
    assert.match(String(facts["hooks_claude"]), FIRST);
    assert.match(String(facts["hooks_copilot"]), OVERRIDES);
  });

  it("include the permission prompt tool: parley mcp tells that the hook is there too", async () => {
    const env = openHome();
    await parley(["hook", "install", "claude", "--yes"], env);
    const bridge = start(["mcp"], env);
    let err = "";
    bridge.child.stderr.on("data", (text: Buffer) => (err += text.toString()));
    const params = { name: "approve", arguments: { tool_name: "Bash", input: { command: "ls" } } };
    bridge.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    await until(() => SECOND_WAY.test(err), "the sentence");
    bridge.child.stdin.end();
    await bridge.ended;
  });
});
