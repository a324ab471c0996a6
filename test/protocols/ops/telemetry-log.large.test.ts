import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { pino, type Level } from "pino";
import { readTraceParent } from "../../../src/lib/tracing/traceparent.ts";
import { collector } from "../../support/collector.ts";
import { until } from "../../support/contract.ts";
import { answer, newAsk, openRelayScene, type RelayScene } from "../../support/relay.ts";
import { scriptedLlm, type ScriptedLlm } from "../../support/scripted-llm.ts";
import { DATABASES } from "../../support/world.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;

type Line = Record<string, unknown>;

/** A log that is kept as it would be printed. */
function keptLog(level: Level) {
  const lines: string[] = [];
  const log = pino({ level }, { write: (line: string) => void lines.push(line) });
  return {
    log,
    lines,
    of: ({ ask_id: id }: { ask_id: string }) =>
      lines.map((line) => JSON.parse(line) as Line).filter((line) => line["ask_id"] === id),
  };
}

for (const on of DATABASES) {
  describe(`the log of asks on ${on}`, () => {
    const kept = keptLog("debug");
    let llm: ScriptedLlm;
    let scene: RelayScene;
    before(async () => {
      llm = await scriptedLlm(() => JSON.stringify({ answer: "Forty crowns and a herring.", confidence: 1 }));
      process.env["TEST_MODEL_KEY"] = "sk-of-the-test";
      scene = await openRelayScene(on, {
        log: kept.log,
        env: {
          PARLEY_RUNNER_MODEL: "anthropic/scripted",
          PARLEY_RUNNER_BASE_URL: `${llm.url}/v1`,
          PARLEY_RUNNER_API_KEY_ENV: "TEST_MODEL_KEY",
          PARLEY_LIMITS_CANARIES: "Quokka of Feldberg 7",
        },
      });
    });
    after(async () => {
      await scene[Symbol.asyncDispose]();
      await llm[Symbol.asyncDispose]();
    });
    const post = async (more: Record<string, unknown>, headers: Record<string, string> = {}) => {
      const reply = await scene.ana.call("POST", "/asks", newAsk(more), headers);
      assert.equal(reply.status, 202, reply.text);
      return {
        ask: reply.body as { ask_id: string; job_id: string; step_id: string },
        requestId: reply.headers.get("x-request-id"),
      };
    };
    const linesOf = (ask: { ask_id: string }, count: number) =>
      until(async () => (kept.of(ask).length >= count ? kept.of(ask) : undefined));

    it("has a line for each step of an ask, all of them with its ids", async () => {
      const { ask } = await post({ prompt: "What is it?" }, { traceparent: PARENT });
      await scene.answerTo(ask);
      const lines = await linesOf(ask, 6);
      const { ask_id, job_id, step_id } = ask;
      const [requestId] = lines.map((line) => line["request_id"]);
      assert.match(String(requestId), /^req/);
      for (const line of lines) {
        assert.deepEqual(
          [line["ask_id"], line["job_id"], line["step_id"], line["trace_id"], line["request_id"]],
          [ask_id, job_id, step_id, TRACE, requestId],
        );
        assert.equal(line["level"], pino.levels.values["debug"]);
      }
      const told = lines.map(({ msg, stage, outcome }) => [msg, stage, outcome]);
      for (const [stage, outcome] of [
        ["intake", "accepted"],
        ["policy", "ALLOW"],
        ["cache", "missed"],
        ["runner", "the model answered"],
      ])
        assert.ok(
          told.some((one) => one[0] === "a stage was passed" && one[1] === stage && one[2] === outcome),
          JSON.stringify(told),
        );
      const asked = lines.find(({ msg }) => msg === "an ask came");
      assert.deepEqual([asked?.["prompt"], asked?.["ask_type"]], ["What is it?", "CLARIFICATION"]);
      const ended = lines.find(({ msg }) => msg === "an ask was answered");
      assert.deepEqual([ended?.["status"], ended?.["source"], ended?.["stage"]], ["ANSWERED", "runner", "runner"]);
    });

    it("says at a higher level what people have a part in, and what failed", async () => {
      const dana = await scene.person();
      const { ask } = await post({ ask_type: "APPROVAL", meta: { action: "deploy" } });
      const addressed = await scene.withPeople(ask);
      await dana.decide(addressed, { approved: true });
      const byKey = await post({ ask_type: "APPROVAL", meta: { action: "fly" } });
      await scene.withPeople(byKey.ask);
      const given = await answer(dana.by, byKey.ask, { answer_json: { approved: true } });
      assert.equal(given.status, 202, given.text);
      const wrong = await post({ context_hash: "0".repeat(64) });
      await scene.answerTo(wrong.ask);
      for (const [one, says] of [
        [ask, ["an ask was put to people", "an ask was answered"]],
        [byKey.ask, ["an ask was put to people", "an ask was answered"]],
        [wrong.ask, ["an ask was answered"]],
      ] as const) {
        const info = kept.of(one).filter(({ level }) => level === pino.levels.values["info"]);
        assert.deepEqual(
          info.map(({ msg }) => msg),
          says,
        );
        const traces = new Set(kept.of(one).map((line) => line["trace_id"]));
        assert.equal(traces.size, 1);
        assert.match(String([...traces][0]), /^[0-9a-f]{32}$/);
      }
      // The person's decision is a request of its own.
      const [put, ended] = kept.of(ask).filter(({ level }) => level === pino.levels.values["info"]);
      assert.ok(put?.["request_id"] && ended?.["request_id"] && put["request_id"] !== ended["request_id"]);
    });

    it("holds no whole prompt, no answer and no secret", async () => {
      const token = `ghp_${"Ab3dE5gH7jK9mN1pQ3sT"}${"uV5xY7zA9bC1dE3f"}`;
      const prompt = `${"Tell me a story. ".repeat(11)} The key is ${token} and the Quokka of Feldberg 7. ${"More. ".repeat(2000)}`;
      const { ask } = await post({
        prompt,
        meta: { resource: "the secret shelf", note: `password=${token}`, input: { hidden: "under the stone" } },
      });
      await scene.answerTo(ask);
      await linesOf(ask, 6);
      const asked = kept.of(ask).find(({ msg }) => msg === "an ask came");
      const shown = String(asked?.["prompt"]);
      assert.equal([...shown].length, 200);
      assert.match(shown, /^Tell me a story\. /);
      const all = kept.lines.join("");
      for (const word of [
        token,
        token.slice(0, 12),
        "Quokka",
        "herring",
        "secret shelf",
        "under the stone",
        "sk-of-the",
      ])
        assert.ok(!all.includes(word), word);
    });
  });
}

