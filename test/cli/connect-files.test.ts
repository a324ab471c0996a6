import assert from "node:assert/strict";
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { refuseOpenFile } from "../../src/cli/config-file.ts";
import { disconnect } from "../../src/cli/connect/disconnect.ts";
import { partsOf } from "../../src/cli/connect/parts.ts";
import { AGENTS } from "../../src/connect/registry.ts";
import { connect } from "../../src/cli/connect/connect.ts";
import { newFolder } from "../support/program.ts";

/** JSON as people and programs leave it, by how it is written; null is a file that is not there. */
const JSON_SHAPES: Readonly<Record<string, string | null>> = {
  missing: null,
  empty: "",
  "white space": "\n  \n",
  "an empty object": "{}",
  "an empty object with a line end": "{}\n",
  "empty objects": '{"hooks": {}, "mcpServers": {}}\n',
  "an empty list": '{ "hooks": { "PermissionRequest": [], "BeforeTool": [ ] } }',
  "a version alone": '{\n  "version": 1\n}\n',
  "other hooks": `{
  "version": 1,
  "hooks": { "PermissionRequest": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "notify" }] }],
    "beforeShellExecution": [ {"command": "log"} ] },
  "mcpServers": { "files": { "command": "files" } }
}
`,
  "odd indentation": '{\n\t "model" :"x",\n     "hooks":\n { "Stop": [ {} ] }\n\t}\n',
  "one line": '{"a":1,"hooks":{"Stop":[{"command":"x"}]},"mcp":{"other":{"type":"local"}}}',
  "other plugins": '{\n  "plugins": {\n    "allow": ["a"],\n    "load": { "paths": ["/a.mjs"] }\n  }\n}\n',
  "no line end": '{\n  "theme": "dark"\n}',
  CRLF: '{\r\n  "theme": "dark",\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n',
};
const TOML_SHAPES: Readonly<Record<string, string | null>> = {
  missing: null,
  empty: "",
  "white space": "\n\n",
  "other tables": 'model = "x"\n\n[mcp_servers.files]\ncommand = "files"\n\n# the end\n',
  "no line end": 'model = "x"',
  CRLF: 'model = "x"\r\n[tui]\r\ntheme = "dark"\r\n',
};

/** A file of code, or one that describes it, is Parley's own. */
const CODE_SHAPES: Readonly<Record<string, string | null>> = { missing: null, empty: "", "white space": "\n  \n" };

const isCode = (file: string): boolean => /\.js$|\.plugin\.json$/.test(file);

function shapesOf(file: string): Readonly<Record<string, string | null>> {
  if (isCode(file)) return CODE_SHAPES;
  return file.endsWith(".toml") ? TOML_SHAPES : JSON_SHAPES;
}
/** Parley in a file: the command of a hook, or an entry. */
const parleyOf = (name: string) => new RegExp(`hook ${name}|\\bparley\\b`);
const read = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : null);

/** Runs a command of this process in an agent's home. */
async function run(command: typeof connect, name: string, HOME: string): Promise<void> {
  const lines: string[] = [];
  const code = await command.run(command === connect ? [name, "--no-test", "--yes"] : [name, "--yes"], {
    env: { HOME },
    out: (line) => void lines.push(line),
    tell: (line) => void lines.push(line),
    progress: () => undefined,
    interrupted: new AbortController().signal,
  });
  assert.equal(code, 0, lines.join("\n"));
}

/** An agent writes its settings anew, in its own way, with one more of them. */
function rewritten(text: string): string {
  if (!text.trim().startsWith("{")) return `approval = "x"\n${text}`;
  return `${JSON.stringify({ first: { a: 1 }, ...(JSON.parse(text) as object), last: [1] }, null, 4)}\n`;
}

