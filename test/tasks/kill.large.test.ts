import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import {
  appears,
  assertDone,
  beside,
  eventually,
  run,
  sharedSite,
  steps,
  timesOf,
  WAITS,
} from "../support/assign-site.ts";

describe("a server that is killed", () => {
  const shared = sharedSite({
    repos: [{ name: "shop" }, { name: "slow", setup: "if [ ! -e ../go ]; then echo x >> ../times; sleep 777; fi" }],
  });

  for (const point of [
    "attempt-between-job-and-task",
    "attempt-between-commit-and-publish",
    "attempt-between-publish-and-row",
  ]) {
    it(`at the point ${point} has one commit of the task after its next start`, async () => {
      const site = shared();
      await site.stop();
      await site.start(point);
      const prompt = run(`echo ${point} > done.txt; echo x >> ../times`);
      const submit = () =>
        site.assign("POST", "/assignment/shop", { body: { id: point, prompt }, headers: { "idempotency-key": point } });
      await submit().catch(() => undefined);
      assert.equal((await site.run.ended).code, null);
      await site.start();
      // Nothing was acknowledged, so the client submits again, under the same key.
      assert.equal((await submit()).status, 202);
      const task = await site.until(point, "review");
      assertDone(site, point, task);
      assert.equal(site.git("shop", "show", `${task.commit}:done.txt`), point);
      assert.equal(timesOf(site, point), "x\n");
    });
  }

  it("while a tree is set up sets it up again", async () => {
    const site = shared();
    await site.submit("prepares", {}, "slow");
    await site.until("prepares", "preparing", "slow");
    await appears(beside(site, "prepares", "times"));
    await site.kill();
    writeFileSync(beside(site, "prepares", "go"), "");
    await site.start();
    const task = await site.until("prepares", "review", "slow");
    assert.deepEqual([task.attempt, task.attempts.length], [1, 1]);
    assert.deepEqual(await site.processes("prepares"), []);
  });

  it("while an agent works leaves it alone, and goes on with it", async () => {
    const site = shared();
    await site.submit("works", { prompt: run(WAITS) });
    await site.until("works", "running");
    await appears(beside(site, "works", "times"));
    await site.kill();
    await site.start();
    writeFileSync(beside(site, "works", "go"), "");
    const task = await site.until("works", "review");
    assertDone(site, "works", task);
    assert.deepEqual([timesOf(site, "works"), task.attempts[0].resumes], ["x\n", 0]);
  });

  it("is told after its start what an agent did that ended meanwhile", async () => {
    const site = shared();
    await site.submit("ends", { prompt: run(WAITS) });
    await site.until("ends", "running");
    await appears(beside(site, "ends", "times"));
    await site.kill();
    writeFileSync(beside(site, "ends", "go"), "");
    await eventually(
      () => site.log("ends").some(({ type }) => type === "ended"),
      () => "the end of the agent",
    );
    await site.start();
    const task = await site.until("ends", "review");
    assertDone(site, "ends", task);
    assert.deepEqual([timesOf(site, "ends"), task.attempts[0].resumes], ["x\n", 0]);
  });

  it("while a permission is pending finds it again, also when its lease ran out, and nobody is asked twice", async () => {
    const site = shared();
    const prompt = steps({ touch: "half.txt" }, { run: "echo yes >> ran.txt" }, { say: "Done." });
    await site.submit("asks", { agent: "claude", prompt });
    const before = await site.until("asks", ({ question }) => question?.url.includes("/inbox/"));
    await site.kill();
    site.query("UPDATE jobs SET lease_until = 1 WHERE state IN ('RUNNING', 'WAITING_ON_ANSWER') RETURNING 1");
    await site.start();
    const after = await site.until("asks", ({ state }) => state === "awaiting_answer");
    assert.equal(after.question.url.split("/").at(-1), before.question.url.split("/").at(-1));
    const id = before.question.url.split("/").at(-1);
    await site.decide((await site.person("GET", `/people/me/asks/${id}`)).body, { approved: true });
    const task = await site.until("asks", "review");
    assertDone(site, "asks", task);
    assert.equal(site.git("shop", "show", `${task.commit}:ran.txt`), "yes");
    assert.deepEqual([task.asks.length, task.attempts[0].resumes], [1, 0]);
  });

  it("while it ends an agent has ended it after its next start, and publishes nothing", async () => {
    const site = shared();
    const line = "trap '' INT TERM; echo x >> ../times; while :; do sleep 1; done";
    await site.submit("stubborn", { prompt: run(`echo half > half.txt; ${line}`) });
    await site.until("stubborn", "running");
    await appears(beside(site, "stubborn", "times"));
    const cut = site.assign("DELETE", "/assignment/shop/tasks/stubborn").catch(() => "cut off");
    await eventually(
      () => site.query("SELECT 1 FROM task_attempts WHERE id = 'stubborn' AND state = 'ending'").length > 0,
      () => "the end of the attempt",
    );
    await site.kill();
    assert.equal(await cut, "cut off");
    await site.start();
    const { body } = await site.assign("DELETE", "/assignment/shop/tasks/stubborn");
    assert.deepEqual([body.status, body.state], ["error", "canceled"]);
    assert.match(body.error, /^canceled by /);
    assert.deepEqual(await site.processes("stubborn"), []);
    const refs = site.git("shop", "for-each-ref", "--format=%(refname)", "refs/aa", "refs/heads/aa");
    assert.deepEqual(
      refs
        .split("\n")
        .filter((ref) => ref.includes("stubborn"))
        .map((ref) => ref.replace(/-[0-9a-f]{8}/, "")),
      ["refs/aa/stubborn/1-wip"],
    );
  });
});