describe("telemetry", () => {
  it("harms nothing where the collector refuses or is not there", async () => {
    await using refusing = await collector(500);
    const gone = await collector();
    await gone[Symbol.asyncDispose]();
    for (const { url } of [refusing, gone]) {
      const kept = keptLog("info");
      const scene = await openRelayScene("sqlite", { log: kept.log, env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
      try {
        const ask = await scene.ask({ context_hash: "0".repeat(64) });
        assert.equal((await scene.answerTo(ask)).error_code, "E_CONTEXT_MISMATCH");
        if (url === refusing.url)
          await until(async () => kept.lines.some((line) => line.includes("the collector did not take spans")));
        await scene.answerTo(await scene.ask({ context_hash: "0".repeat(64) }));
      } finally {
        await scene[Symbol.asyncDispose]();
      }
    }
    assert.ok(refusing.requests.length > 0);
  });

  it("loads nothing where no collector is set, and says what is missing where it is not installed", async () => {
    const dir = mkdtempSync(join(tmpdir(), "parley-loaded-"));
    const program = `
      import { registerHooks } from "node:module";
      const seen = [];
      registerHooks({ resolve(specifier, context, next) {
        // What counts for Prometheus loads the bare interface.
        if (!specifier.startsWith("@opentelemetry/") || specifier === "@opentelemetry/api") return next(specifier, context);
        seen.push(specifier);
        if (process.env.MISSING) throw Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" });
        return next(specifier, context);
      } });
      const { loadConfig } = await import("${new URL("../../../src/config/config.ts", import.meta.url).href}");
      const { startServer } = await import("${new URL("../../../src/server/server.ts", import.meta.url).href}");
      const { pino } = await import("pino");
      let says = null;
      try {
        const server = await startServer(loadConfig({ env: process.env }), { log: pino({ level: "fatal" }) });
        await server.stop();
      } catch (error) { says = error.message; }
      console.log(JSON.stringify({ loaded: seen.length, says }));
    `;
    const run = async (env: Record<string, string>): Promise<unknown> => {
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
        cwd: new URL("../../..", import.meta.url).pathname,
        env: { PATH: process.env["PATH"], HOME: dir, PARLEY_DATA_DIR: dir, PARLEY_PORT: "0", ...env },
      });
      return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    };
    try {
      assert.deepEqual(await run({}), { loaded: 0, says: null });
      const url = { PARLEY_TELEMETRY_OTLP_URL: "http://127.0.0.1:9" };
      const loaded = (await run(url)) as { loaded: number; says: unknown };
      assert.ok(loaded.loaded > 0 && loaded.says === null, JSON.stringify(loaded));
      const { says } = (await run({ ...url, MISSING: "1" })) as { says: string };
      assert.equal(
        says,
        "telemetry.otlp_url is set, but OpenTelemetry is not installed; run npm install with Node 22 or newer, and without --omit=optional.",
      );
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("reads a traceparent as the W3C has it", () => {
    const [id, span] = [TRACE, "b7ad6b7169203331"];
    const read = { traceId: id, spanId: span };
    assert.deepEqual(readTraceParent(PARENT), { ...read, isSampled: true });
    assert.deepEqual(readTraceParent(`00-${id}-${span}-00`), { ...read, isSampled: false });
    assert.deepEqual(readTraceParent(`01-${id}-${span}-03-more`), { ...read, isSampled: true });
    for (const wrong of [
      "",
      "nonsense",
      `00-${id}-${span}`,
      `00-${id}-${span}-01-more`,
      `ff-${id}-${span}-01`,
      ` ${PARENT}`,
      `00-${id.toUpperCase()}-${span}-01`,
      `00-${"0".repeat(32)}-${span}-01`,
      `00-${id}-${"0".repeat(16)}-01`,
      `00-${id.slice(1)}-${span}-01`,
      undefined,
      null,
      7,
      [PARENT],
    ])
      assert.equal(readTraceParent(wrong), null, String(wrong));
  });
});
