import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sharedRelay } from "../support/relay.ts";
import { newFolder, parley } from "../support/program.ts";

const QUESTION = "Which label is clearer?";

describe("wrong usage ends with 2, and the refusal names its flags", () => {
  const scene = sharedRelay("sqlite");

  it("where a value is out of range, whether the command or the server sees it", async () => {
    const { agent, world } = scene();
    for (const [key, words, says] of [
      [agent.key, ["ask", QUESTION, "--min", "99"], "--min"],
      [agent.key, ["ask", QUESTION, "--timeout", "5s"], "--timeout"],
      [agent.key, ["ask", QUESTION, "--options", "A"], "--options"],
      [agent.key, ["ask", QUESTION, "--to", "operator", "--timeout", "5s"], "--timeout"],
      [agent.key, ["answer", "q_1", "--option", "1", "--confidence", "6"], "--confidence"],
      [agent.key, ["keys", "create", "bot", "--scope", "agent", "--expires", "1s"], "--expires"],
      [agent.key, ["keys", "create", "x".repeat(300), "--scope", "agent"], "A key's name"],
    ] as const) {
      const env = { PARLEY_URL: world.url, PARLEY_KEY: key, PARLEY_DATA_DIR: newFolder() };
      const { code, err } = await parley([...words], env);
      assert.deepEqual([code, err.includes(`: ${says} `)], [2, true], `${words.join(" ")}: ${err}`);
    }
  });

  it("where a decision is given in two ways", async () => {
    const { code, err } = await parley(["inbox", "ask_1", "--option", "yes", "--text", "no"], {});
    assert.equal(code, 2);
    assert.match(err, /: --option and --text exclude each other\n/);
  });

  it("where nothing says where a store is moved to", async () => {
    const { code, err } = await parley(["move"], {});
    assert.equal(code, 2);
    assert.match(err, /--to is missing\nusage: parley move --to ADDRESS /);
    const place = newFolder();
    const named = await parley(["move"], { PARLEY_MOVE_TO: newFolder(), PARLEY_DATA_DIR: place });
    assert.deepEqual([named.code, named.err], [1, `parley: There is no Parley database in ${place}.\n`]);
  });
});
