import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  changesAgentSettings,
  isInTree,
  pathFromTree,
  reaching,
  type PermissionAction,
} from "../../src/tasks/model/action.ts";
import { actionFacts } from "../../src/tasks/model/action-facts.ts";
import { acpDeeds, toolOf } from "../../src/workshop/agents/acp-tools.ts";
import { claudePermission } from "../../src/workshop/agents/claude-tools.ts";
import { commandPermission } from "../../src/workshop/agents/codex-requests.ts";

const TREE = "/parley/tree";

describe("a path from the tree", () => {
  const PATHS: readonly (readonly [string, string, boolean])[] = [
    ["src/a.ts", "src/a.ts", true],
    ["/parley/tree/src/a.ts", "src/a.ts", true],
    ["./src//../src/./a.ts", "src/a.ts", true],
    ["/parley/tree", ".", true],
    ["", ".", true],
    ["a/../../tree/b", "b", true],
    ["../b", "/parley/b", false],
    ["/parley/tree/../home/.claude", "/parley/home/.claude", false],
    ["/parley/tree2/a", "/parley/tree2/a", false],
    ["/etc/passwd", "/etc/passwd", false],
    ["../../../../etc/passwd", "/etc/passwd", false],
    ["~/.ssh/id", "~/.ssh/id", false],
    ["~root/.ssh/id", "~root/.ssh/id", false],
    ["/parley/tree/~/a", "./~/a", true],
    // A backslash does not separate folders here: the first is a strange file beside the tree, the second one in it.
    ["/x\\..\\parley\\tree\\a", "/x\\..\\parley\\tree\\a", false],
    ["a\\b", "a\\b", true],
    ["C:\\Windows", "./C:\\Windows", true],
  ];
  for (const [path, seen, isInside] of PATHS) {
    it(`${JSON.stringify(path)} is ${seen}`, () => {
      assert.equal(pathFromTree(path, TREE), seen);
      assert.equal(isInTree(seen), isInside);
    });
  }

  it("knows folders of Windows where the tree is in one", () => {
    assert.equal(pathFromTree("c:\\code\\tree\\src\\a.ts", "C:\\code\\tree"), "src/a.ts");
    assert.equal(pathFromTree("C:\\code\\other", "C:\\code\\tree"), "C:/code/other");
    assert.equal(isInTree("C:/code/other"), false);
  });
});

describe("settings of agents", () => {
  for (const path of [
    ".claude/settings.json",
    "sub/.claude",
    "a/b/.codex/config.toml",
    ".gemini/settings.json",
    ".opencode/x",
    "opencode.json",
    "pkg/opencode.jsonc",
    "CLAUDE.md",
    "docs/AGENTS.md",
    "claude.MD",
    ".CLAUDE/x",
    "x/.Claude./y",
    "CLAUDE.md ",
    "CLAUDE.md::$DATA",
    ".cl\u200baude/x",
    "\uff23\uff2c\uff21\uff35\uff24\uff25.md",
    "a\\.claude\\settings.json",
    "./~/.codex",
  ]) {
    it(`are changed at ${JSON.stringify(path)}`, () => assert.ok(changesAgentSettings(path)));
  }
  for (const path of ["src/claude.ts", "CLAUDE.mdx", "my.claude", "codex/config.toml", "opencode.json.bak", "."]) {
    it(`are not changed at ${path}`, () => assert.ok(!changesAgentSettings(path)));
  }
});

describe("an address", () => {
  const HOSTS = [
    ["https://Example.com/x", "example.com"],
    ["http://user:pw@example.com:8080/x", "example.com"],
    ["https://example.com\\@evil.test/", "https://example.com\\@evil.test/"],
    ["https://[::1]:80/x", "[::1]"],
    ["ws://chat.test", "chat.test"],
    ["not an address", "not an address"],
  ] as const;
  for (const [url, host] of HOSTS) it(`${url} reaches ${host}`, () => assert.equal(reaching(url).resource, host));
});

