import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  agentOf,
  appears,
  assertDone,
  beside,
  eventually,
  openSite,
  run,
  steps,
  timesOf,
  WAITS,
} from "../support/assign-site.ts";
import { parley, start } from "../support/program.ts";

describe("stopping a server while coding agents work", { concurrency: true }, () => {
  it("leaves them at work, and the next one takes them up", async () => {
    await using site = await openSite();
    await site.submit("works", { prompt: run(WAITS) });
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    const agent = await agentOf(site, "works");
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
    const states = () => site.query("SELECT state FROM tasks ORDER BY place").map(({ state }) => state);
    assert.deepEqual(states(), ["review", "queued", "queued"]);
    const nobody = await parley(["stop"], { PARLEY_DATA_DIR: site.dataDir });
    assert.deepEqual([nobody.code, nobody.err], [1, `parley: no server runs on ${site.dataDir} on this machine.\n`]);
    await site.start();
    await site.until("later", "review");
    assert.deepEqual(states(), ["review", "review", "review"]);
  });

  it("with --drain --kill ends them, answers when the last process is gone, and the next one resumes them", async () => {
    await using site = await openSite({
      repos: [
        { name: "shop", parallel: 4 },
        { name: "slow", setup: "touch setup-began; sleep 777" },
      ],
    });
    const sleeps = "(setsid sleep 777) & sleep 777";
    await site.submit("works", {
      prompt: run(`echo x >> ../times; [ -e ../go ] || { ${sleeps}; }; echo done > done.txt`),
    });
    await site.submit("asks", { agent: "claude", prompt: steps({ run: "npm run migrate" }, { say: "Done." }) });
    await site.submit("sets-up", {}, "slow");
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    const [asked] = await site.inbox(1);
    await appears(join(site.folder("sets-up"), "tree/setup-began"));
    assert.ok((await site.processes()).length >= 3);

    const stopped = await parley(["stop", "--drain", "--kill"], { PARLEY_DATA_DIR: site.dataDir });
    assert.equal(stopped.code, 0, stopped.err);
    assert.equal((await site.run.ended).code, 0);
    assert.deepEqual(await site.processes(), [], "no process is left when it answers");
    const states = site.query("SELECT id, state FROM tasks ORDER BY id").map(({ id, state }) => `${id} ${state}`);
    assert.deepEqual(states, ["asks interrupted", "sets-up preparing", "works interrupted"]);

    writeFileSync(beside(site, "works", "go"), "");
    await site.start();
    const task = await site.until("works", "review");
    assertDone(site, "works", task);
    assert.equal(task.attempts[0].resumes, 1);
    const again = (await site.inbox(2)).find(({ title }) => title === asked.title);
    assert.equal(again?.id, asked.id, "what was asked is not asked again");
    const wrong = await parley(["stop", "--kill"], { PARLEY_DATA_DIR: site.dataDir });
    assert.deepEqual([wrong.code, /--kill goes with --drain/.test(wrong.err)], [2, true]);
  });
});
