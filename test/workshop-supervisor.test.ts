import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFile, stat, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../src/lib/clock.ts";
import type { PermissionWish } from "../src/workshop/agents/agent.ts";
import { closeServer, listen } from "../src/workshop/doors-out.ts";
import { openSupervisorLog } from "../src/workshop/supervisor-log.ts";
import { attach, killAttempt, readLog } from "../src/workshop/supervise.ts";
import type { SupervisorLine } from "../src/workshop/supervision.ts";
import { all, eventually, killPid, openAttempt, SANDBOXES, until } from "./workshop-attempt.ts";
import type { Step } from "./workshop-agent.ts";

const RUN: PermissionWish = { tool: "Bash", input: { command: "npm test" }, action: "execute", resource: "npm test" };
const STAY = ["/bin/sleep", "777"] as const;
const FOR_EVER: Step = { sleepMs: 3_600_000 };

for (const sandbox of SANDBOXES) {
  describe(`a supervisor, sandbox ${sandbox}`, { concurrency: 3 }, () => {
    it("numbers what happens, and tells it again to whoever attaches later", async () => {
      await using attempt = await openAttempt({ sandbox });
      const link = await attempt.start([{ say: "one" }, { permission: RUN }, { say: "two" }, { end: "done" }]);
      const asked = await until(link.lines(0), "permission");
      link.close();

      const again = await attach(attempt.folder);
      assert.ok(!("dead" in again));
      again.decide(asked.ref, { allow: true });
      const lines = await all(again.lines(0));
      again.close();

      assert.deepEqual(
        lines.map(({ seq }) => seq),
        lines.map((_, i) => i + 1),
      );
      const types = ["started", "session", "message", "permission", "decided", "message", "message", "ended"];
      assert.deepEqual(
        lines.map(({ type }) => type),
        types,
      );
      assert.deepEqual(await readLog(attempt.folder, 0), lines);
      assert.deepEqual((lines.at(-1) as { end?: unknown }).end, { is: "done", summary: "as told" });
      await eventually(async () => "dead" in (await attach(attempt.folder)));
    });

    it("takes a decision once, however often it is said and whoever was there when it was asked", async () => {
      await using attempt = await openAttempt({ sandbox });
      const question = { text: "Which port?", options: [{ label: "80" }, { label: "81" }] };
      const link = await attempt.start([{ permission: RUN }, { question }, { end: "done" }]);
      link.close();
      await eventually(async () => (await attempt.text("log.ndjson")).includes('"permission"'));

      const later = await attach(attempt.folder);
      assert.ok(!("dead" in later));
      const lines = later.lines(0);
      const { ref, wish } = await until(lines, "permission");
      assert.deepEqual(wish, RUN);
      later.decide("r999", { allow: true });
      later.decide(ref, { text: "an answer is no decision" });
      for (const why of ["not today", "nor tomorrow"]) later.decide(ref, { allow: false, why });
      const asked = await until(lines, "question");
      later.decide(asked.ref, { text: "81", by: "Dana" });
      await all(lines);

      const log = await readLog(attempt.folder, 0);
      assert.deepEqual(refsOf(log, "decided"), [ref, asked.ref]);
      assert.deepEqual(messagesOf(log), ['{"allow":false,"why":"not today"}', '{"text":"81","by":"Dana"}']);
    });

    it("ends an agent that heeds nothing, and all it started, before it says so", async () => {
      await using attempt = await openAttempt({ sandbox });
      const link = await attempt.start([{ heed: "nothing" }, { start: STAY }, { permission: RUN }, FOR_EVER]);
      const lines = link.lines(0);
      await until(lines, "permission");
      assert.ok((await attempt.processes()).length >= 2);
      link.cancel();
      link.cancel();
      const { end, survivors } = await until(lines, "ended");
      assert.deepEqual({ end, survivors }, { end: { is: "canceled" }, survivors: undefined });
      assert.deepEqual(await attempt.processes(), []);
      const log = await readLog(attempt.folder, 0);
      assert.deepEqual(refsOf(log, "decided"), []);
    });

    it("leaves nothing behind of an agent that did its work", async () => {
      await using attempt = await openAttempt({ sandbox });
      const link = await attempt.start([{ start: STAY }, { end: "done" }]);
      const { end } = await until(link.lines(0), "ended");
      assert.equal(end.is, "done");
      assert.deepEqual(await attempt.processes(), []);
    });

    it("says that an agent died which was killed", async () => {
      await using attempt = await openAttempt({ sandbox });
      const link = await attempt.start([{ say: "here" }, FOR_EVER]);
      const lines = link.lines(0);
      const { pid } = await until(lines, "started");
      await until(lines, "message");
      process.kill(pid, "SIGKILL");
      const { end } = await until(lines, "ended");
      assert.deepEqual(end, { is: "died", error: "it is gone", canResume: true });
      assert.deepEqual(await attempt.processes(), []);
    });

    it("is missed when it is killed; what it said stands, and its agent can be found", async () => {
      await using attempt = await openAttempt({ sandbox });
      const link = await attempt.start([{ start: STAY }, { permission: RUN }, FOR_EVER]);
      const lines = link.lines(0);
      const { ref } = await until(lines, "permission");
      await killPid(link.pid);
      assert.deepEqual(await all(lines), []);
      assert.deepEqual(await attach(attempt.folder), { dead: true, reason: "its process is gone" });
      assert.deepEqual(refsOf(await readLog(attempt.folder, 0), "permission"), [ref]);

      if (sandbox === "bubblewrap") await eventually(async () => (await attempt.processes()).length === 0);
      else assert.notDeepEqual(await attempt.processes(), []);
      assert.deepEqual(await killAttempt(attempt.order.attemptId, { clock: systemClock }), { survivors: [] });
      assert.deepEqual(await attempt.processes(), []);
    });

    it("adds the model's key on the way to the model, where the agent is not to have it", async () => {
      await using attempt = await openAttempt({ sandbox });
      const asked: string[] = [];
      const model = createHttpServer((request, reply) => {
        asked.push(`${request.method} ${request.url} ${request.headers["x-api-key"]}`);
        request.resume();
        reply.end("the model's words");
      });
      await listen(model, { host: "127.0.0.1", port: 0 });
      try {
        const { port } = model.address() as AddressInfo;
        const key = "model-key-of-the-operator";
        const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}/base` };
        const agent = { ...attempt.order.agent, type: "claude" as const, passEnv: Object.keys(env), keyProxy: true };
        const steps: Step[] = [{ post: "/v1/messages?beta=true" }, { post: "/v1/messages", key }, { end: "done" }];
        const link = await attempt.start([{ sayEnv: "ANTHROPIC_API_KEY" }, ...steps], { agent, env });
        await all(link.lines(0));
        assert.deepEqual(messagesOf(await readLog(attempt.folder, 0)), [
          ...["[secret:model]", "200 the model's words"],
          '401 {"error":{"message":"This address serves one agent only."}}',
        ]);
        assert.deepEqual(asked, [`POST /base/v1/messages?beta=true ${key}`]);
      } finally {
        await closeServer(model);
      }
    });

    it("writes no secret of the attempt down, and nothing that steers a terminal", async () => {
      await using attempt = await openAttempt({ sandbox });
      const agent = { ...attempt.order.agent, passEnv: ["MODEL_KEY"] };
      const steps: Step[] = [
        ...[{ sayEnv: "MODEL_KEY" }, { say: `key ${attempt.order.key}` }],
        ...[
          { say: "\u001b]0;owned\u0007\u009b2J" },
          { errors: "\u001b[2J model-key-of-the-operator" },
          { sleepMs: 50 },
        ],
        { end: "done" },
      ];
      const link = await attempt.start(steps, { agent, env: { MODEL_KEY: "model-key-of-the-operator" } });
      await all(link.lines(0));
      assert.deepEqual(messagesOf(await readLog(attempt.folder, 0)), [
        ...["[secret:MODEL_KEY]", "key [secret:key]"],
        "\\u001b]0;owned\\u0007\\u009b2J",
      ]);
      const written = (await attempt.text("log.ndjson")) + (await attempt.text("raw.log"));
      assert.ok(written.includes("[secret:MODEL_KEY]"));
      for (const secret of ["model-key-of-the-operator", attempt.order.key]) assert.ok(!written.includes(secret));
      assert.doesNotMatch(written, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    });
  });
}

describe("a supervisor", { concurrency: 3 }, () => {
  it("outlives the signals that stop servers and terminals", async () => {
    await using attempt = await openAttempt();
    const link = await attempt.start([{ permission: RUN }, { end: "done" }]);
    const lines = link.lines(0);
    const { ref } = await until(lines, "permission");
    for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.kill(link.pid, signal);
    assert.ok(!("dead" in (await attach(attempt.folder))));
    link.decide(ref, { allow: true });
    assert.equal((await until(lines, "ended")).end.is, "done");
  });

  it("goes on when whoever started it is killed with its whole group", async () => {
    await using attempt = await openAttempt();
    await attempt.startAndDie([{ permission: RUN }, { end: "done" }]);
    const link = await attach(attempt.folder);
    assert.ok(!("dead" in link));
    const lines = link.lines(0);
    link.decide((await until(lines, "permission")).ref, { allow: true });
    assert.equal((await until(lines, "ended")).end.is, "done");
    link.close();
  });

  it("writes what cannot be seen down as it is, and so that no terminal heeds it", async () => {
    await using attempt = await openAttempt();
    const log = openSupervisorLog(attempt.folder, () => 1);
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
    let told = "";
    stranger.on("data", (part: Buffer) => (told += part.toString()));
    stranger.write(`${JSON.stringify({ say: "attach", token: "guessed", after: 0 })}\n`);
    stranger.write(`${JSON.stringify({ say: "decide", ref, decision: { allow: true } })}\n`);
    await once(stranger, "close");
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
    assert.equal((await until(lines, "ended")).end.is, "done");

    for (const [steps, over, error] of [
      [[FOR_EVER], { silentMs: 300 }, "The agent said nothing for 300 ms."],
      [[FOR_EVER], { workMs: 300 }, "The agent worked for 300 ms, which is the limit."],
      [[{ turns: 2 }, { turns: 3 }, FOR_EVER], {}, "The agent took more than 2 turns, which is the limit."],
    ] as const) {
      await using stopped = await openAttempt();
      const started = await stopped.start(steps, { limits: { ...limits, silentMs: 60_000, ...over } });
      const { end, usage } = await until(started.lines(0), "ended");
      assert.deepEqual(end, { is: "failed", error });
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
    assert.ok(end.is === "failed");
    assert.match(end.error, /no steps/);

    await using keyless = await openAttempt();
    const agent = { ...keyless.order.agent, type: "codex" as const, keyProxy: true };
    const refused = await until((await keyless.start([], { agent })).lines(0), "ended");
    assert.deepEqual(refused.end, { is: "failed", error: "agents.steps.key_proxy is for claude and gemini only" });
  });
});

function refsOf(lines: readonly SupervisorLine[], type: "permission" | "decided"): string[] {
  return lines.flatMap((line) => (line.type === type ? [line.ref] : []));
}

function messagesOf(lines: readonly SupervisorLine[]): string[] {
  return lines.flatMap((line) => (line.type === "message" ? [line.text] : []));
}