type Row = readonly [string, Record<string, unknown>, PermissionAction, string];

describe("a tool of Claude Code", () => {
  const TOOLS: readonly Row[] = [
    ["Read", { file_path: "/parley/tree/a" }, "read", "a"],
    ["Grep", { pattern: "x" }, "read", "."],
    ["Glob", { pattern: "*", path: "/etc" }, "read", "/etc"],
    ["Write", { file_path: "/parley/tree/a", content: "x" }, "write", "a"],
    ["Write", { file_path: "/parley/tree/../home/a", content: "x" }, "write", "/parley/home/a"],
    ["Edit", { file_path: "/parley/tree/sub/../.claude/settings.json" }, "reconfigure", ".claude/settings.json"],
    ["MultiEdit", { file_path: "CLAUDE.md", edits: [] }, "reconfigure", "CLAUDE.md"],
    ["NotebookEdit", { notebook_path: "n.ipynb", new_source: "1" }, "write", "n.ipynb"],
    ["Write", { content: "nowhere" }, "tool", "Write"],
    ["Bash", { command: "npm test && rm -rf /" }, "execute", "npm test && rm -rf /"],
    ["Monitor", { command: "tail -f x" }, "execute", "tail -f x"],
    ["Monitor", { ws: { url: "wss://feed.test/x" } }, "network", "feed.test"],
    ["WebFetch", { url: "https://example.com/a", prompt: "x" }, "network", "example.com"],
    ["WebSearch", { query: "cats" }, "network", "cats"],
    ["Skill", { skill: "x" }, "tool", "Skill"],
    ["mcp__other__do", { a: 1 }, "tool", "mcp__other__do"],
  ];
  for (const [tool, input, action, resource] of TOOLS) {
    it(`${tool} ${JSON.stringify(input)} is ${action} of ${resource}`, () => {
      const permission = claudePermission(tool, input, TREE);
      assert.deepEqual([permission.action, permission.resource, permission.tool], [action, resource, tool]);
      assert.equal(permission.input, input, "what people approve is what came");
    });
  }

  it("shows what an edit changes", () => {
    const edits = [
      { old_string: "a\n", new_string: "b\n" },
      { old_string: "c", new_string: "d" },
    ];
    const { diff } = claudePermission("MultiEdit", { file_path: "x", edits }, TREE);
    assert.equal(diff, "@@ -1,1 +1,1 @@\n-a\n+b\n@@ -1,1 +1,1 @@\n-c\n+d");
  });
});

describe("a command of Codex", () => {
  const LINES = [
    ["/bin/bash -lc 'npm test'", "npm test"],
    ["/usr/bin/zsh -c ls", "ls"],
    ['/bin/bash -lc "echo it\'s"', "echo it's"],
    ['/bin/bash -lc "echo $HOME"', '/bin/bash -lc "echo $HOME"'],
    ["/bin/bash -lc 'a' 'b'", "/bin/bash -lc 'a' 'b'"],
    ["/bin/bash -lc 'a'\"'\"'b'", "/bin/bash -lc 'a'\"'\"'b'"],
    ["./bash -lc 'npm test'", "./bash -lc 'npm test'"],
    ["git status", "git status"],
  ] as const;
  for (const [command, line] of LINES) {
    it(`${command} runs ${line}`, () => assert.equal(commandPermission({ command, cwd: TREE }, TREE).resource, line));
  }

  it("is another one elsewhere, and reaches a host where that is what it asks", () => {
    assert.equal(commandPermission({ command: "ls", cwd: `${TREE}/sub` }, TREE).resource, "ls");
    assert.equal(commandPermission({ command: "ls", cwd: "/etc" }, TREE).resource, "cd /etc && ls");
    const network = { host: "Example.com", protocol: "https" };
    const permission = commandPermission(
      { command: "curl", cwd: TREE, networkApprovalContext: network, itemId: "i" },
      TREE,
    );
    assert.deepEqual([permission.action, permission.resource], ["network", "example.com"]);
    assert.deepEqual(permission.input, { command: "curl", cwd: TREE, networkApprovalContext: network });
  });
});

