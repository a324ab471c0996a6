import assert from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import type { PermissionRequest } from "../../src/workshop/agents/agent.ts";
import { closeServer, listen } from "../../src/workshop/sandbox/doors-out.ts";
import { attach, killAttempt, readLog } from "../../src/workshop/supervisor/start.ts";
import { all, eventually, messagesOf, openAttempt, refsOf, SANDBOXES, until } from "../support/workshop-attempt.ts";
import type { Step } from "../support/workshop-agent.ts";
import { killPid } from "../support/kill-pid.ts";

const RUN: PermissionRequest = {
  tool: "Bash",
  input: { command: "npm test" },
  action: "execute",
  resource: "npm test",
};
const STAY = ["/bin/sleep", "777"] as const;
const FOR_EVER: Step = { sleepMs: 3_600_000 };

for (const { sandbox, it } of SANDBOXES) {
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
      assert.deepEqual((lines.at(-1) as { end?: unknown }).end, { kind: "done", summary: "as told" });
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
      const { ref, wish: permission } = await until(lines, "permission");
      assert.deepEqual(permission, RUN);
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
      assert.deepEqual({ end, survivors }, { end: { kind: "canceled" }, survivors: undefined });
      assert.deepEqual(await attempt.processes(), []);
      const log = await readLog(attempt.folder, 0);
      assert.deepEqual(refsOf(log, "decided"), []);
    });

    it("leaves nothing behind of an agent that did its work", async () => {
      await using attempt = await openAttempt({ sandbox });
      const link = await attempt.start([{ start: STAY }, { end: "done" }]);
      const { end } = await until(link.lines(0), "ended");
      assert.equal(end.kind, "done");
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
      assert.deepEqual(end, { kind: "died", error: "it is gone", canResume: true });
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
          "[secret:model]",
          "200 the model's words",
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
        { sayEnv: "MODEL_KEY" },
        { say: `key ${attempt.order.key}` },
        { say: "\u001b]0;owned\u0007\u009b2J" },
        { errors: "\u001b[2J model-key-of-the-operator" },
        { sleepMs: 50 },
        { end: "done" },
      ];
      const link = await attempt.start(steps, { agent, env: { MODEL_KEY: "model-key-of-the-operator" } });
      await all(link.lines(0));
      assert.deepEqual(messagesOf(await readLog(attempt.folder, 0)), [
        "[secret:MODEL_KEY]",
        "key [secret:key]",
        "\\u001b]0;owned\\u0007\\u009b2J",
      ]);
      const written = (await attempt.text("log.ndjson")) + (await attempt.text("raw.log"));
      assert.ok(written.includes("[secret:MODEL_KEY]"));
      for (const secret of ["model-key-of-the-operator", attempt.order.key]) assert.ok(!written.includes(secret));
      assert.doesNotMatch(written, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    });
  });
}
