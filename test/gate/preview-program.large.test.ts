import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createKey } from "../../src/access/create-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import { fresh, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { gateSettings } from "../support/gate-settings.ts";
import { OPERATOR } from "../support/identities.ts";
import { start } from "../support/program.ts";

const PREVIEWING = fileURLToPath(new URL("../support/preview-server.mjs", import.meta.url));
const WAYS = {
  another: { tool: "preview_delete" },
  same: { arguments: { dry_run: true } },
  broken: { tool: "broken_preview" },
  none: { tool: "no_such_tool" },
};
const SETTINGS = gateSettings(
  Object.fromEntries(Object.entries(WAYS).map(([gate, preview]) => [`${gate}.delete_files`, { preview }])),
);

interface Answer {
  id: unknown;
  result: { isError?: boolean; content: { text: string }[]; _meta?: { "parley/gate": { state: string } } };
}

describe("parley gate with previews in front of an MCP server", () => {
  const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, ...SETTINGS } });
  const folder = mkdtempSync(join(tmpdir(), "parley-previewed-"));
  let operator: Decider;
  before(async () => {
    operator = await decider(world(), OPERATOR);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Starts a gate of this name, and a client that deletes the files with a beginning. */
  async function deleter(gate: keyof typeof WAYS) {
    const { text: key } = await createKey(world().server.ctx, { name: fresh("bot"), scope: "agent" });
    const args = ["gate", "--as", gate, "--", process.execPath, PREVIEWING, folder];
    const run = start(args, { PARLEY_URL: world().url, PARLEY_KEY: key });
    return {
      run,
      async deletes(beginning: string): Promise<Answer["result"]> {
        const id = fresh("call");
        const params = { name: "delete_files", arguments: { start: beginning } };
        run.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
        await until(() => Promise.resolve(run.out().includes(`"${id}"`) && run.out().endsWith("\n")), "an answer");
        const answers = run
          .out()
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Answer);
        return (answers.find((one) => one.id === id) ?? assert.fail()).result;
      },
    };
  }
  const make = (...names: string[]) => {
    for (const name of names) writeFileSync(join(folder, name), "");
  };
  const left = (beginning: string) => readdirSync(folder).filter((name) => name.startsWith(beginning));
  const planAbout = (text: string) =>
    until(async () => {
      for (const { id } of await operator.inbox()) if ((await operator.whole(id)).text.includes(text)) return id;
      return undefined;
    }, "a plan in the inbox");

  for (const gate of ["another", "same"] as const) {
    it(`shows the targets, and runs while they are the same: a preview by ${gate} tool`, async () => {
      make(`${gate}-a`, `${gate}-b`);
      const { run, deletes } = await deleter(gate);
      const deleting = deletes(`${gate}-`);
      const plan = await planAbout(`${gate}-b`);
      assert.match((await operator.whole(plan)).text, /Targets of .*delete_files.*columns.*name.*folder.*-a/s);
      assert.equal(left(`${gate}-`).length, 2);
      assert.equal((await operator.decide(plan, { approved: true })).status, 200);
      assert.match((await deleting).content[0]?.text ?? "", /^deleted/);
      assert.equal(left(`${gate}-`).length, 0);
      run.child.stdin.end();
      await run.ended;
    });

    it(`refuses the call when its targets have changed, and then asks anew: a preview by ${gate} tool`, async () => {
      make(`${gate}2-a`);
      const { run, deletes } = await deleter(gate);
      const deleting = deletes(`${gate}2-`);
      const plan = await planAbout(`${gate}2-a`);
      make(`${gate}2-b`);
      await operator.decide(plan, { approved: true });
      const refused = await deleting;
      assert.equal(refused._meta?.["parley/gate"].state, "targets_changed");
      assert.equal(left(`${gate}2-`).length, 2);
      const again = deletes(`${gate}2-`);
      await operator.decide(await planAbout(`${gate}2-b`), { approved: true });
      assert.equal((await again).isError, undefined);
      assert.equal(left(`${gate}2-`).length, 0);
      run.child.stdin.end();
      await run.ended;
    });
  }

  it("refuses a call whose preview cannot be read, or whose server has none, and asks nobody", async () => {
    make("kept-a");
    for (const [gate, says] of [
      ["broken", /did not run: .*no list of at most 500 targets/],
      ["none", /did not run: .*no tool no_such_tool/],
    ] as const) {
      const { run, deletes } = await deleter(gate);
      const { isError, content, _meta } = await deletes("kept-");
      assert.deepEqual([isError, _meta?.["parley/gate"].state], [true, "preview_failed"]);
      assert.match(content[0]?.text ?? "", says);
      run.child.stdin.end();
      await run.ended;
    }
    assert.equal(left("kept-").length, 1);
    assert.equal((await operator.inbox()).length, 0);
    const runs = await world().server.ctx.db.all(sql`SELECT ask_id FROM gate_calls WHERE gate IN ('broken', 'none')`);
    assert.equal(runs.length, 0);
  });
});