describe("a call of an ACP agent", () => {
  const diff = (path: string) => ({ type: "diff", path, oldText: "", newText: "x" });
  const CALLS: readonly (readonly [Record<string, unknown>, readonly (readonly [PermissionAction, string])[]])[] = [
    [{ kind: "execute", title: "npm test" }, [["execute", "npm test (the agent's title)"]]],
    [{ kind: "read", title: "x", rawInput: { command: "rm -rf ." } }, [["execute", "rm -rf ."]]],
    [{ kind: "search", rawInput: { command: ["bash", "-lc", "a b"] } }, [["execute", "bash -lc 'a b'"]]],
    [{ kind: "execute", rawInput: { cmd: ["npm", "test"], cwd: TREE, timeout: 5 } }, [["execute", "npm test"]]],
    [{ kind: "execute", rawInput: { command: ["npm test", ""] } }, [["execute", "'npm test' ''"]]],
    [{ kind: "read", rawInput: { command: { run: "x" } } }, [["execute", '({"run":"x"})']]],
    [{ kind: "read", rawInput: { command: ["a", 1] } }, [["execute", '(["a",1])']]],
    [{ rawInput: { command: "npm test", args: ["x"] } }, [["execute", 'npm test ({"args":["x"]})']]],
    [{ rawInput: { command: "npm test", cwd: "/etc" } }, [["execute", 'npm test ({"cwd":"/etc"})']]],
    [{ rawInput: { command: "npm test", cmd: "rm x" } }, [["execute", 'npm test ({"cmd":"rm x"})']]],
    [{ kind: "read", rawInput: ["bash", "-c", "x"], locations: [{ path: "a" }] }, [["tool", "t"]]],
    [{ kind: "read", rawInput: "rm x", locations: [{ path: "a" }] }, [["tool", "t"]]],
    [{ kind: "read", rawInput: { path: "a", script: "rm x" } }, [["tool", "t"]]],
    [{ kind: "read", rawInput: { path: "a", cwd: "/etc" } }, [["tool", "t"]]],
    [{ kind: "read", rawInput: { path: { of: "a" } } }, [["tool", "t"]]],
    [{ kind: "read", rawInput: { uri: "ssh://box/a" } }, [["tool", "t"]]],
    [{ kind: "search", rawInput: { pattern: "/etc/*" } }, [["tool", "t"]]],
    [{ kind: "search", rawInput: { pattern: "a.*b", path: "src", limit: 3 } }, [["read", "src"]]],
    [
      { kind: "read", rawInput: { paths: ["a", "/etc/passwd"] } },
      [
        ["read", "a"],
        ["read", "/etc/passwd"],
      ],
    ],
    [
      { kind: "move", locations: [{ path: "a" }], rawInput: { old_path: "a", new_path: "/home/u/.bashrc" } },
      [
        ["write", "a"],
        ["write", "/home/u/.bashrc"],
      ],
    ],
    [
      { kind: "move", rawInput: { from: "a", to: "b" } },
      [
        ["write", "a"],
        ["write", "b"],
      ],
    ],
    [
      { kind: "edit", rawInput: { changes: { a: { update: { unified_diff: "x", move_path: "/b" } } } } },
      [
        ["write", "a"],
        ["write", "/b"],
      ],
    ],
    [{ kind: "edit", rawInput: { file_path: "a", edits: [{ old_text: "x", new_text: "y" }] } }, [["write", "a"]]],
    [{ kind: "edit", content: [diff("a")], rawInput: { file_path: "a", then: "rm x" } }, [["tool", "t"]]],
    [{ kind: "fetch", rawInput: { url: "https://a.test/", output: "b" } }, [["tool", "t"]]],
    [{ kind: "edit", content: [diff("/parley/tree/a")], locations: [{ path: "/parley/tree/a" }] }, [["write", "a"]]],
    [
      { kind: "edit", content: [diff("a"), diff("/etc/passwd"), diff("AGENTS.md")] },
      [
        ["write", "a"],
        ["write", "/etc/passwd"],
        ["reconfigure", "AGENTS.md"],
      ],
    ],
    [{ kind: "other", content: [diff("a")] }, [["write", "a"]]],
    [{ kind: "delete", locations: [{ path: "a" }] }, [["write", "a"]]],
    [{ kind: "edit", title: "something" }, [["tool", "t"]]],
    [{ kind: "read", locations: [{ path: "/etc" }] }, [["read", "/etc"]]],
    [{ kind: "search" }, [["read", "."]]],
    [{ kind: "fetch", rawInput: { url: "https://a.test/x" } }, [["network", "a.test"]]],
    [
      { kind: "fetch", title: 'look at "https://a.test/x" and https://B.test' },
      [
        ["network", "a.test"],
        ["network", "b.test"],
      ],
    ],
    [{ kind: "fetch" }, [["network", "t"]]],
    [{ kind: "think" }, [["tool", "t"]]],
    [{}, [["tool", "t"]]],
  ];
  for (const [call, deeds] of CALLS) {
    it(`${JSON.stringify(call)} is ${deeds.map((deed) => deed.join(" of ")).join(", ")}`, () => {
      assert.deepEqual(
        acpDeeds(call, "t", TREE).map(({ action, resource }) => [action, resource]),
        deeds,
      );
    });
  }

  it("has an allowed command in its raw input alone, word for word", () => {
    const allowed = (call: Record<string, unknown>) =>
      acpDeeds(call, "t", TREE).every(
        (deed) => actionFacts(deed, { sandbox: "none", allowCommands: [["npm", "test"]] }).command === "allowed",
      );
    for (const command of ["npm test", ["npm", "test"]]) assert.ok(allowed({ kind: "read", rawInput: { command } }));
    for (const rawInput of [undefined, { command: ["npm test"] }, { command: "npm test", env: "x" }, { script: "x" }]) {
      assert.ok(!allowed({ kind: "execute", title: "npm test", rawInput }), JSON.stringify(rawInput));
    }
  });

  it("is named by its id or its title", () => {
    assert.equal(toolOf({ toolCallId: "write_file__write_file_17_0", title: "Writing" }), "write_file");
    assert.equal(toolOf({ toolCallId: "write_file-17", title: "Writing" }), "write_file");
    assert.equal(toolOf({ toolCallId: "call_mw_1", title: "bash", kind: "execute" }), "bash");
    assert.equal(toolOf({ toolCallId: "toolu_1", title: "echo a b", kind: "execute" }), "execute");
    assert.equal(toolOf({ toolCallId: "chatcmpl-tool-17", title: "bash" }), "bash");
    assert.equal(toolOf({}), "other");
  });

  it("has no name in common with another tool, so that a grant for one allows no other", () => {
    const idOf = (tool: string) => `${tool}__${tool}_1795219200000_0`;
    const tools = [
      "mcp_my-server_write",
      "mcp_my-files_write",
      "mcp_a__b",
      "mcp_a__c",
      "mcp_GitHub_merge",
      "mcp_x.y:z",
    ];
    for (const tool of tools) {
      const call = { toolCallId: idOf(tool), title: "A title (with brackets)", kind: "other" };
      assert.equal(toolOf(call), tool);
      // The model's own service may number the calls.
      const numbered = tools.filter(
        (other) => toolOf({ toolCallId: `${other}__a1` }) === toolOf({ toolCallId: `${tool}__a1` }),
      );
      assert.deepEqual(numbered, [tool]);
    }
    const nameless = { toolCallId: "toolu_1", title: "Merge the request (GitHub)", kind: "other" };
    assert.deepEqual(acpDeeds(nameless, toolOf(nameless), TREE), [{ action: "tool", resource: nameless.title }]);
  });
});
