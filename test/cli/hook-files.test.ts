import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { Command } from "../../src/cli/command.ts";
import { connect } from "../../src/cli/connect/connect.ts";
import { disconnect } from "../../src/cli/connect/disconnect.ts";
import { partsOf } from "../../src/cli/connect/parts.ts";
import { hookInstall, hookUninstall } from "../../src/cli/hook/install.ts";
import { AGENTS } from "../../src/connect/registry.ts";
import { newFolder } from "../support/program.ts";

/** Settings of a person, one after the other: each is written after the hook was out. */
const JSON_TEXTS = [
  "",
  "{}\n",
  '{ "theme": "dark" }',
  '{ "hooks": { "PermissionRequest": [], "BeforeTool": [ ], "permissionRequest": [], "beforeShellExecution": [] } }\n',
  '{"hooks":{}}',
  '{"hooks":{"PermissionRequest":[ {"matcher":"Bash","hooks":[{"type":"command","command":"notify"}]} ]}}\n',
  "{}\n",
];
const RECORD = ".local/share/parley/connected-agents.json";
const read = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : null);
const everythingIn = (folder: string) => readdirSync(folder, { recursive: true }).sort();

async function run(command: Command, HOME: string, ...words: string[]): Promise<{ code: number; said: string }> {
  const lines: string[] = [];
  const code = await command.run([...words, "--yes"], {
    env: { HOME },
    out: (line) => void lines.push(line),
    tell: (line) => void lines.push(line),
    progress: () => undefined,
    interrupted: new AbortController().signal,
  });
  return { code, said: lines.join("\n") };
}

function home(): string {
  const folder = newFolder();
  mkdirSync(folder);
  return folder;
}

async function done(command: Command, HOME: string, ...words: string[]): Promise<void> {
  const { code, said } = await run(command, HOME, ...words);
  assert.equal(code, 0, said);
}

for (const [name, row] of Object.entries(AGENTS)) {
  const filesOf = async (HOME: string, kind: "hook" | "mcp") =>
    partsOf(await row.load(), { HOME })
      .filter((part) => part.kind === kind)
      .map(({ file }) => file);

  describe(`a file of ${row.title}'s hook`, () => {
    it("is after each uninstall as its person left it before, however often the hook came and went", async () => {
      const HOME = home();
      const [file = ""] = await filesOf(HOME, "hook");
      const texts = file.endsWith(".js") ? ["", "\n", ""] : JSON_TEXTS;
      for (const [first, ...more] of [texts, texts.toReversed()]) {
        for (const text of [first, ...more]) {
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, text ?? "");
          await done(hookInstall, HOME, name);
          await done(hookInstall, HOME, name, "--timeout", "20m");
          await done(hookUninstall, HOME, name);
          assert.equal(read(file), text);
          assert.equal(existsSync(join(HOME, RECORD)), false);
        }
      }
    });

    it("goes with the folders that were made for it, and with those alone", async () => {
      const HOME = home();
      // The data folder stays; it holds no record any more.
      mkdirSync(dirname(join(HOME, RECORD)), { recursive: true });
      const [file = ""] = await filesOf(HOME, "hook");
      for (const how of ["made", "there", "made"]) {
        if (how === "there") mkdirSync(dirname(file), { recursive: true });
        const before = everythingIn(HOME);
        await done(hookInstall, HOME, name);
        await done(hookUninstall, HOME, name);
        assert.deepEqual(everythingIn(HOME), before, how);
        if (how === "there") rmSync(dirname(file), { recursive: true });
      }
    });

    it("keeps the entry for MCP that parley connect wrote, and is given back by disconnect", async () => {
      const HOME = home();
      const [file = ""] = await filesOf(HOME, "hook");
      const files = [...new Set([...(await filesOf(HOME, "hook")), ...(await filesOf(HOME, "mcp"))])];
      const text = file.endsWith(".js") ? null : (JSON_TEXTS[3] ?? "");
      if (text !== null) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      await done(connect, HOME, name, "--no-test");
      await done(hookUninstall, HOME, name);
      for (const mcpFile of await filesOf(HOME, "mcp")) assert.match(read(mcpFile) ?? "", /parley/);
      await done(disconnect, HOME, name);
      assert.equal(read(file), text);
      for (const other of files) if (other !== file) assert.equal(read(other), null);
      assert.equal(existsSync(join(HOME, RECORD)), false);
    });

    it("is not written where the record of it cannot be kept, and the sentence says how to mend that", async () => {
      for (const [command, ...words] of [[hookInstall], [connect, "--no-test"]] as const) {
        const HOME = home();
        mkdirSync(join(HOME, ".local", "share"), { recursive: true });
        writeFileSync(join(HOME, ".local", "share", "parley"), "mine");
        const before = everythingIn(HOME);
        await assert.rejects(run(command, HOME, name, ...words), ({ message }: Error) => {
          assert.match(message, /^Parley keeps in \S+ how .*, and \S+share\/parley is a file: move it away, [^.]*\.$/);
          return true;
        });
        assert.deepEqual(everythingIn(HOME), before);
        // There is nothing to take out, and nothing to write down.
        await done(hookUninstall, HOME, name);
        await done(disconnect, HOME, name);
      }
    });
  });
}

describe("a hook that Parley did not write down", () => {
  it("is renewed, and taken out for good", async () => {
    const HOME = home();
    const file = join(HOME, ".claude", "settings.json");
    mkdirSync(dirname(file));
    const hooks = [{ type: "command", command: "parley hook claude", timeout: 60 }];
    writeFileSync(file, JSON.stringify({ a: 1, hooks: { PermissionRequest: [{ matcher: "*", hooks }] } }));
    await done(hookInstall, HOME, "claude");
    await done(hookUninstall, HOME, "claude");
    assert.doesNotMatch(read(file) ?? "", /hook claude/);
    assert.match(read(file) ?? "", /"a"/);
  });

  it("leaves no record of what stood in its place, once a person took it out by hand", async () => {
    const HOME = home();
    const file = join(HOME, ".claude", "settings.json");
    mkdirSync(dirname(file));
    writeFileSync(file, "");
    await done(hookInstall, HOME, "claude");
    for (const text of ['{ "hooks": { "PermissionRequest": [] }, "b": 2 }\n', "{}"]) {
      writeFileSync(file, text);
      await done(hookInstall, HOME, "claude");
      if (text === "{}") await done(hookInstall, HOME, "claude", "--to", "7");
      await done(hookUninstall, HOME, "claude");
      assert.equal(read(file), text);
    }
  });
});
