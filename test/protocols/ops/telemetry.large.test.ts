import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { collector, type Collector, type CollectedSpan } from "../../support/collector.ts";
import { claim, freshKind } from "../../support/jobs.ts";
import { newAnswer, newAsk, openRelayScene, type RelayScene } from "../../support/relay.ts";
import { scriptedLlm, type LlmRequest, type Line, type ScriptedLlm } from "../../support/scripted-llm.ts";
import { DATABASES } from "../../support/world.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const KEY = "key of the collector, kept secret";
const PROMPT = "What does our zeppelin cost per hour?";
const SAID = "Forty crowns and a herring.";

for (const on of DATABASES) {
  describe(`traces of asks on ${on}`, () => {
    let heard: Collector;
    let llm: ScriptedLlm;
    let scene: RelayScene;
    let script: (heard: LlmRequest) => Line = () => "";
    before(async () => {
      heard = await collector();
      llm = await scriptedLlm((said) => script(said));
      process.env["TEST_MODEL_KEY"] = "sk-of-the-test";
      process.env["TEST_COLLECTOR_HEADERS"] = `x-collector-key=${encodeURIComponent(KEY)}`;
      scene = await openRelayScene(on, {
        env: {
          PARLEY_RUNNER_MODEL: "anthropic/scripted",
          PARLEY_RUNNER_BASE_URL: `${llm.url}/v1`,
          PARLEY_RUNNER_API_KEY_ENV: "TEST_MODEL_KEY",
          PARLEY_TELEMETRY_HEADERS_ENV: "TEST_COLLECTOR_HEADERS",
          PARLEY_TELEMETRY_OTLP_URL: `${heard.url}/`,
          PARLEY_TELEMETRY_SERVICE_NAME: "parley-of-the-test",
        },
      });
    });
    after(async () => {
      await scene[Symbol.asyncDispose]();
      await llm[Symbol.asyncDispose]();
      await heard[Symbol.asyncDispose]();
    });

    const ofAsk =
      ({ ask_id: id }: { ask_id: string }) =>
      ({ attributes }: CollectedSpan) =>
        attributes["parley.ask_id"] === id;
    async function post(more: Record<string, unknown>, headers: Record<string, string> = {}) {
      const reply = await scene.ana.call("POST", "/asks", newAsk(more), headers);
      assert.equal(reply.status, 202, reply.text);
      return reply.body as { ask_id: string; job_id: string; step_id: string };
    }
    const named = (spans: CollectedSpan[], name: string): CollectedSpan =>
      spans.find((span) => span.name === name) ?? assert.fail(`there is no ${name}`);

    it("are told of every stage, under the span of whoever asked", async () => {
      script = ({ results }) =>
        results.length === 0
          ? { calls: [{ name: "code_run", args: { code: "20 + 20" } }] }
          : JSON.stringify({ answer_text: SAID });
      const traceparent = `00-${TRACE}-${CALLER}-01`;
      const ask = await post({ ask_type: "RESOURCE_FETCH", prompt: PROMPT }, { traceparent });
      assert.equal((await scene.answerTo(ask)).answer_text, SAID);

      const spans = await heard.heard(ofAsk(ask), 5);
      const whole = named(spans, "parley.ask");
      assert.deepEqual([whole.traceId, whole.parentSpanId, whole.error], [TRACE, CALLER, undefined]);
      const parts = ["policy.evaluate", "cache.lookup", "tool.call", "runner.run"];
      assert.deepEqual(spans.map(({ name }) => name).sort(), ["parley.ask", ...parts].sort());
      for (const name of parts) {
        const { traceId, parentSpanId, from, to } = named(spans, name);
        assert.deepEqual([traceId, parentSpanId], [TRACE, whole.spanId]);
        assert.ok(from <= to && to - from < 60_000, name);
      }
      assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, 5);
      const { attributes } = named(spans, "runner.run");
      assert.deepEqual(
        [attributes["parley.model"], attributes["parley.tokens_in"], attributes["parley.tokens_out"]],
        ["anthropic/scripted", 200, 40],
      );
      assert.equal(named(spans, "tool.call").attributes["parley.tool"], "code.run");
      assert.equal(named(spans, "cache.lookup").attributes["parley.outcome"], "missed");
      const { job_id, step_id } = ask;
      assert.deepEqual(
        ["job_id", "step_id", "ask_type", "source", "status", "model"].map((key) => whole.attributes[`parley.${key}`]),
        [job_id, step_id, "RESOURCE_FETCH", "runner", "ANSWERED", "anthropic/scripted"],
      );

      const again = await post({ ask_type: "RESOURCE_FETCH", prompt: PROMPT, meta: { traceparent } });
      assert.equal((await scene.answerTo(again)).source, "cache");
      const fromCache = await heard.heard(ofAsk(again), 3);
      assert.equal(named(fromCache, "cache.lookup").attributes["parley.outcome"], "hit");
      assert.deepEqual(named(fromCache, "parley.ask").parentSpanId, CALLER);
      assert.ok(!fromCache.some(({ name }) => name === "runner.run"));
    });

    it("belong to the job where no caller is told of, or what is told is none", async () => {
      script = () => JSON.stringify({ answer: "Ask me something easier.", confidence: 1 });
      const kind = freshKind();
      await scene.queue({ kind });
      const { id, lease } = await claim(scene.ana, kind);
      const headers = { "parley-lease": lease, traceparent: `00-${"0".repeat(32)}-${CALLER}-01` };
      const ask = await post({ job_id: id, meta: { traceparent: "nonsense" } }, headers);
      await scene.answerTo(ask);
      const pending = await post(
        { job_id: id, ask_type: "APPROVAL", meta: { action: "fly" } },
        { "parley-lease": lease },
      );
      await scene.withPeople(pending);
      await scene.world.advance(5000);
      const ended = await scene.planner.post(`/jobs/${id}/cancel`, {});
      assert.equal(ended.status, 200, ended.text);

      const [job] = await heard.heard(
        ({ name, attributes }) => name === "parley.job" && attributes["parley.job_id"] === id,
      );
      assert.ok(job);
      assert.equal(job.parentSpanId, undefined);
      assert.deepEqual([job.attributes["parley.job_state"], job.attributes["parley.job_kind"]], ["CANCELED", kind]);
      assert.ok(job.to - job.from >= 5000);
      const answered = named(await heard.heard(ofAsk(ask), 4), "parley.ask");
      assert.deepEqual([answered.traceId, answered.parentSpanId], [job.traceId, job.spanId]);
      const spans = await heard.heard(ofAsk(pending), 3);
      const closed = named(spans, "parley.ask");
      assert.deepEqual([closed.traceId, closed.parentSpanId, closed.error], [job.traceId, job.spanId, "E_CANCELED"]);
      const { from, to } = named(spans, "human.wait");
      assert.ok(closed.from <= from && to === closed.to && to - from >= 4000);
    });

    it("are not made where whoever asked makes none, and never have words or secrets in them", async () => {
      script = () => JSON.stringify({ answer: SAID, confidence: 1 });
      const unseen = await post({ prompt: `${PROMPT} Roughly?` }, { traceparent: `00-${TRACE}-${CALLER}-00` });
      await scene.answerTo(unseen);
      const seen = await post({ prompt: `${PROMPT} Exactly?` });
      await scene.answerTo(seen);
      await heard.heard(ofAsk(seen), 4);
      assert.deepEqual(heard.spans().filter(ofAsk(unseen)), []);

      const all = heard.requests.map(({ text }) => text).join("\n");
      assert.match(all, /parley-of-the-test/);
      for (const word of ["zeppelin", "herring", "20 + 20", KEY, "sk-of-the-test"])
        assert.ok(!all.includes(word), word);
      for (const { path, headers } of heard.requests) {
        assert.deepEqual([path, headers["x-collector-key"]], ["/v1/traces", KEY]);
      }
    });

    if (on === "postgres")
      it("end once, on another server than they began on", async () => {
        const other = await scene.world.addNode();
        const dana = await scene.person();
        const ask = await post({ ask_type: "APPROVAL", meta: { action: "sail" }, constraints: { timeout_s: 600 } });
        await scene.withPeople(ask);
        await scene.world.advance(7000);
        const body = newAnswer(ask, { answer_json: { approved: true } });
        const given = await dana.by.at(other).call("POST", "/answers", body);
        assert.equal(given.status, 202, given.text);
        await other.server.stop();

        const spans = await heard.heard(ofAsk(ask), 3);
        const whole = named(spans, "parley.ask");
        assert.ok(whole.to - whole.from >= 7000);
        assert.deepEqual(spans.map(({ name }) => name).sort(), ["human.wait", "parley.ask", "policy.evaluate"]);
        for (const { parentSpanId, name } of spans) assert.ok(name === "parley.ask" || parentSpanId === whole.spanId);
      });

    it("have the time that people took, also where the server was restarted meanwhile", async () => {
      const dana = await scene.person();
      const meta = { action: "deploy", resource: "zeppelin", traceparent: `00-${TRACE}-${CALLER}-01` };
      const ask = await post({ ask_type: "APPROVAL", meta, constraints: { timeout_s: 604_800 } });
      const addressed = await scene.withPeople(ask);
      await scene.world.advance(60_000);
      await scene.world.restart();
      await scene.world.advance(30_000);
      const decided = await dana.decide(addressed, { approved: true });
      assert.equal(decided.status, 200, decided.text);

      const spans = await heard.heard(ofAsk(ask), 3);
      const whole = named(spans, "parley.ask");
      const wait = named(spans, "human.wait");
      assert.deepEqual([whole.traceId, whole.parentSpanId], [TRACE, CALLER]);
      assert.deepEqual([wait.traceId, wait.parentSpanId], [TRACE, whole.spanId]);
      assert.equal(named(spans, "policy.evaluate").parentSpanId, whole.spanId);
      for (const { from, to } of [whole, wait]) assert.ok(to - from >= 90_000 && to - from < 120_000, `${to - from}`);
      assert.ok(whole.from <= wait.from && wait.to <= whole.to);
      assert.deepEqual([wait.attributes["parley.status"], wait.attributes["parley.source"]], ["ANSWERED", "person"]);
    });
  });
}
