import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evaluate, policyInput, type PolicyWords } from "../../src/policy/model/policy.ts";
import { PolicyMistake } from "../../src/policy/model/check.ts";
import { FIRST_POLICY, loadPolicy } from "../../src/policy/model/text.ts";

/** Returns the answer of a condition on a call: true, false, or null where it cannot be decided. */
async function answerOf(when: string, words: PolicyWords, about = "fn: Bash"): Promise<boolean | null> {
  const matches = async (decision: string) => {
    const rule = `{ id: one, decision: ${decision}, when: { ${about}, ${when} } }`;
    const policy = await loadPolicy(`version: 1\nrules:\n  - ${rule}\n`);
    return evaluate(policy, [], policyInput(words)).trace.matched.length > 0;
  };
  const [allowed, denied] = [await matches("ALLOW"), await matches("DENY")];
  assert.ok(denied || !allowed, "an ALLOW that matches where a DENY does not");
  return allowed ? true : denied ? null : false;
}

const call = (args: unknown): PolicyWords => ({ fn: "Bash", agent: "claude", args: () => JSON.stringify(args) });
const GIT = 'command: ["git status", "git log *", "npm test *"]';

const COMMANDS: readonly (readonly [args: unknown, expected: boolean | null])[] = [
  [{ command: "git status" }, true],
  [{ command: "git log -3 && npm test -- a.test.ts 2>&1" }, true],
  [{ command: "git push" }, false],
  [{ command: "ls -la" }, false],
  [{ command: "git status; ls" }, null],
  [{ command: "git log --output=notes.txt" }, null],
  [{ command: "git log > notes.txt" }, null],
  [{ command: "git log $(ls)" }, null],
  [{ command: "timeout 5 git status" }, null],
  [{ command: "/usr/bin/git status" }, null],
  [{ command: 'git status "unfinished' }, null],
  [{ command: ["git", "log", "-3"] }, true],
  [{ command: ["git", "log; ls"] }, false],
  [{ command: ["git", "log", "; ls"] }, true],
  [{ command: ["bash", "-lc", "ls"] }, false],
  [{ command: ["bash", "-lc", "git status"] }, true],
  [{ command: ["bash", "-lc", "git status; ls"] }, null],
  [{ command: ["bash", "-lic", "git status"] }, null],
  [{ command: ["/tmp/bash", "-c", "git status"] }, null],
  [{ command: ["bash", "-c", "git status", "more"] }, null],
  [{ command: [] }, null],
  [{ command: ["git", 5] }, null],
  [{ cmd: "git status" }, true],
  [{ cmd: "git status", command: "git status" }, null],
  [{ script: "git status" }, null],
  [{ command: "git status", description: "Look", timeout: 5000, run_in_background: true }, true],
  [{ command: "git status", dangerouslyDisableSandbox: true }, null],
  [{ command: "git status", cwd: "/home/kim/shop", workdir: "/home/kim/shop" }, true],
  [{ command: "git status", cwd: "/home/kim/shop", workdir: "/home/kim/other" }, null],
  [{ command: "git status", workdir: "/home/kim/shop" }, null],
  [{ command: "git status", cwd: "/home/kim/shop", dir_path: "." }, true],
  [{ command: "cd /home/kim/shop && git status", cwd: "/home/kim/shop" }, true],
  [{ command: "cd /home/kim && git status", cwd: "/home/kim/shop" }, null],
  [{ command: "cd . > notes.txt && git status" }, null],
  [{ command: "cd . x && git status" }, null],
  [{ command: "NAME=x cd . && git status" }, null],
  [{ command: "cd .. && cd /home/kim/shop && git status", cwd: "/home/kim/shop" }, null],
  [{ command: "cd /home/kim/shop && git status" }, null],
  [{ patterns: ["git status"], input: { command: "git status" } }, true],
  [{ patterns: ["git status"], input: { command: "git status", workdir: "/tmp" }, cwd: "/home/kim/shop" }, null],
  [{ patterns: ["git status"], input: { command: "git status", cwd: "/tmp" }, cwd: "/home/kim/shop" }, null],
  [{ command: "ls", input: { command: "git status" } }, null],
];

