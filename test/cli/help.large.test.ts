import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { nearest } from "../../src/lib/nearest.ts";
import { parley } from "../support/program.ts";

const namesIn = (text: string) => [...text.matchAll(/^ {2}parley (\S+(?: \S+)?) {2,}/gm)].map(([, name = ""]) => name);

describe("parley without a command", () => {
  it("shows ten commands in four groups, on lines that fit", async () => {
    const { code, out, err } = await parley([]);
    assert.deepEqual([code, out], [2, ""]);
    assert.equal(namesIn(err).length, 10);
    assert.equal(err.match(/^[A-Z].*:$/gm)?.length, 4);
    for (const name of namesIn(err)) assert.ok(COMMANDS.has(name), name);
    for (const line of err.split("\n")) assert.ok(line.length <= 120, line);
  });
});

describe("parley help", () => {
  it("shows the same with exit code 0, also as --help", async () => {
    const { err } = await parley([]);
    for (const words of [["help"], ["--help"], ["-h"]]) {
      assert.deepEqual(await parley(words), { code: 0, out: err, err: "" });
    }
  });

  it("lists every command once with --all", async () => {
    const { code, out } = await parley(["help", "--all"]);
    assert.equal(code, 0);
    assert.deepEqual(namesIn(out).sort(), [...COMMANDS.keys()].sort());
  });

  it("shows every command with an example", async () => {
    for (const name of COMMANDS.keys()) {
      const { code, out } = await parley([...name.split(" "), "--help"]);
      assert.equal(code, 0);
      assert.match(out, new RegExp(`^parley ${name} .*\n[^]*\nExample: .*parley ${name}`));
    }
  });

  it("explains one command as its --help does, and names those that begin like it", async () => {
    for (const name of ["ask", "keys create", "mcp"]) {
      const words = name.split(" ");
      const help = await parley(["help", ...words]);
      assert.deepEqual(help, await parley([...words, "--help"]));
      assert.match(help.out, new RegExp(`^parley ${name} [^]*\nExample: .*parley ${name}`));
    }
    assert.deepEqual(namesIn((await parley(["help", "mcp"])).out), ["mcp install", "mcp uninstall", "mcp config"]);
    const keys = await parley(["help", "keys"]);
    assert.deepEqual(
      [keys.code, namesIn(keys.out)],
      [0, ["keys create", "keys list", "keys revoke", "keys rotate-installation"]],
    );
  });
});

describe("a mistyped word", () => {
  it("is answered with the command that is meant", async () => {
    const MEANT: readonly [words: string[], said: string][] = [
      [["aks", "Which?"], `there is no command "aks"; "ask" is meant, perhaps.`],
      [["kyes", "list"], `there is no command "kyes"; "keys list" is meant, perhaps.`],
      [["keys", "creat", "bot"], `there is no command "keys creat"; "keys create" is meant, perhaps.`],
      [["help", "serv"], `there is no command "serv"; "serve" is meant, perhaps.`],
      [["start"], `there is no command "start"; "serve" is meant, perhaps.`],
      [["nonsense"], `there is no command "nonsense".`],
    ];
    for (const [words, said] of MEANT) {
      const { code, out, err } = await parley(words);
      assert.deepEqual([code, out, err.split("\n")[0]], [2, "", `parley: ${said}`], words.join(" "));
    }
  });

  it("is answered with the flag that is meant, and with what a flag wants", async () => {
    const SAID: readonly [words: string[], said: string][] = [
      [["ask", "Which?", "--optoins", "A,B"], "there is no flag --optoins; --options is meant, perhaps"],
      [["ask", "Which?", "--loud"], "there is no flag --loud"],
      [["ask", "Which?", "--to"], "--to needs a value"],
      [["ask", "Which?", "--min", "--wait"], "--min needs a value"],
      [["ask", "Which?", "--wait=1"], "--wait takes no value"],
      [["agents", "claude"], `"claude" is not expected here`],
    ];
    for (const [words, said] of SAID) {
      const { code, err } = await parley(words);
      assert.deepEqual([code, err.split("\n")[0]], [2, `parley ${words[0]}: ${said}`]);
    }
  });
});

describe("the nearest known word", () => {
  it("has more than half of the letters, and at most two that are other", () => {
    const known = ["ask", "mcp", "policy lint", "required_people"];
    const MEANT: readonly [word: string, meant: string | undefined][] = [
      ["aks", "ask"],
      ["as", undefined],
      ["sk", undefined],
      ["mpc", "mcp"],
      ["policylint", "policy lint"],
      ["requird_poeple", "required_people"],
      ["requrd_poeple", undefined],
    ];
    for (const [word, meant] of MEANT) assert.equal(nearest(word, known), meant, word);
  });
});
