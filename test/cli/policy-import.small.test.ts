import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { newFolder, parley } from "../support/program.ts";

function homeWith(files: Readonly<Record<string, string>>): string {
  const home = newFolder();
  mkdirSync(home);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  return home;
}

const GEMINI = {
  ".gemini/settings.json": '{ "tools": { "exclude": ["web_fetch"] } }',
  ".gemini/policies/a.toml":
    '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "ls"\ndecision = "allow"\npriority = 1',
};

describe("parley policy import", () => {
  it("prints a policy of the lists that the agent itself would read, and counts what is carried over", async () => {
    const home = homeWith(GEMINI);
    const { code, out, err } = await parley(["policy", "import", "gemini"], { HOME: home });
    assert.equal(code, 0);
    assert.match(err, /2 entries carried over, 0 not/);
    const file = join(home, "printed.yaml");
    writeFileSync(file, out);
    const call = ["--fn", "run_shell_command", "--agent", "gemini-cli", "--args", '{"command":"ls -l"}'];
    const decided = await parley(["policy", "test", file, ...call], { HOME: home });
    assert.match(decided.out, /"decision": "ALLOW"/);
    const other = await parley(["policy", "test", file, ...call.slice(0, -1), '{"command":"ls; rm -rf /"}'], {
      HOME: home,
    });
    assert.match(other.out, /"decision": "ESCALATE"/);
  });

  it("writes a new file, for the names that the agent has", async () => {
    const home = homeWith(GEMINI);
    const out = join(home, "policy.yaml");
    const args = ["policy", "import", "gemini", "--as", "gem", "--out", out];
    const written = await parley(args, { HOME: home });
    assert.deepEqual([written.code, written.out], [0, ""]);
    assert.match(readFileSync(out, "utf8"), /agent: \[ gem \]/);
    const again = await parley(args, { HOME: home });
    assert.equal(again.code, 1);
    assert.match(again.err, /policy\.yaml exists already/);
  });

  it("says where it found no lists, and exits with 1", async () => {
    const home = homeWith({});
    const { code, err } = await parley(["policy", "import", "cursor"], { HOME: home });
    assert.equal(code, 1);
    assert.match(err, /Cursor has no lists at .*cli-config\.json/);
    const named = await parley(["policy", "import", "claude", "--file", join(home, "x.json")], { HOME: home });
    assert.equal(named.code, 1);
    assert.match(named.err, /x\.json/);
  });

  it("names a file that it does not understand, and exits with 2", async () => {
    const bad: readonly (readonly [agent: string, name: string, text: string, says?: string])[] = [
      ["claude", "settings.json", '{"permissions": {"allow": "Bash"}}'],
      ["claude", "settings.json", "{"],
      ["claude", "settings.json", "[]"],
      ["claude", "settings.json", "[".repeat(100_000)],
      ["codex", "a.rules", "prefix_rule(pattern = X)"],
      ["gemini", "a.toml", "[[rule]\n", "line 1: "],
      ["gemini", "c.toml", 'a = "\\q"', "line 1: "],
      ["gemini", "d.toml", "a = 1\n\na = 2", "line 3: "],
      ["gemini", "b.toml", '[[rule]]\ntoolName = "x"'],
      ["opencode", "opencode.json", '{"permission": {"bash": "maybe"}}'],
      ["copilot", "permissions-config.json", '{"locations": {"/a": {"tool_approvals": 1}}}'],
      ["copilot", "start.sh", "copilot"],
      ["cursor", "cli.json", '{"permissions": []}'],
    ];
    for (const [agent, name, text, says = ""] of bad) {
      const file = join(homeWith({ [name]: text }), name);
      const { code, out, err } = await parley(["policy", "import", agent, "--file", file], {});
      assert.deepEqual([code, out], [2, ""], text.slice(0, 100));
      assert.ok(err.includes(file) && err.includes(says), err);
    }
    assert.equal((await parley(["policy", "import", "emacs"], {})).code, 2);
  });
});
