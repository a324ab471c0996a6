import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UnreadList } from "../../src/policy/imports/agent-list.ts";
import { commandsAre, HOME, imported, PROJECT } from "../support/imported-lists.ts";

describe("rules of Codex", () => {
  const RULES = `
# Looks at pull requests.
prefix_rule(pattern = ["gh", "pr", ["view", "list"]], decision = "allow", match = ["gh pr view 7888"])
prefix_rule(pattern = ["npm", "test"])  # allows
prefix_rule(
    pattern = ["git", "push"],
    decision = "prompt",
    justification = """Others see it""",
)
prefix_rule(pattern=['rm', '-rf'], decision='forbidden')
prefix_rule(pattern=["cp", "a b"], decision="forbidden")
prefix_rule(pattern=["cat", "a b"], decision="allow")
network_rule(host = "api.github.com", protocol = "https", decision = "allow")
`;

  it("are rules about the first words of commands", async () => {
    const { decide, text } = await imported("codex", [`${HOME}/.codex/rules/default.rules`, RULES]);
    commandsAre((command) => decide("Bash", { command }), {
      ALLOW: ["gh pr view 7888", "gh pr list", "npm test a", "npm test && gh pr list"],
      ESCALATE: ["git push origin main", "npm test; git push"],
      DENY: ["rm -rf x", "npm test; rm -rf /", "cp x y"],
      people: ["gh pr merge 1", "npm testx", "npm test > x", "rm x", "timeout 9 npm test", "cat 'a b'", "cat a b"],
    });
    assert.match(text, /#   allow network_rule\(.*\): it is about the network/);
  });

  it("with more alternatives than a rule has patterns allow the first, and forbid every command", async () => {
    const pattern = JSON.stringify(Array.from({ length: 20 }, () => ["a", "b", "c", "d"]));
    const of = (decision: string) => `prefix_rule(pattern = ${pattern}, decision = "${decision}")`;
    const allowed = await imported("codex", [`${HOME}/.codex/rules/x.rules`, of("allow")]);
    assert.equal(allowed.decide("Bash", { command: "a ".repeat(20) }), "ALLOW");
    assert.equal(allowed.decide("Bash", { command: "d ".repeat(20) }), "people");
    const forbidden = await imported("codex", [`${HOME}/.codex/rules/x.rules`, of("forbidden")]);
    assert.equal(forbidden.decide("Bash", { command: "ls" }), "DENY");
  });

  it("that are no calls with plain values are refused, because one of them might forbid something", async () => {
    const bad = [
      "X = 1",
      'prefix_rule(["a"])',
      "prefix_rule(pattern = X)",
      'prefix_rule(pattern = [], decision = "allow")',
      'prefix_rule(pattern = ["a"], decision = "maybe")',
      'prefix_rule(pattern = ["a"',
      'prefix_rule(pattern = [r"a\\b"])',
      'prefix_rule(pattern = [["a", ["b"]]])',
    ];
    for (const text of bad)
      await assert.rejects(imported("codex", [`${HOME}/.codex/rules/x.rules`, text]), UnreadList, text);
  });
});

describe("names that every object has", () => {
  it("are names like others in each agent's lists", async () => {
    const left: readonly (readonly [agent: string, path: string, text: unknown, entry: string])[] = [
      ["claude", `${PROJECT}/.claude/settings.json`, { permissions: { allow: ["constructor(x)"] } }, "constructor(x)"],
      ["claude", `${PROJECT}/.claude/settings.json`, { permissions: { toString: [] } }, "permissions.toString"],
      ["codex", `${HOME}/.codex/rules/x.rules`, 'valueOf(x = "y")', "valueOf("],
      ["cursor", `${PROJECT}/.cursor/cli.json`, { permissions: { constructor: [] } }, "permissions.constructor"],
      ["copilot", `${HOME}/.copilot/permissions-config.json`, APPROVED_ODDLY, '{"kind":"constructor"}'],
    ];
    for (const [agent, path, given, entry] of left) {
      const { text } = await imported(agent, [path, given]);
      assert.ok(text.includes(`#   allow ${entry}`), text);
    }
    const bad: readonly (readonly [agent: string, path: string, text: string])[] = [
      ["codex", `${HOME}/.codex/rules/x.rules`, 'prefix_rule(pattern = ["a"], decision = "constructor")'],
      ["gemini", `${HOME}/.gemini/policies/a.toml`, rule('toolName = "x"\ndecision = "constructor"')],
      ["gemini", `${HOME}/.gemini/policies/a.toml`, rule('toolName = "x"\ndecision = "allow"\nmcpName = 5')],
      ["gemini", `${HOME}/.gemini/policies/a.toml`, `[[rule]]\ntoolName = "x"\ndecision = "allow"\npriority = nan`],
      ["opencode", `${PROJECT}/opencode.json`, '{ "permission": { "bash": "constructor" } }'],
    ];
    for (const [agent, path, text] of bad) await assert.rejects(imported(agent, [path, text]), UnreadList, text);
    const { decide } = await imported("opencode", [
      `${PROJECT}/opencode.json`,
      { permission: { constructor: "deny" } },
    ]);
    assert.equal(decide("constructor", {}), "DENY");
  });

  const APPROVED_ODDLY = { locations: { [PROJECT]: { tool_approvals: [{ kind: "constructor" }] } } };
  const rule = (members: string) => `[[rule]]\npriority = 1\n${members}`;
});

describe("policies of Gemini CLI", () => {
  it("with a condition of an unknown name allow nothing", async () => {
    for (const condition of [
      "onlyOnMondays = true",
      "from = 2026-11-29",
      "hints = { safe = true }",
      `most = ${2n ** 60n}`,
    ]) {
      const text = `[[rule]]\ntoolName = "web_fetch"\ndecision = "allow"\npriority = 1\n${condition}`;
      const { decide } = await imported("gemini", [`${HOME}/.gemini/policies/a.toml`, text]);
      assert.equal(decide("web_fetch", {}), "people", condition);
    }
  });

  const POLICY = `
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git log", "npm test"] # looks
decision = "allow"
priority = 200

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git"
decision = "deny"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git log --all"
decision = "ask_user"
priority = 300

[[rule]]
mcpName = "jira"
toolName = ["search", "get"]
decision = "allow"
priority = 10

[[rule]]
toolName = "write_file"
decision = "allow"
priority = 10
argsPattern = "src"

[[rule]]
toolName = "read_file"
decision = "allow"
priority = 10
`;

  it("keep the order of their priorities", async () => {
    const { decide, text } = await imported("gemini", [`${HOME}/.gemini/policies/a.toml`, POLICY]);
    commandsAre((command) => decide("run_shell_command", { command }), {
      ALLOW: ["git log", "npm test", "git log -3 && npm test"],
      DENY: ["git push", "git log && git push", "npm test; git status"],
      ESCALATE: ["git log --all"],
      people: ["git-lfs x", "npm testx", "npm test; rm -rf /", "npm run x"],
    });
    assert.equal(decide("mcp_jira_search", {}), "ALLOW");
    assert.equal(decide("mcp_jira_delete", {}), "people");
    assert.equal(decide("write_file", { file_path: "src/a", content: "" }), "people");
    assert.equal(decide("read_file", { file_path: "src/a" }), "ALLOW");
    assert.equal(decide("read_file", { file_path: "/etc/passwd" }), "people");
    assert.match(text, /#   allow rule 5: write_file: no prompt shows its argsPattern/);
    const more = `[[rule]]\ntoolName = ["write_file", "replace"]\ndecision = "allow"\npriority = 1
[[rule]]\nmcpName = "jira"\ndecision = "allow"\npriority = 1
[[safety_checker]]\ntoolName = "replace"\nchecker = { type = "in-process", name = "allowed-path" }`;
    const edits = await imported("gemini", [`${HOME}/.gemini/policies/b.toml`, more]);
    assert.equal(edits.decide("write_file", { file_path: "src/a.ts", content: "" }), "ALLOW");
    assert.equal(edits.decide("write_file", { file_path: "x/package.json", content: "" }), "people");
    assert.equal(edits.decide("replace", { file_path: "src/a.ts", new_string: "" }), "ESCALATE");
    assert.equal(edits.decide("mcp_jira_x_delete", {}), "people");
  });

  it("and the lists of its settings say which commands and tools go", async () => {
    const settings = `{ // mine
      "tools": { "allowed": ["run_shell_command(git status)", "web_fetch"], "exclude": ["google_web_search"] },
      "mcp": { "excluded": ["db"] }
    }`;
    const { decide } = await imported("gemini", [`${PROJECT}/.gemini/settings.json`, settings]);
    commandsAre((command) => decide("run_shell_command", { command }), {
      ALLOW: ["git status", "git status -s"],
      DENY: ["ls", "git status && ls"],
    });
    assert.equal(decide("run_shell_command", { command: "git status", cwd: "/home/kim/other" }), "people");
    assert.equal(decide("web_fetch", { prompt: "x" }), "ALLOW");
    assert.equal(decide("google_web_search", {}), "DENY");
    assert.equal(decide("mcp_db_read", {}), "DENY");
    const core = await imported("gemini", [
      `${HOME}/.gemini/settings.json`,
      { tools: { core: ["read_file", "web_fetch"] } },
    ]);
    assert.equal(core.decide("web_fetch", {}), "ALLOW");
    assert.equal(core.decide("write_file", { file_path: "a" }), "DENY");
    assert.equal(core.decide("read_file", { file_path: "a" }), "ALLOW");
  });
});

describe("permissions of opencode", () => {
  it("turn off tools, also those of one agent, and allow no edit by the name of another tool", async () => {
    const permission = { edit: "deny", write: "allow" };
    const agent = { plan: { tools: { bash: false, read: true } } };
    const { decide, text } = await imported("opencode", [OPENCODE, { permission, agent, tools: { webfetch: true } }]);
    assert.equal(decide("edit", file("a")), "DENY");
    assert.equal(decide("bash", shell("ls")), "DENY");
    for (const entry of ["permission.write", "agent.plan.tools.read", "tools.webfetch"])
      assert.ok(text.includes(`#   allow ${entry}: `), text);
  });

  const shell = (command: string) => ({ patterns: [command], input: { command } });
  const file = (filePath: string) => ({ patterns: [filePath], input: { filePath } });
  const OPENCODE = `${HOME}/.config/opencode/opencode.json`;

  it("are decided by the last entry that matches", async () => {
    const bash = {
      "*": "ask",
      "git *": "allow",
      "git push *": "deny",
      "npm test": "allow",
      "rm *": "deny",
      "rm dist*": "allow",
    };
    const read = { "*": "allow", "*.env": "deny", "secrets/*": "ask" };
    const { decide } = await imported("opencode", [
      OPENCODE,
      { permission: { bash, read, webfetch: "allow", "db_*": "deny" } },
    ]);
    commandsAre((command) => decide("bash", shell(command)), {
      ALLOW: ["git status", "npm test", "git log && npm test", "rm dist", "rm dist x"],
      DENY: ["git push", "rm -rf /", "npm test; rm -rf /", "rm dist && rm x"],
      people: ["git log --output=x", "npm test x", "gitx", "ls"],
    });
    const paths = Object.entries({
      "a.ts": "ALLOW",
      ".env": "DENY",
      "x/prod.env": "DENY",
      "secrets/a/b": "ESCALATE",
      "/etc/x": "DENY",
    });
    assert.deepEqual(
      paths.map(([path]) => [path, decide("read", file(path))]),
      paths,
    );
    assert.equal(decide("webfetch", {}), "ALLOW");
    assert.equal(decide("db_read", {}), "DENY");
  });

  it("that deny everything leave what later entries allow", async () => {
    const permission = { "*": "deny", bash: { "*": "deny", "git *": "allow" }, edit: { "docs/*": "allow" } };
    const { decide } = await imported("opencode", [`${PROJECT}/opencode.jsonc`, { permission }]);
    commandsAre((command) => decide("bash", shell(command)), { ALLOW: ["git log"], DENY: ["ls", "git log && ls"] });
    assert.equal(decide("webfetch", {}), "DENY");
    assert.equal(decide("bash", { ...shell("git log"), cwd: "/home/kim/other" }), "people");
  });

  it("of a project change those of the user in their place", async () => {
    const own = [OPENCODE, { permission: { bash: { "git *": "allow", "*": "ask" }, webfetch: "allow" } }] as const;
    const { decide } = await imported("opencode", own, [
      `${PROJECT}/opencode.json`,
      { permission: { webfetch: "deny" } },
    ]);
    assert.equal(decide("webfetch", {}), "DENY");
    assert.equal(decide("bash", shell("git log")), "ESCALATE");
  });

  it("of one of its agents only refuse", async () => {
    const agent = { plan: { permission: { edit: "deny", webfetch: "allow" } } };
    const { decide, text } = await imported("opencode", [OPENCODE, { agent, tools: { todowrite: false } }]);
    assert.equal(decide("edit", file("a")), "DENY");
    assert.equal(decide("webfetch", {}), "people");
    assert.equal(decide("todowrite", {}), "DENY");
    assert.match(text, /wider: for every agent of opencode/);
  });
});

describe("approvals of Copilot CLI", () => {
  it("hold in their folder alone", async () => {
    const tool_approvals = [
      { kind: "commands", commandIdentifiers: ["git commit", "ls", "git"] },
      { kind: "write" },
      { kind: "mcp", serverName: "x", toolName: null },
    ];
    const { decide, text } = await imported("copilot", [
      `${HOME}/.copilot/permissions-config.json`,
      { locations: { [PROJECT]: { tool_approvals } } },
    ]);
    commandsAre((command) => decide("bash", { command }), {
      ALLOW: ["git commit a.ts", "ls -la", "git"],
      people: ["git push", "git commit; rm -rf /", "lsof", "git commit --amend > x"],
    });
    assert.equal(decide("bash", { command: "ls", cwd: "/home/kim/other" }), "people");
    assert.equal(decide("edit", { path: "a", old_str: "", new_str: "" }), "ALLOW");
    assert.equal(decide("edit", { path: "../a", old_str: "", new_str: "" }), "people");
    assert.match(text, /#   allow \{"kind":"mcp"/);
  });

  it("and the flags of a script that starts it", async () => {
    const script = `copilot --allow-tool 'shell(git:*)' --allow-tool=write --deny-tool "shell(git push)" --deny-tool='write(.env), shell(rm:*)' --allow-all-paths`;
    const { decide, text } = await imported("copilot", ["/home/kim/bin/agent", script]);
    commandsAre((command) => decide("bash", { command }), {
      ALLOW: ["git status"],
      DENY: ["git push origin", "git status; rm x"],
      people: ["gitea x", "ls", "git clone https://x.example/y"],
    });
    assert.equal(decide("edit", { path: "a.ts" }), "ALLOW");
    assert.equal(decide("edit", { path: "x/.env" }), "DENY");
    assert.match(text, /#   allow --allow-all-paths/);
  });
});

describe("flags of Copilot CLI", () => {
  it("are read as a shell reads them", async () => {
    const script = `# copilot --allow-tool 'shell(rm:*)', which we don't want
copilot --deny-tool 'shell(cp)' "write" --deny-tool \\
  'shell(mv)' --excluded-tools view # --allow-tool 'shell(dd)'
alias c="copilot --allow-tool \\"shell(ls)\\""
'--deny-tool=shell(git push)' copilot; 'shell(npm)'
`;
    const { decide, text } = await imported("copilot", [`${HOME}/bin/agent`, script]);
    commandsAre((command) => decide("bash", { command }), {
      ALLOW: ["ls"],
      DENY: ["cp a b", "mv a b", "git push"],
      people: ["rm x", "dd x", "npm test", "git status"],
    });
    assert.equal(decide("edit", { path: "a" }), "DENY");
    assert.match(text, /#   allow --excluded-tools: /);
  });
});

describe("permissions of Cursor", () => {
  it("are about commands and tools of servers", async () => {
    const allow = ["Shell(ls)", "Shell(git)", "Shell(npm:test*)", "Read(src/**)", "Mcp(a:b)"];
    const deny = ["Shell(rm)", "Shell(git push)", "Mcp(db:drop)"];
    const { decide, text } = await imported("cursor", [
      `${PROJECT}/.cursor/cli.json`,
      { permissions: { allow, deny } },
    ]);
    commandsAre((command) => decide("Shell", { command }), {
      ALLOW: ["ls -la"],
      DENY: ["rm x", "ls; rm -rf /", "git push", "git status"],
      people: ["npm test", "lsof", "ls > x"],
    });
    assert.equal(decide("MCP:drop", { tool_input: {} }), "DENY");
    for (const entry of ["Shell(npm:test*)", "Read(src/**)", "Mcp(a:b)"])
      assert.ok(text.includes(`#   allow ${entry}: `));
  });
});
