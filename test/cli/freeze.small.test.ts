import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newFolder, parley } from "../support/program.ts";

describe("parley freeze and thaw", () => {
  const store = { PARLEY_DATA_DIR: newFolder() };
  const run = (...words: string[]) => parley(words, store);
  const list = async () => JSON.parse((await run("freeze", "--list", "--json")).out);

  it("freezes one agent, a person's agents or all, names each in the list, and thaws it by the same words", async () => {
    await run("people", "add", "Ana Ruiz");
    await run("keys", "create", "shop-bot", "--scope", "agent");
    for (const whom of [["shop-bot"], ["--person", "Ana Ruiz"], ["--all"]]) {
      const { code, err } = await run("freeze", ...whom, "--reason", "it pays everybody");
      assert.equal(code, 0, err);
      assert.match(err, /frozen since .*\. Thaw it with: parley thaw /);
    }
    assert.deepEqual(
      (await list()).map((one: { scope: string; reason: string }) => [one.scope, one.reason]),
      ["agent", "person", "all"].map((scope) => [scope, "it pays everybody"]),
    );
    assert.match((await run("freeze", "--list")).out, /agent:shop-bot .*it pays everybody/);
    for (const whom of [["shop-bot"], ["--person", "Ana Ruiz"], ["--all"]]) {
      const { code, err } = await run("thaw", ...whom);
      assert.equal(code, 0, err);
    }
    assert.deepEqual(await list(), []);
  });

  it("refuses whom it does not know, several at once and nobody, and freezes nothing", async () => {
    for (const [words, says] of [
      [["freeze", "no-such-bot"], /AGENT must be the name of a key/],
      [["freeze", "--person", "Nobody"], /--person must be the number or the name of one person/],
      [["freeze", "shop-bot", "--all"], /name one of AGENT, --person NAME and --all/],
      [["freeze"], /name one of AGENT, --person NAME and --all/],
      [["thaw", "--all"], /that is not frozen/],
    ] as const) {
      const { code, err } = await run(...words);
      assert.equal(code, 2, err);
      assert.match(err, says);
    }
    assert.deepEqual(await list(), []);
  });
});
