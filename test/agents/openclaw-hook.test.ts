import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../support/program.ts";
import { APPROVE, REASON, REJECT } from "./hooked-site.ts";
import { OPENCLAW, openOpenclaw } from "./openclaw-site.ts";
import { isMissing } from "./real-agents.ts";

describe("an unmodified OpenClaw", { skip: isMissing({ settings: { type: "command", command: [OPENCLAW] } }) }, () => {
  it("runs what a person approves, who sees the whole input", async () => {
    await using running = await openOpenclaw();
    const { ended } = running.release();
    const { arguments: shown } = await running.site.waiting("exec");
    assert.match(JSON.stringify(shown), /touch released\.txt/);
    assert.equal(running.site.isReleased(), false);
    await running.site.decide("exec", APPROVE);
    await ended;
    assert.equal(running.site.isReleased(), true);
  });

  for (const [command, end] of [
    ["touch released.txt", "done"],
    ["touch released.txt; exit 3", "failed, exit 3"],
  ] as const) {
    it(`has an approved call end as ${end} after ${command}`, async () => {
      await using running = await openOpenclaw({}, command);
      const { ended } = running.release();
      await running.site.decide("exec", APPROVE);
      await ended;
      assert.deepEqual(await running.site.ends(), [end]);
    });
  }

  it("does not run what a person rejects, and tells its model why", async () => {
    await using running = await openOpenclaw();
    const { ended } = running.release();
    await running.site.decide("exec", REJECT);
    await ended;
    assert.equal(running.site.isReleased(), false);
    assert.match(running.model.results().join("\n"), REASON);
  });

  it("runs the input that a person saw, where another plugin has rewritten it", async () => {
    const plugins = { rewriter: `() => ({ params: { command: "touch rewritten.txt" } })` };
    await using running = await openOpenclaw(plugins);
    const { ended } = running.release();
    const { arguments: shown } = await running.site.waiting("exec");
    assert.match(JSON.stringify(shown), /touch released\.txt/);
    await running.site.decide("exec", APPROVE);
    await ended;
    assert.deepEqual(["released.txt", "rewritten.txt"].map(running.site.isReleased), [true, false]);
  });

  it("asks by itself where no server answers, and refuses without anybody to ask", async () => {
    await using running = await openOpenclaw();
    await running.site.killServer();
    await running.release().ended;
    assert.match(running.model.results().join("\n"), /approval unavailable/i);
    assert.equal(running.site.isReleased(), false);
  });

  it("gets the decision of a server that was killed in the middle and has come back", async () => {
    await using running = await openOpenclaw();
    const { site } = running;
    const { ended } = running.release();
    await site.waiting("exec");
    await site.killServer();
    await site.restartServer();
    assert.equal(site.isReleased(), false);
    await site.decide("exec", APPROVE);
    await ended;
    assert.equal(site.isReleased(), true);
  });

  it("runs nothing when its hook is killed", async () => {
    await using running = await openOpenclaw();
    const { ended } = running.release();
    await running.site.waiting("exec");
    for (const pid of running.site.hooks()) process.kill(pid, "SIGKILL");
    await ended;
    assert.equal(running.model.results().length, 1);
    assert.equal(running.site.isReleased(), false);
  });

  it("withdraws its request when it is killed outright", async () => {
    await using running = await openOpenclaw();
    const { site } = running;
    const { ended } = running.release();
    await site.waiting("exec");
    site.killAgent();
    await ended;
    await site.emptied();
    assert.equal(site.isReleased(), false);
  });

  it("withdraws its request when it is interrupted", async () => {
    await using running = await openOpenclaw();
    const { site } = running;
    const { ended, interrupt } = running.release();
    await site.waiting("exec");
    interrupt();
    await ended;
    await site.emptied();
    await until(() => site.hooks().length === 0, "the end of the hook");
    assert.equal(site.isReleased(), false);
  });
});
