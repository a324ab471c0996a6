import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { editTomlTable } from "../../src/lib/toml-table.ts";
import { blocksOf } from "../support/documents.ts";
import { MAIN, newFolder, parley } from "../support/program.ts";

const KEY = `parley_agent_${"0".repeat(38)}`;
const URL = "http://127.0.0.1:3415/mcp";
const DAY_MS = 86_400_000;

/** Writes a file in a folder of its own. */
function fileWith(text: string, name = "settings"): string {
  const file = join(newFolder(), name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** True when every character of `part` stands in `whole`, in this order. */
function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const character of whole) if (character === part[at]) at += 1;
  return at === part.length;
}

const install = (client: string, file: string, env: Record<string, string> = {}, ...flags: string[]) =>
  parley(["mcp", "install", client, "--file", file, ...flags], env);

describe("parley mcp config", () => {
  it("prints what each client needs, address and key filled in", async () => {
    const header = { Authorization: `Bearer ${KEY}` };
    const blocks: [client: string, block: object][] = [
      [
        "claude",
        {
          mcpServers: {
            parley: { type: "http", url: URL, headers: { Authorization: "Bearer ${PARLEY_KEY}" }, timeout: DAY_MS },
          },
        },
      ],
      ["gemini", { mcpServers: { parley: { httpUrl: URL, headers: header, trust: true, timeout: DAY_MS } } }],
      [
        "opencode",
        {
          mcp: { parley: { type: "remote", url: URL, enabled: true, oauth: false, headers: header, timeout: DAY_MS } },
        },
      ],
      [
        "stdio",
        {
          command: process.execPath,
          args: [MAIN, "mcp"],
          env: { PARLEY_URL: "http://127.0.0.1:3415", PARLEY_KEY: KEY },
        },
      ],
    ];
    for (const [client, block] of blocks) {
      const { code, out } = await parley(["mcp", "config", client], { PARLEY_KEY: KEY });
      assert.deepEqual([code, JSON.parse(out)], [0, block], client);
    }
    const codex = await parley(["mcp", "config", "codex", "--url", "https://parley.example/"], {
      PARLEY_URL: "https://parley.example",
      PARLEY_KEY: KEY,
    });
    assert.equal(
      codex.out,
      `[mcp_servers.parley]
url = "https://parley.example/mcp"
bearer_token_env_var = "PARLEY_KEY"
tool_timeout_sec = 86400
default_tools_approval_mode = "approve"
`,
    );
    const keyless = await parley(["mcp", "config", "codex"]);
    assert.ok(!keyless.out.includes("bearer"));
    assert.equal((await parley(["mcp", "config", "emacs"])).code, 2);
  });
});

describe("the page about MCP", () => {
  it("shows what parley mcp config prints", async () => {
    const shown = blocksOf("docs/how-to/mcp.md")
      .filter(({ language }) => language === "json" || language === "text")
      .map(({ text }) => text.replaceAll("YOUR_KEY", KEY));
    const said = (text: string) => (text.startsWith("{") ? JSON.stringify(JSON.parse(text)) : text);
    for (const client of ["claude", "codex", "gemini", "opencode", "openclaw", "stdio"]) {
      const { out } = await parley(["mcp", "config", client], { PARLEY_KEY: KEY });
      const elsewhere = out.replace(process.execPath, "/path/to/node").replace(MAIN, "/path/to/parley");
      assert.ok(shown.map(said).includes(said(elsewhere)), client);
    }
  });
});