const SOURCES = 'path: ["src/**", "docs/*.md"]';
const PATHS: readonly (readonly [args: unknown, expected: boolean | null])[] = [
  [{ file_path: "src/cart.ts" }, true],
  [{ file_path: "src/a/b/cart.ts" }, true],
  [{ file_path: "./src//cart.ts" }, true],
  [{ file_path: "src/../src/cart.ts" }, true],
  [{ file_path: "docs/policy.md" }, true],
  [{ file_path: "docs/how/policy.md" }, false],
  [{ file_path: "package.json" }, false],
  [{ file_path: "src/../package.json" }, false],
  [{ file_path: "src/../../notes.txt" }, null],
  [{ file_path: "../shop/src/cart.ts" }, null],
  [{ file_path: "/home/kim/shop/src/cart.ts" }, null],
  [{ file_path: "/home/kim/shop/src/cart.ts", cwd: "/home/kim/shop" }, true],
  [{ file_path: "/home/kim/shop2/src/cart.ts", cwd: "/home/kim/shop" }, null],
  [{ file_path: "~/src/cart.ts" }, null],
  [{ file_path: "src/$NAME" }, null],
  [{ file_path: "src\\..\\..\\notes.txt" }, null],
  [{ file_path: "C:/src/cart.ts" }, null],
  [{ file_path: "SRC/cart.ts" }, null],
  [{ file_path: "src/.env" }, null],
  [{ file_path: "docs/.policy.md" }, null],
  [{ file_path: "src/app/[id]/page.tsx" }, true],
  [{ old_path: "src/a.ts", new_path: "src/b.ts" }, true],
  [{ old_path: "src/a.ts", new_path: "b.ts" }, null],
  [{ patterns: ["src/a.ts"], input: { filePath: "src/a.ts" } }, true],
  [{ path: ["src/a.ts"] }, null],
  [{ pattern: "src" }, null],
  [{ path: "src/a.ts", destination: "notes.txt" }, null],
  [{ path: "src/a.ts", edits: [{ file_path: "notes.txt" }] }, null],
  [{ path: "src/a.ts", edits: [{ old_string: "a", new_string: "../b" }] }, true],
  [{ path: "src", pattern: "**/*.ts", glob: "*.ts" }, true],
  [{ path: "src", pattern: "../../**" }, null],
  [{ path: "src", glob: "/etc/*" }, null],
  [{ path: "/src/a.ts", cwd: "" }, null],
  [{ path: "/src/a.ts", cwd: "/" }, true],
  [{ path: "file:///src/a.ts" }, null],
  [{ path: " src/a.ts" }, null],
  [{ path: "docs/policy.md." }, null],
  [{ path: "src/" + "a/".repeat(3000) }, null],
];

describe("a condition on the command of a call", () => {
  for (const [args, expected] of COMMANDS) {
    it(`${JSON.stringify(args)} is ${expected === null ? "not to be decided" : String(expected)}`, async () => {
      assert.equal(await answerOf(GIT, call(args)), expected);
    });
  }

  it("reads what an executor's ask would execute from its resource", async () => {
    const ask = (resource: string): PolicyWords => ({ action: "execute", env: "agent", resource });
    assert.equal(await answerOf(GIT, ask("git status"), "action: execute"), true);
    assert.equal(await answerOf(GIT, ask("git status; ls"), "action: execute"), null);
    assert.equal(await answerOf(GIT, ask("ls"), "action: execute"), false);
    assert.equal(await answerOf(GIT, ask("git status (arguments unknown)"), "action: execute"), null);
  });

  it("denies by a program behind others that start it", async () => {
    for (const [command, expected] of [
      ["sudo rm -rf build", null],
      ["ls && /bin/rm -rf build", null],
      ["xargs rm -rf < names", null],
      ["fd -Hx rm -rf build", null],
      ["fd --exec=rm -rf build", null],
      ["rm -rf build", true],
      ["echo rm -rf build", false],
    ] as const) {
      assert.equal(await answerOf('command: "rm -rf *"', call({ command })), expected, command);
    }
  });
});

