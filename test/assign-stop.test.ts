import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { agentOf, appears, assertDone, beside, eventually, openSite, timesOf, WAITS, run } from "./assign-site.ts";
import { parley, start } from "./program.ts";

describe("stopping a server while coding agents work", () => {
  it("leaves them at work, and the next one takes them up", async () => {
    await using site = await openSite();
    await site.submit("works", { prompt: run(WAITS) });
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    const agent = agentOf(site, "works");
    const stopped = await parley(["stop"], { PARLEY_DATA_DIR: site.dataDir });
    assert.deepEqual([stopped.code, stopped.err], [0, "Stopped.\n"]);
    assert.equal((await site.run.ended).code, 0);
    assert.equal(existsSync(join(site.dataDir, "server.json")), false);
    assert.doesNotThrow(() => process.kill(agent, 0), "the agent goes on");
    await site.start();
    writeFileSync(beside(site, "works", "go"), "");
    const task = await site.until("works", "review");
    assertDone(site, "works", task);
    assert.deepEqual([timesOf(site, "works"), task.attempts[0].resumes], ["x\n", 0]);
    const doctor = await parley(["doctor"], { PARLEY_DATA_DIR: site.dataDir });
    assert.equal(doctor.code, 0, doctor.out);
  });

  it("with --drain waits for them, and starts none", async () => {
    await using site = await openSite({ repos: [{ name: "shop", parallel: 1 }] });
    await site.submit("works", { prompt: run(WAITS) });
    await site.submit("next");
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    const drain = start(["stop", "--drain"], { PARLEY_DATA_DIR: site.dataDir });
    await eventually(
      () => site.run.err().includes("Draining"),
      () => "the server's word",
    );
    await site.submit("later");
    assert.equal((await site.task("works")).state, "running");
    writeFileSync(beside(site, "works", "go"), "");
    assert.equal((await drain.ended).code, 0);
    assert.equal((await site.run.ended).code, 0);
    const states = () => site.query("SELECT state FROM aa_tasks ORDER BY place").map(({ state }) => state);
    assert.deepEqual(states(), ["review", "queued", "queued"]);
    const nobody = await parley(["stop"], { PARLEY_DATA_DIR: site.dataDir });
    assert.deepEqual([nobody.code, nobody.err], [1, `parley: no server runs on ${site.dataDir} on this machine.\n`]);
    await site.start();
    await site.until("later", "review");
    assert.deepEqual(states(), ["review", "review", "review"]);
  });
});