describe("parley mcp install", () => {
  it("makes the file where there is none, and removes it again", async () => {
    const home = newFolder();
    const places: [client: string, place: string][] = [
      ["codex", ".codex/config.toml"],
      ["gemini", ".gemini/settings.json"],
      ["opencode", ".config/opencode/opencode.json"],
      ["openclaw", ".openclaw/openclaw.json"],
    ];
    for (const [client, place] of places) {
      const env = { HOME: home, PARLEY_KEY: KEY };
      const { code, err, out } = await parley(["mcp", "install", client], env);
      assert.deepEqual([code, out], [0, ""], err);
      assert.match(err, /^--- \S+\n\+\+\+ \S+\n@@ /);
      // Others may read what stands on a terminal.
      assert.ok(!err.includes(KEY));
      const file = join(home, place);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      const printed = await parley(["mcp", "config", client], env);
      assert.equal(readFileSync(file, "utf8"), printed.out);

      assert.match((await parley(["mcp", "install", client], env)).err, /holds it already/);
      assert.equal((await parley(["mcp", "uninstall", client], { HOME: home })).code, 0);
      assert.ok(!existsSync(file));
      assert.match((await parley(["mcp", "uninstall", client], { HOME: home })).err, /There is no Parley in/);
    }
  });

  it("leaves every other byte of a JSON file as it was, and gives all of them back", async () => {
    const files = [
      '{\n  "theme": "dark",\n  "mcpServers": {\n    "other": { "command": "x" }\n  }\n}\n',
      '{\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}',
      '{\r\n    "a": [1, 2,   3],\r\n    "mcpServers": { "other": {"b": 1} }\r\n}\r\n',
      '// mine\n{\n  /* keep */ "theme": "dark", // this too\n  "mcpServers": {\n    "other": {}, // trailing\n  },\n}\n',
      '{"theme":"dark","mcpServers":{"other":{}}}',
      '{\n  "theme": "dark"\n}\n',
      "{}\n",
    ];
    for (const text of files) {
      const file = fileWith(text);
      assert.equal((await install("gemini", file)).code, 0);
      const now = readFileSync(file, "utf8");
      const entry = /"parley":\s*\{[^}]*\}/.exec(now)?.[0] ?? "";
      assert.match(entry, /"httpUrl":\s*"http:\/\/127\.0\.0\.1:3415\/mcp"/);
      const at = now.split(entry);
      assert.ok(at.length === 2 && isSubsequence(text, now), now);
      assert.equal((await parley(["mcp", "uninstall", "gemini", "--file", file])).code, 0);
      // An empty file is no configuration.
      assert.equal(existsSync(file) ? readFileSync(file, "utf8") : "{}\n", text);
    }
  });

  it("replaces what it wrote before, and nothing else", async () => {
    const file = fileWith(
      '{\n  "mcp": {\n    "parley": { "type": "remote", "url": "http://old" },\n    "other": 1\n  }\n}\n',
    );
    await install("opencode", file, { PARLEY_URL: "https://parley.example" });
    const { mcp } = JSON.parse(readFileSync(file, "utf8")) as { mcp: { parley: { url: string }; other: number } };
    assert.deepEqual([mcp.parley.url, mcp.other], ["https://parley.example/mcp", 1]);
  });

  it("keeps a file's permissions, and a link a link", async () => {
    const file = fileWith("{}\n");
    chmodSync(file, 0o640);
    const linked = join(newFolder(), "linked.json");
    mkdirSync(dirname(linked));
    symlinkSync(file, linked);
    await install("gemini", linked);
    assert.ok(lstatSync(linked).isSymbolicLink());
    assert.match(readFileSync(file, "utf8"), /parley/);
    assert.equal(statSync(file).mode & 0o777, 0o640);
  });

  it("refuses what it cannot edit, and leaves it as it is", async () => {
    const broken: [client: string, text: string][] = [
      ["gemini", '{ "a": '],
      ["gemini", "[]"],
      ["gemini", '{ "mcpServers": 7 }'],
      ["codex", 'mcp_servers = { other = { url = "x" } }\n'],
      ["codex", '[mcp_servers]\nparley = { url = "x" }\n'],
      ["codex", 'mcp_servers.parley.url = "x"\n'],
    ];
    for (const [client, text] of broken) {
      const file = fileWith(text);
      const { code, err } = await install(client, file);
      assert.equal(code, 1);
      assert.match(err, /was left as it is: .*parley mcp config prints what belongs into it\.\n$/);
      assert.equal(readFileSync(file, "utf8"), text);
    }
  });
});

describe("a table of a TOML file", () => {
  const path = ["mcp_servers", "parley"];
  const set = (text: string) => editTomlTable(text, path, ['url = "x"', "n = 1"]);
  const cut = (text: string) => editTomlTable(text, path);
  const TABLE = '[mcp_servers.parley]\nurl = "x"\nn = 1';

  it("goes to the end and comes out again, with every byte where it was", () => {
    const files = [
      'model = "o3"\n',
      'model = "o3"',
      "",
      "# only a comment\n\n\n",
      'model = "o3"\r\n[a]\r\nb = 1\r\n',
      '[mcp_servers.other]\ncommand = "x"\nargs = [\n  "[mcp_servers.parley]",\n  "]",\n]\n',
      'notes = """\n[mcp_servers.parley]\n\\""" still\n"""\nlast = \'\'\'\n[mcp_servers.parley]\n\'\'\'\n',
      'text = "a # \\" [x" # [mcp_servers.parley]\n',
    ];
    for (const text of files) {
      const now = set(text);
      assert.ok(now.replaceAll("\r\n", "\n").includes(TABLE), now);
      assert.ok(now.startsWith(text));
      assert.equal(now.endsWith("\n"), text.endsWith("\n") || text === "");
      assert.equal(cut(now), text);
      assert.equal(set(now), now);
    }
  });

  it("is replaced in its place, sub-tables included, and comments before the next table stay with that", () => {
    const before =
      '[a]\nb = 1\n\n[mcp_servers."parley"] # mine\nurl = "old"\nargs = [\n  1,\n]\n\n[mcp_servers.parley.env]\nX = "1"\n';
    const after = "\n# about c\n[c]\nd = 2\n";
    assert.equal(set(before + after), `[a]\nb = 1\n\n${TABLE}\n${after}`);
    assert.equal(cut(before + after), `[a]\nb = 1\n${after}`);
  });
});
