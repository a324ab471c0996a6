import assert from "node:assert/strict";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { appears, assertDone, beside, eventually, openSite, run, WAITS } from "../support/assign-site.ts";
import { gitIn } from "../support/git-in.ts";

describe("a server that comes back to a machine where agents may be at work", { concurrency: true }, () => {
  it("does the task anew when its work folder is gone", async () => {
    await using site = await openSite();
    await site.submit("works", { prompt: run(WAITS) });
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    await site.kill();
    rmSync(site.workDir, { recursive: true, force: true });
    site.sleepFor(61_000);
    await site.start();
    await site.submit("works");
    const task = await site.until("works", "review");
    assert.deepEqual([task.attempt, task.attempts[0].outcome], [2, "superseded"]);
    assert.equal(site.git("shop", "show", `${task.commit}:works.txt`), "works");
    await eventually(
      async () => (await site.processes()).length === 0,
      () => "the end of the old agent",
    );
  });

  it("ends what was given up while it was away, and keeps what that had done", async () => {
    await using site = await openSite();
    await site.submit("works", { prompt: run(`echo half > half.txt; ${WAITS}`) });
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    await site.kill();
    // Another server that has lost contact with this one does the same.
    site.query(`UPDATE jobs SET state = 'CANCELED', ended_at = 1, lease_until = NULL, epoch = epoch + 1`);
    site.query(`UPDATE task_attempts SET state = 'ended', outcome = 'lost', ended_at = 1, epoch = epoch + 1`);
    site.query(`UPDATE tasks SET state = 'failed', error = 'lost'`);
    assert.notDeepEqual(await site.processes(), []);
    await site.start();
    await eventually(
      async () => (await site.processes()).length === 0,
      () => "the end of the agent",
    );
    const wip = await eventually(
      () => site.git("shop", "for-each-ref", "--format=%(refname)", "refs/aa"),
      () => "what it had done",
    );
    assert.match(wip, /^refs\/aa\/works-[0-9a-f]{8}\/1-wip$/);
    assert.equal(site.git("shop", "show", `${wip}:half.txt`), "half");
    await eventually(
      () => !existsSync(join(site.folder("works"), "tree")),
      () => "the end of its tree",
    );
    assert.equal((await site.task("works")).state, "failed");
    writeFileSync(beside(site, "works", "go"), "");
  });
});

describe("a repository that is away", { concurrency: true }, () => {
  it("is waited for by a server that comes back, with the reason on the task, and the work goes on then", async () => {
    await using site = await openSite();
    await site.submit("works", { prompt: run(WAITS) });
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    await site.kill();
    const [there, away] = [site.checkout("shop"), `${site.checkout("shop")}.away`];
    renameSync(there, away);
    await site.start();
    const waits = await site.until("works", ({ error }) => error !== undefined);
    assert.deepEqual([waits.state, waits.status], ["running", "in-progress"]);
    assert.match(waits.error, /^it waits for its repository: There is no folder /);
    assert.notDeepEqual(await site.processes(), [], "its agent goes on meanwhile");
    assert.doesNotMatch(site.run.err(), /dropped/);
    renameSync(away, there);
    writeFileSync(beside(site, "works", "go"), "");
    const task = await site.until("works", "review");
    assertDone(site, "works", task);
    assert.equal(task.error, undefined);
  });

  it("is waited for as well when it goes while the server runs, and the work is published then", async () => {
    await using site = await openSite();
    await site.submit("works", { prompt: run(WAITS) });
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    const [there, away] = [site.checkout("shop"), `${site.checkout("shop")}.away`];
    renameSync(there, away);
    writeFileSync(beside(site, "works", "go"), "");
    const waits = await site.until("works", ({ error }) => error !== undefined);
    assert.deepEqual([waits.state, /^it waits for its repository: /.test(waits.error)], ["running", true]);
    renameSync(away, there);
    assertDone(site, "works", await site.until("works", "review"));
  });

  it("does not keep anybody from cancelling", async () => {
    await using site = await openSite();
    await site.submit("works", { prompt: run(`echo half > half.txt; ${WAITS}`) });
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    await site.kill();
    renameSync(site.checkout("shop"), `${site.checkout("shop")}.away`);
    await site.start();
    await site.until("works", ({ error }) => error !== undefined);
    const reply = await site.assign("DELETE", "/assignment/shop/tasks/works");
    assert.deepEqual([reply.status, reply.body.state], [200, "canceled"], reply.text);
    assert.deepEqual(await site.processes(), []);
    const kept = gitIn(join(site.workDir, "stores/shop.git"), "for-each-ref", "--format=%(refname)", "refs/aa");
    assert.match(kept, /^refs\/aa\/works-[0-9a-f]{8}\/1-wip$/);
  });
});
