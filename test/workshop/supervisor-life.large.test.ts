import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFile, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import type { PermissionRequest } from "../../src/workshop/agents/agent.ts";
import { isAlive, starttimeOf } from "../../src/workshop/sandbox/processes.ts";
import { openSupervisorLog } from "../../src/workshop/supervisor/log.ts";
import { attach, killAttempt, readLog } from "../../src/workshop/supervisor/start.ts";
import { all, eventually, messagesOf, openAttempt, refsOf, until } from "../support/workshop-attempt.ts";
import type { Step } from "../support/workshop-agent.ts";
import { killPid } from "../support/kill-pid.ts";

const RUN: PermissionRequest = {
  tool: "Bash",
  input: { command: "npm test" },
  action: "execute",
  resource: "npm test",
};
const FOR_EVER: Step = { sleepMs: 3_600_000 };

describe("a supervisor", { concurrency: 3 }, () => {
  it("outlives the signals that stop servers and terminals", async () => {
    await using attempt = await openAttempt();
    const link = await attempt.start([{ permission: RUN }, { end: "done" }]);
    const lines = link.lines(0);
    const { ref } = await until(lines, "permission");
    for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.kill(link.pid, signal);
    assert.ok(!("dead" in (await attach(attempt.folder))));
    link.decide(ref, { allow: true });
    assert.equal((await until(lines, "ended")).end.kind, "done");
  });

  it("goes on when whoever started it is killed with its whole group", async () => {
    await using attempt = await openAttempt();
    await attempt.startAndDie([{ permission: RUN }, { end: "done" }]);
    const link = await attach(attempt.folder);
    assert.ok(!("dead" in link));
    const lines = link.lines(0);
    link.decide((await until(lines, "permission")).ref, { allow: true });
    assert.equal((await until(lines, "ended")).end.kind, "done");
    link.close();
  });

  it("ends its agent, and goes, when its folder is deleted", async () => {
    await using attempt = await openAttempt();
    const { pid } = await attempt.start([{ permission: RUN }, FOR_EVER]);
    await eventually(async () => (await attempt.processes()).length > 0);
    await rm(attempt.folder, { recursive: true, force: true });
    const starttime = starttimeOf(pid);
    await eventually(async () => !isAlive(pid, starttime));
    assert.deepEqual(await attempt.processes(), []);
  });

  it("writes what cannot be seen down as it is, and so that no terminal heeds it", async () => {
    await using attempt = await openAttempt();
    const log = openSupervisorLog(
      attempt.folder,
      () => 1,
      () => {},
    );
    const input = { command: "echo \u001b[2J\u009b2J\u202e\u{e0041}\ud800\u007f" };
    log.append({ type: "permission", ref: "r1", wish: { ...RUN, input } });
    log.close();
    assert.doesNotMatch(await attempt.text("log.ndjson"), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u{e0041}]/u);
    const [line] = await readLog(attempt.folder, 0);
    assert.deepEqual(line, { seq: 1, at: 1, type: "permission", ref: "r1", wish: { ...RUN, input } });
  });

  it("lets nobody in without its token, and keeps its order and its log to itself", async () => {
    await using attempt = await openAttempt();
    const link = await attempt.start([{ permission: RUN }, { end: "done" }]);
    const { ref } = await until(link.lines(0), "permission");
    const { socket } = await attempt.mark();
    const stranger = connect({ path: socket });
    await once(stranger, "connect");
    // It may be shown out between its two lines: then the second one has nowhere to go.
    stranger.on("error", () => {});
    const shownOut = new Promise((resolve) => stranger.once("close", resolve));
    let told = "";
    stranger.on("data", (part: Buffer) => (told += part.toString()));
    stranger.write(`${JSON.stringify({ say: "attach", token: "guessed", after: 0 })}\n`);
    stranger.write(`${JSON.stringify({ say: "decide", ref, decision: { allow: true } })}\n`);
    await shownOut;
    assert.equal(told, "");
    assert.deepEqual(refsOf(await readLog(attempt.folder, 0), "decided"), []);
    await assert.rejects(attempt.text("order.json"), { code: "ENOENT" });
    for (const name of ["log.ndjson", "raw.log", "supervisor.json", "supervisor.out"]) {
      assert.equal((await stat(join(attempt.folder, name))).mode & 0o077, 0, name);
    }
  });

  it("stops the clocks of its limits while people are waited for, and only then", async () => {
    await using attempt = await openAttempt();
    const limits = { workMs: 60_000, silentMs: 3000, turns: 2, maxBudgetUsd: null };
    const link = await attempt.start([{ permission: RUN }, { end: "done" }], { limits });
    const lines = link.lines(0);
    const { ref } = await until(lines, "permission");
    await systemClock.sleep(4000);
    link.decide(ref, { allow: true });
    assert.equal((await until(lines, "ended")).end.kind, "done");

    for (const [steps, over, error] of [
      [[FOR_EVER], { silentMs: 300 }, "The agent said nothing for 300 ms."],
      [[FOR_EVER], { workMs: 300 }, "The agent worked for 300 ms, which is the limit."],
      [[{ turns: 2 }, { turns: 3 }, FOR_EVER], {}, "The agent took more than 2 turns, which is the limit."],
    ] as const) {
      await using stopped = await openAttempt();
      const started = await stopped.start(steps, { limits: { ...limits, silentMs: 60_000, ...over } });
      const { end, usage } = await until(started.lines(0), "ended");
      assert.deepEqual(end, { kind: "failed", error });
      assert.ok(usage?.workMs !== undefined);
    }
  });

  it("goes on with the numbers of one that died within a line", async () => {
    await using attempt = await openAttempt();
    const first = await attempt.start([{ say: "one" }, FOR_EVER]);
    await until(first.lines(0), "message");
    await killPid(first.pid);
    await appendFile(join(attempt.folder, "log.ndjson"), '{"seq":4,"at":1,"type":"mess');
    await killAttempt(attempt.order.attemptId, { clock: systemClock });

    const second = await attempt.start([{ say: "two" }, { end: "done" }]);
    const lines = await all(second.lines(3));
    assert.deepEqual(
      lines.map(({ seq, type }) => `${seq} ${type}`),
      ["4 started", "5 session", "6 message", "7 ended"],
    );
    assert.deepEqual(messagesOf(await readLog(attempt.folder, 0)), ["one", "two"]);
  });

  it("is one, however many were started at once", async () => {
    await using attempt = await openAttempt();
    const links = await Promise.all([1, 2, 3].map(() => attempt.start([{ permission: RUN }, { end: "done" }])));
    const [first] = links;
    assert.ok(first);
    assert.deepEqual(new Set(links.map(({ pid }) => pid)), new Set([first.pid]));
    const lines = first.lines(0);
    const { ref } = await until(lines, "permission");
    for (const link of links) link.decide(ref, { allow: true });
    const told = await all(lines);
    assert.deepEqual(
      told.map(({ type }) => type),
      ["decided", "message", "ended"],
    );
  });

  it("says why, when the agent cannot be started or runs in no jail it was to run in", async () => {
    await using attempt = await openAttempt();
    await writeFile(join(attempt.folder, "tree", "note"), "");
    const link = await attempt.start([], { message: "no steps" });
    const { end } = await until(link.lines(0), "ended");
    assert.ok(end.kind === "failed");
    assert.match(end.error, /no steps/);

    await using keyless = await openAttempt();
    const agent = { ...keyless.order.agent, type: "codex" as const, keyProxy: true };
    const refused = await until((await keyless.start([], { agent })).lines(0), "ended");
    assert.deepEqual(refused.end, { kind: "failed", error: "agents.steps.key_proxy is for claude and gemini only" });
  });
});
