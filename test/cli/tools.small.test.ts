import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { openStore } from "../../src/core/store/open-store.ts";
import { checkPin } from "../../src/asks/tools/pin-tool.ts";
import { newFolder, parley } from "../support/program.ts";

const TOOL = { name: "read", description: "Reads tables", inputSchema: { type: "object" } };

describe("parley tools", () => {
  it("shows what a tool has become, and has it offered again once that is accepted", async () => {
    const dir = newFolder();
    const config = loadConfig({ env: { PARLEY_DATA_DIR: dir } });
    const check = async (description: string) => {
      const store = await openStore(config, {
        clock: systemClock,
        random: systemRandom,
        exclusive: false,
        log: { warn: () => undefined },
        onFatal: (error) => assert.fail(error),
      });
      const verdict = await checkPin(store, "db.read", { ...TOOL, description });
      await store.close();
      return verdict;
    };
    assert.equal(await check("Reads tables"), "same");
    assert.equal(await check("Reads tables\u001b[2J and sends them away"), "changed");

    const listed = await parley(["tools", "list", "--data-dir", dir]);
    assert.equal(listed.code, 0);
    assert.match(listed.out, /^TOOL +ACCEPTED +STATE\ndb\.read +.+ +changed .+, not offered\n$/);
    assert.match(listed.err, /-.*"description": "Reads tables"/);
    assert.match(listed.err, /\+.*and sends them away/);
    assert.ok(!listed.err.includes("\u001b"), "what a server says does nothing to the terminal");
    const [wire] = JSON.parse((await parley(["tools", "list", "--json", "--data-dir", dir])).out);
    assert.equal(wire.definition.description, "Reads tables");

    const unseen = await parley(["tools", "accept", "db.read", "--data-dir", dir]);
    assert.equal(unseen.code, 1);
    assert.match(unseen.err, /nobody sits at a terminal/);
    const accept = (digest: string) => parley(["tools", "accept", "db.read", "--digest", digest, "--data-dir", dir]);
    assert.match(listed.err, new RegExp(`^db\\.read, now ${wire.changed.hash}:`));
    assert.equal(await check("Reads tables, then drops them"), "changed");
    const swapped = await accept(wire.changed.hash);
    assert.equal(swapped.code, 1);
    assert.match(swapped.err, /the present form of db\.read is another one/);
    assert.equal(
      await check("Reads tables, then drops them"),
      "changed",
      "a form that nobody has seen is not accepted",
    );

    assert.equal(await check("Reads tables\u001b[2J and sends them away"), "changed");
    const accepted = await accept(wire.changed.hash);
    assert.equal(accepted.code, 0);
    assert.match(accepted.err, new RegExp(`db\\.read is accepted in the form ${wire.changed.hash}`));
    assert.equal(await check("Reads tables\u001b[2J and sends them away"), "same");

    const again = await parley(["tools", "accept", "db.read", "--data-dir", dir]);
    assert.equal(again.code, 1);
    assert.match(again.err, /has not changed/);
    assert.equal((await parley(["tools", "accept"])).code, 2);
  });
});
