import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { COMMANDS } from "../../src/cli/commands.ts";
import { offeredWords } from "../../src/cli/ask/offered-words.ts";
import { AGENTS } from "../../src/connect/registry.ts";
import { SCOPES } from "../../src/lib/secrets/key-text.ts";
import { itWith } from "../support/parts.ts";
import { environment, MAIN, parley, ROOT } from "../support/program.ts";

const itWithZsh = await itWith("zsh");
const itWithFish = await itWith("fish");
const run = promisify(execFile);

const offered = async (...words: string[]) => (await offeredWords(words, COMMANDS)).map(({ word }) => word);

describe("the words that are offered", () => {
  it("are the commands, word by word, and what each of them does", async () => {
    const first = new Set([...COMMANDS.keys()].map((name) => name.split(" ")[0]));
    assert.deepEqual(new Set(await offered("")), new Set([...first, "help"]));
    assert.deepEqual(await offered("keys", ""), ["create", "list", "revoke", "rotate-installation"]);
    assert.deepEqual(await offered("keys", "cr"), ["create"]);
    assert.deepEqual(await offered("help", "keys", "re"), ["revoke"]);
    const [create] = await offeredWords(["keys", "cr"], COMMANDS);
    assert.equal(create?.does, "make a key and print it, alone, this once");
  });

  it("are the flags of every command and no others", async () => {
    for (const [name, { load }] of COMMANDS) {
      const { takes } = await load();
      const own = Object.keys(takes).flatMap((form) => (/^--\w/.test(form) ? [form.split(" ")[0]] : []));
      assert.deepEqual(await offered(...name.split(" "), "--"), [...own, "--help"], name);
    }
    assert.deepEqual(await offered("ask", "Which?", "--options", "A", "--w"), ["--wait"]);
  });

  it("are what a flag or an argument takes, where that is one of a few", async () => {
    assert.deepEqual(await offered("keys", "create", "bot", "--scope", ""), [...SCOPES]);
    assert.deepEqual(await offered("mcp", "install", "c"), ["claude", "codex"]);
    assert.deepEqual(await offered("hook", "install", ""), Object.keys(AGENTS));
    assert.deepEqual(await offered("mcp", "install", "claude", ""), []);
  });

  it("are none where anything may stand, and after another program's name", async () => {
    assert.deepEqual(await offered("backup", ""), []);
    assert.deepEqual(await offered("keys", "create", "bot", "--expires", ""), []);
    assert.deepEqual(await offered("exec", "--", "--"), []);
    assert.deepEqual(await offered("nonsense", ""), []);
  });
});

describe("parley completion", () => {
  /** Where the shells find `parley`. */
  const programs = join(ROOT, "programs");
  const shell = async (program: string, args: readonly string[]) => {
    const env = environment({ PATH: [programs, process.env["PATH"]].join(delimiter) });
    const { stdout, stderr } = await run(program, args, { env, cwd: programs });
    assert.equal(stderr, "");
    return stdout;
  };
  before(() => {
    mkdirSync(programs);
    const file = join(programs, "parley");
    writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    chmodSync(file, 0o755);
  });

  it("knows bash, zsh and fish, and says so of others", async () => {
    const { code, err } = await parley(["completion", "tcsh"]);
    assert.deepEqual([code, err.split("\n")[0]], [2, "parley completion: SHELL must be one of bash, zsh, fish"]);
  });

  it("completes in bash, offers files where it has no word, and runs nothing that is half typed", async () => {
    const press = (...words: string[]) => {
      const typed = words.map((word) => `'${word}'`).join(" ");
      const pressed = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return shell("bash", ["-c", `eval "$(parley completion bash)"; ${pressed}; complete -p parley`]);
    };
    assert.equal(await press("parley", "keys", "cr"), "create\ncomplete -o default -F _parley parley\n");
    assert.match(await press("parley", "backup", ""), /^\ncomplete -o default/);
    assert.match(await press("parley", "ask", "$(touch made)", "--wa"), /^--wait\n/);
    assert.match(await shell("ls", []), /^parley\n$/);
  });

  itWithZsh("completes in zsh", async () => {
    const lines = [
      "zmodload zsh/zpty",
      "zpty shell zsh -f -i",
      // The terminal echoes typed text, so typed text must not contain the expected word.
      `zpty -w shell 'autoload -Uz compinit; compinit -u -D; eval "$(parley completion zsh)"; print set''-up'`,
      "zpty -r shell seen '*set-up*'",
      "zpty -w -n shell $'parley keys cr\\t'",
      "zpty -r shell seen '*parley keys create*'",
      "zpty -d shell",
      "print completed",
    ];
    assert.equal(await shell("zsh", ["-f", "-c", lines.join("\n")]), "completed\n");
  });

  itWithFish("completes in fish, and offers files where it has no word", async () => {
    const press = (line: string) => shell("fish", ["-c", `parley completion fish | source; complete -C '${line}'`]);
    assert.equal(await press("parley keys cr"), "create\tmake a key and print it, alone, this once\n");
    assert.match(await press("parley backup par"), /^parley\b/);
  });
});
