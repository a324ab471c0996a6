import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandsAre, HOME, imported, PROJECT } from "../support/imported-lists.ts";

const OWN = `${HOME}/.claude/settings.json`;
const SHARED = `${PROJECT}/.claude/settings.json`;
const permissions = (lists: object) => ({ permissions: lists });

describe("lists of Claude Code", () => {
  it("are rules about commands, and an ALLOW never covers more than its entry", async () => {
    const allow = ["Bash(npm test:*)", "Bash(git status)", "Bash(git log *)", "Bash(npm run:*)", "Bash(ls*)"];
    const { decide } = await imported("claude", [OWN, permissions({ allow })]);
    commandsAre((command) => decide("Bash", { command }), {
      ALLOW: ["npm test", "npm test a.test.ts", "git status", "git log -3", "npm run build && git status", "ls -la"],
      people: [
        "npm test; rm -rf /",
        "npm testx",
        "npm test $(cat x)",
        "npm test > out.txt",
        "git status -s",
        "git log --output=x",
        "git log | tee x",
        "NODE_OPTIONS=x npm test",
        "timeout 5 npm test",
        "bash -c 'npm test'",
        "npm",
        "lsof",
        "ls ../x",
      ],
    });
    assert.equal(decide("Bash", { command: "git status", dangerouslyDisableSandbox: true }), "people");
    assert.equal(decide("PowerShell", { command: "git status" }), "people");
  });

  it("deny and ask before they allow, at least as much as the entries", async () => {
    const lists = {
      allow: ["Bash(git:*)", "Bash(npm *)", "Bash(echo:*)"],
      ask: ["Bash(git push:*)", "Bash(npm publish)"],
      deny: ["Bash(git push --force *)", "Bash(rm -rf:*)", 'Bash(echo "a" b)', "Bash(FOO=1 make:*)"],
    };
    const { decide } = await imported("claude", [OWN, permissions(lists)]);
    commandsAre((command) => decide("Bash", { command }), {
      ALLOW: ["git fetch origin", "npm install"],
      ESCALATE: ["git push origin", "git fetch && git push", "npm publish", "git -C x push"],
      DENY: [
        "git push --force origin",
        "rm -rf x",
        "git fetch && sudo rm -rf x",
        "echo a b",
        "make all",
        "eval x",
        "bash -c 'rm -rf x'",
      ],
      people: ["rm x", "cat x"],
    });
  });

  it("of a project hold in that project alone where they allow, and everywhere where they do not", async () => {
    const lists = { allow: ["Bash(npm test:*)", "mcp__db__read", "WebSearch"], deny: ["Bash(curl:*)"] };
    const { decide } = await imported("claude", [SHARED, permissions(lists)]);
    assert.equal(decide("Bash", { command: "npm test" }), "ALLOW");
    assert.equal(decide("mcp__db__read", {}), "ALLOW");
    for (const cwd of ["/home/kim/other", `${PROJECT}/vendor`, `${PROJECT}2`]) {
      assert.equal(decide("Bash", { command: "npm test", cwd }), "people");
      assert.equal(decide("mcp__db__read", { cwd }), "people");
      assert.equal(decide("Bash", { command: "curl x", cwd }), "DENY");
    }
  });

  it("are rules about files, as seen from their folder", async () => {
    const allow = ["Read(src/**)", `Edit(/${PROJECT}/docs/**)`, "Edit(*.md)", "Read(/lib/*.ts)"];
    const deny = ["Read(./.env)", "Read(secrets/**)", "Read(~/.ssh/**)"];
    const { decide } = await imported("claude", [SHARED, permissions({ allow, deny })]);
    const decisions = Object.entries({
      "src/a.ts": "ALLOW",
      [`${PROJECT}/src/b/c.ts`]: "ALLOW",
      "src/../package.json": "people",
      "src/.env": "DENY",
      "lib/a.ts": "ALLOW",
      "lib/a/b.ts": "people",
      ".env": "DENY",
      "x/secrets/y": "DENY",
      "/etc/passwd": "DENY",
      "../other/x": "DENY",
    });
    assert.deepEqual(
      decisions.map(([path]) => [path, decide("Read", { file_path: path })]),
      decisions,
    );
    assert.equal(decide("Read", { file_path: "key", cwd: `${HOME}/.ssh` }), "DENY");
    assert.equal(decide("Read", { file_path: ".ssh/key", cwd: HOME }), "DENY");
    assert.equal(decide("Read", { file_path: "x", cwd: `${PROJECT}/secrets/deep` }), "DENY");
    assert.equal(decide("Edit", { file_path: "docs/a", old_string: "a", new_string: "b" }), "ALLOW");
    assert.equal(decide("Write", { file_path: "x/README.md", content: "" }), "ALLOW");
    assert.equal(decide("Write", { file_path: "src/a.ts", content: "" }), "people");
    assert.equal(decide("Read", { file_path: "src/a.ts", cwd: `${PROJECT}/vendor` }), "people");
  });

  it("are rules about hosts and tools of servers", async () => {
    const allow = [
      "WebFetch(domain:docs.example.com)",
      "WebFetch(domain:*.shop.example)",
      "mcp__github",
      "mcp__jira__get_*",
    ];
    const deny = ["WebFetch(domain:evil.example)", "mcp__github__delete_repo", "mcp__*__drop"];
    const { decide } = await imported("claude", [OWN, permissions({ allow, deny })]);
    const urls = Object.entries({
      "https://docs.example.com/a": "ALLOW",
      "https://a.shop.example/": "ALLOW",
      "https://docs.example.com.evil.net/": "people",
      "https://docs.example.com@evil.net/": "DENY",
      "http://docs.example.com/": "people",
      "https://evil.example/x": "DENY",
      "HTTPS://EVIL.example": "DENY",
      "https://evil.example.:443/": "DENY",
      "https://%65vil.example/": "DENY",
      "https://other.example/?u=evil.example": "people",
    });
    assert.deepEqual(
      urls.map(([url]) => [url, decide("WebFetch", { url, prompt: "x" })]),
      urls,
    );
    const tools = { mcp__github__list: "ALLOW", mcp__github__delete_repo: "DENY", mcp__jira__get_x: "ALLOW" };
    const neighbours = { mcp__githubx__list: "people", mcp__jira__set: "people", mcp__pg__drop: "DENY" };
    for (const [fn, decision] of Object.entries({ ...tools, ...neighbours }))
      assert.equal(decide(fn, {}), decision, fn);
  });

  it("name each entry that is not carried over, and why", async () => {
    const allow = [
      "Bash",
      "Bash(* --version)",
      "Bash(A=1 npm test)",
      "Read(//etc/hosts)",
      "Write(docs/**)",
      "Skill(x)",
      "mcp__*",
      "Edit(src/**)",
    ];
    const { text, policy } = await imported("claude", [OWN, permissions({ allow, defaultMode: "acceptEdits" })]);
    assert.equal(policy.rules.length, 0);
    for (const entry of [...allow, "permissions.defaultMode"]) assert.ok(text.includes(`#   allow ${entry}: `), entry);
  });

  it("of a user count for nothing where an administrator says so", async () => {
    const managed = { ...permissions({ allow: ["Bash(ls)"] }), allowManagedPermissionRulesOnly: true };
    const files = [
      [OWN, permissions({ allow: ["Bash(npm test)"], deny: ["Bash(rm:*)"] })],
      ["/etc/claude-code/managed-settings.json", managed],
    ] as const;
    const { decide } = await imported("claude", ...files);
    commandsAre((command) => decide("Bash", { command }), { ALLOW: ["ls"], people: ["npm test"], DENY: ["rm x"] });
  });

  it("with text that a comment cannot hold stay one policy", async () => {
    const allow = ["Bash(ls)\n  - id: x", "Odd(\u2028# x\r\ny)", "Bash(echo \u202e)"];
    const { policy } = await imported("claude", [OWN, permissions({ allow, deny: ["Odd\nTool(x)"] })]);
    assert.deepEqual(
      policy.rules.map(({ decision }) => decision),
      ["DENY"],
    );
  });
});
