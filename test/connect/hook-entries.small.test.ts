import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, it } from "node:test";
import { programOf } from "../../src/connect/agent.ts";
import { withHookEntries } from "../../src/connect/hook-entries.ts";
import { AGENTS } from "../../src/connect/registry.ts";
import { newFolder } from "../support/program.ts";

const OURS = { matcher: "*", hooks: [{ type: "command", command: "parley hook claude" }] };

/** Lists of others, written as people write them. */
const OTHERS: Readonly<Record<string, string>> = {
  "on one line": `{"hooks": {"Stop": [{ "hooks": [{"command": "notify" }] }], "Ask": [{"command":"a"},{"command" : "b"}]}}`,
  "in steps of four, with tabs inside": `{
    "hooks": {
        "Ask": [
            {\t"matcher": "Bash", "hooks": [ {"command": "notify"} ] },
            {
                "matcher": "Write"
            }
        ]
    },
    "other": [1,2,  3]
}`,
  "with another event alone": `{\n\t"hooks": {\n\t\t"Stop": [ {} ]\n\t}\n}\n`,
  "with nothing": "{}\n",
};

describe("the entries of hooks", () => {
  for (const [how, text] of Object.entries(OTHERS)) {
    it(`come and go, and leave those of others byte for byte: ${how}`, () => {
      const written = withHookEntries(text, "claude", { Ask: OURS });
      const { hooks } = JSON.parse(written) as { hooks: { Ask: unknown[] } };
      assert.deepEqual(hooks.Ask.at(-1), OURS);
      assert.equal(withHookEntries(written, "claude", { Ask: OURS }), written);
      assert.equal(withHookEntries(written, "claude", { Ask: undefined }), text);
    });
  }

  it("are taken from a group and leave the hooks of others in it", () => {
    const group = (...commands: string[]) => `{"hooks":{"Ask":[{"hooks":[${commands.map(hook).join(", ")}]}]}}`;
    const hook = (command: string) => `{"command": "${command}"}`;
    const mixed = group("a", "parley hook claude --to 7", "parley hook codex", "b");
    assert.equal(withHookEntries(mixed, "claude", { Ask: undefined }), group("a", "parley hook codex", "b"));
  });

  it("are known by the words of their command: other commands that hold these words in theirs stay", () => {
    const list = (...commands: string[]) =>
      JSON.stringify({ hooks: { Ask: commands.map((command) => ({ command })) } });
    const others = ["run-hook claude", "hook claude-notify", "/etc/hook claude.sh", "parley hook codex"];
    const ours = ["parley hook claude", "'/a b/parley' hook claude --to 7", 'sh -c "parley hook claude"'];
    assert.equal(withHookEntries(list(...others, ...ours), "claude", { Ask: undefined }), list(...others));
  });

  it("of a file that is not understood are an error", () => {
    for (const text of ["[]", '{"hooks":[]}', '{"hooks":{"Ask":"mine"}}', "{ no"]) {
      assert.throws(() => withHookEntries(text, "claude", { Ask: OURS }), text);
    }
  });

  it("of a file with a comment or a last comma, which its program does not read, name the line", () => {
    for (const text of ['{\n  // mine\n  "a": 1\n}', '{\n  "a": /* mine */ 1\n}', '{\n  "a": 1,\n}']) {
      const expected = { name: "Error", message: /^line [23] has a comment, or a comma that no value follows/ };
      assert.throws(() => withHookEntries(text, "claude", { Ask: OURS }), expected, text);
    }
  });
});

describe("the registry of agents", () => {
  it("has each agent under its own word, with what it cannot cover", async () => {
    for (const [name, row] of Object.entries(AGENTS)) {
      const agent = await row.load();
      assert.deepEqual([agent.name, agent.title], [name, row.title]);
      assert.ok(agent.programs.length > 0 && agent.events.length > 0 && agent.uncovered.length > 0, name);
    }
  });

  it("finds an agent's program on the PATH, and its configuration below the home folder", async () => {
    const bin = join(newFolder(), "bin");
    mkdirSync(bin, { recursive: true });
    const claude = (await AGENTS["claude"]?.load()) ?? assert.fail();
    assert.equal(programOf(claude, { PATH: bin }), null);
    writeFileSync(join(bin, "claude"), "");
    chmodSync(join(bin, "claude"), 0o755);
    assert.equal(programOf(claude, { PATH: ["/nowhere", bin].join(delimiter) }), join(bin, "claude"));
    assert.equal(claude.file({ HOME: "/home/ana" }), "/home/ana/.claude/settings.json");
  });
});