describe("a condition on the file of a call", () => {
  for (const [args, expected] of PATHS) {
    it(`${JSON.stringify(args)} is ${expected === null ? "not to be decided" : String(expected)}`, async () => {
      assert.equal(await answerOf(SOURCES, call(args)), expected);
    });
  }

  it("is read of a patch, of its tool alone", async () => {
    const patch = (...lines: string[]): PolicyWords =>
      call({ command: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"), cwd: "/home/kim/shop" });
    const one = patch("*** Update File: src/a.ts", "@@", "-a", "+b");
    assert.equal(await answerOf(SOURCES, { ...one, fn: "apply_patch" }, "fn: apply_patch"), true);
    assert.equal(await answerOf(SOURCES, one), null);
    for (const [line, expected] of [
      ["*** Add File: package.json", null],
      ["*** Move to: ../a.ts", null],
      ["*** Delete File: src/b.ts", null],
      ["+*** Add File: b", null],
      ["*** Add File: docs/a.md", true],
    ] as const) {
      const words = { ...patch("*** Update File: src/a.ts", "@@", "-a", "+b", line), fn: "apply_patch" };
      assert.equal(await answerOf(SOURCES, words, "fn: apply_patch"), expected, line);
    }
  });

  it("looks at each name of a long path once", async () => {
    const path = "x/".repeat(2000);
    assert.equal(await answerOf('path: "**/x/**/y"', call({ path })), false);
    assert.equal(await answerOf('path: "**/x/**/x"', call({ path })), true);
  });

  it("reads what an executor's ask would read or write from its resource", async () => {
    const ask = (resource: string): PolicyWords => ({ action: "write", env: "agent", resource });
    assert.equal(await answerOf(SOURCES, ask("src/cart.ts"), "action: write"), true);
    assert.equal(await answerOf(SOURCES, ask("/etc/hosts"), "action: write"), null);
    assert.equal(await answerOf(SOURCES, ask("src/cart.ts (arguments unknown)"), "action: write"), null);
  });
});

/** Commands that do more than look or test. */
const OTHER_COMMANDS = `git commit -m x
git push
git status; id
git log --output=x
git -c a=b status
git diff > x
cat /etc/hosts
cat ../x
cat .env
cat ~/x
cat $X
ls $(id)
ls \`id\`
ls & id
npm test --prefix x
npm test -- --watch
npm run test:unit -- -u
npm run test
npx vitest run --reporter=verbose --update
npx vitest run /tmp/a --reporter=verbose
npx vitest run a --reporter=./a.js
pytest /tmp/a -q
pytest .a -q
npm run other
npx eslint --fix src
npx other
sed -n 'w x' a
sed -i 1p a
find . -delete
find . -exec rm {} +
find . -fprintf x y
find .. -name x
gh pr view 1 --web
gh pr view 1 --json title --web
docker ps --format x
pytest -q -p x
sort -o x a
tree -o x
date -s x
uniq a b
env ls
sudo ls
pytest --basetemp=x
go test -exec id
node --test -e 1
make test other
PATH=x ls
./ls
lS
echo x > y
echo x | sh
bash -c ls
eval ls
npx prettier --check --write a`;

describe("the rules for coding agents that the first policy has as a comment", () => {
  const at = FIRST_POLICY.indexOf("  # - id: agents-look");
  const text = FIRST_POLICY.slice(0, at) + FIRST_POLICY.slice(at).replaceAll(/^ {2}# /gm, "  ");
  const decisionOf = async (fn: string, args: object): Promise<string> =>
    evaluate(await loadPolicy(text), [], policyInput({ fn, agent: "claude", args: () => JSON.stringify(args) }))
      .decision;

  it("allow what only looks, and the tests of a project", async () => {
    for (const command of [
      "git status --short",
      "git log --oneline -10 -- src/cart.ts",
      'rg -n "total" src | head -20',
      "ls -la src && cat package.json",
      "npm test 2>&1 | tail -40",
      "npm test -- test/cart.test.ts",
      "npx tsc --noEmit",
      "pytest tests/test_parse.py -q",
      "sed -n 20,80p src/cart.ts",
      "git diff main...HEAD --stat",
      "gh pr view --json title,state",
      "gh pr view 7 --json title,state",
      'find src -name "*.ts" | wc -l',
      "npm run test:unit",
      "npx vitest run test/cart.test.ts --reporter=verbose 2>&1 | head -80",
    ]) {
      assert.equal(await decisionOf("Bash", { command }), "ALLOW", command);
    }
    const [path, place] = ["docs/setup.md", { owner: "acme", repo: "shop" }];
    assert.equal(await decisionOf("mcp_filesystem_read_text_file", { path, cwd: "/home/kim/shop" }), "ALLOW");
    assert.equal(await decisionOf("mcp__github__list_issues", { ...place, state: "open" }), "ALLOW");
    assert.equal(await decisionOf("Read", { file_path: "/home/kim/shop/src/a.ts", cwd: "/home/kim/shop" }), "ALLOW");
  });

  it("leave to people what writes, runs something else, or leads out of the folder", async () => {
    for (const command of [...OTHER_COMMANDS.split("\n"), "ls\nid"]) {
      assert.equal(await decisionOf("Bash", { command }), "ESCALATE", command);
    }
    for (const file_path of ["/home/kim/other/a.ts", "../a.ts", "/home/kim/shop/.env", "~/a.ts"]) {
      assert.equal(await decisionOf("Read", { file_path, cwd: "/home/kim/shop" }), "ESCALATE", file_path);
    }
    assert.equal(await decisionOf("Write", { file_path: "a.ts", content: "" }), "ESCALATE");
  });
});

describe("patterns of commands and files", () => {
  for (const [when, expected] of [
    ["command: []", "must have 1 to 100 values, not 0"],
    ["command: 5", "must be a text of at most 512 characters"],
    ['command: "* status"', "rules[0].when.command has a * in the name of its program"],
    ['command: ["git status; ls"]', "rules[0].when.command[0] holds a character that a shell does not take for itself"],
    ['path: "/etc/**"', "rules[0].when.path must begin in the folder of the call, as src/**"],
    ['path: "src/../x"', "must have whole names between its slashes"],
    ['path: "src/**.ts"', "must have whole names between its slashes"],
    ['path: "**/a/**/b/**"', "must have ** at most twice"],
    ['path: "src/?.ts"', "holds a sign other than * that is no part of a name"],
  ] as const) {
    it(`are refused where they are ${when}`, async () => {
      const text = `version: 1\nrules:\n  - { id: one, decision: ALLOW, when: { fn: Bash, ${when} } }\n`;
      await assert.rejects(loadPolicy(text), (error) => {
        assert.ok(error instanceof PolicyMistake, String(error));
        assert.ok(error.message.includes(expected), error.message);
        return true;
      });
    });
  }
});