/** Takes empty objects and lists out: they say nothing to an agent. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutEmpty);
  const kept = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpty(inner)] as const)
    .filter(([, inner]) => typeof inner !== "object" || inner === null || Object.keys(inner).length > 0);
  return Object.fromEntries(kept);
}

for (const [name, row] of Object.entries(AGENTS)) {
  describe(`the files of ${row.title}`, () => {
    it("are byte for byte as they were, once Parley was in them and is out again", async () => {
      const home = newFolder();
      const env = { HOME: home };
      const files = [...new Set(partsOf(await row.load(), env).map(({ file }) => file))];
      for (const file of files) {
        for (const [how, text] of Object.entries(shapesOf(file))) {
          place(file, text);
          await run(connect, name, home);
          assert.match(read(file) ?? "", parleyOf(name), how);
          await run(connect, name, home);
          await run(disconnect, name, home);
          assert.deepEqual(read(file), text, `${file}: ${how}`);
          assert.deepEqual(
            files.filter((one) => one !== file && existsSync(one)),
            [],
          );
          rmSync(file, { force: true });
        }
      }
      await run(disconnect, name, home);
      assert.equal(existsSync(`${home}/.local/share/parley/connected-agents.json`), false);
    });

    it("keep what the agent wrote meanwhile, and lose Parley's part alone", async () => {
      const home = newFolder();
      const agent = await row.load();
      for (const file of new Set(partsOf(agent, { HOME: home }).map((part) => part.file))) {
        // A file of code is Parley's own: no agent writes it anew.
        if (isCode(file)) continue;
        for (const [how, text] of Object.entries(shapesOf(file))) {
          place(file, text);
          await run(connect, name, home);
          writeFileSync(file, rewritten(read(file) ?? ""));
          await run(disconnect, name, home);
          const left = read(file) ?? assert.fail(how);
          assert.doesNotMatch(left, parleyOf(name), `${file}: ${how}`);
          if (file.endsWith(".toml"))
            assert.equal(left.replaceAll(/\r?\n/g, ""), rewritten(text ?? "").replaceAll(/\r?\n/g, ""), how);
          else {
            const { version: _, ...own } = JSON.parse((text ?? "").trim() || "{}") as Record<string, unknown>;
            const { version: __, ...kept } = JSON.parse(left) as Record<string, unknown>;
            assert.deepEqual(
              withoutEmpty(kept),
              withoutEmpty({ first: { a: 1 }, ...own, last: [1] }),
              `${file}: ${how}`,
            );
          }
          rmSync(file, { force: true });
        }
      }
    });
  });
}

function place(file: string, text: string | null): void {
  if (text === null) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe("the files of an agent, as people have them", () => {
  it("stay behind their links, also a file that is not there yet", async () => {
    const home = newFolder();
    mkdirSync(`${home}/.claude`, { recursive: true });
    mkdirSync(`${home}/dot`);
    symlinkSync("../dot/settings.json", `${home}/.claude/settings.json`);
    await run(connect, "claude", home);
    assert.ok(lstatSync(`${home}/.claude/settings.json`).isSymbolicLink());
    assert.match(read(`${home}/dot/settings.json`) ?? "", / hook claude /);
    await run(disconnect, "claude", home);
    assert.ok(lstatSync(`${home}/.claude/settings.json`).isSymbolicLink());
    assert.equal(existsSync(`${home}/dot/settings.json`), false);
  });

  it("keep the hooks of others, and are given back byte for byte", async () => {
    for (const other of [
      { type: "http", url: "https://audit.corp.example/hooks/claude" },
      { type: "http", url: "http://127.0.0.1:9000/hooks/claude" },
      { type: "command", command: "/opt/guard --as 'hook claude'" },
      { type: "command", command: "/opt/guard -- parley hook claude" },
    ]) {
      const home = newFolder();
      const text = JSON.stringify({ hooks: { PermissionRequest: [{ hooks: [other] }] } }, null, 2);
      place(`${home}/.claude/settings.json`, text);
      await run(connect, "claude", home);
      assert.ok(read(`${home}/.claude/settings.json`)?.includes(JSON.stringify(other.url ?? other.command)));
      await run(disconnect, "claude", home);
      assert.equal(read(`${home}/.claude/settings.json`), text);
    }
  });

  it("get no key where others can read them", () => {
    const file = `${newFolder()}.json`;
    const key = "secret";
    writeFileSync(file, "{}");
    const change = { file, before: "{}", after: `{"key":"${key}"}` };
    chmodSync(file, 0o644);
    assert.throws(() => refuseOpenFile(change, key), /others can read it \(mode 644\)/);
    refuseOpenFile(change, undefined);
    chmodSync(file, 0o600);
    refuseOpenFile(change, key);
  });
});
