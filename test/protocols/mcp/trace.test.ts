import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { collector, type Collector } from "../../support/collector.ts";
import { fresh, ROOMY } from "../../support/contract.ts";
import { askByTool, BOTH_TYPES, legacy, modern, stream } from "../../support/mcp.ts";
import { openWorld, type World } from "../../support/world.ts";

const WAIT = "wait_for_human_responses";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const at = (span: string, flags = "01") => ({ traceparent: `00-${TRACE}-${span}-${flags}` });

describe("a message whose _meta names a span", () => {
  let heard: Collector;
  let world: World;
  before(async () => {
    heard = await collector();
    world = await openWorld({ on: "sqlite", running: true, env: { ...ROOMY, PARLEY_TELEMETRY_OTLP_URL: heard.url } });
  });
  after(async () => {
    await world[Symbol.asyncDispose]();
    await heard[Symbol.asyncDispose]();
  });

  it("is told of under it, with the time it was held, in every revision, and never with what was said", async () => {
    const prompt = fresh("Where does this trace go?");
    const args = { name: "ask_human", arguments: { question: prompt }, _meta: at(CALLER) };
    await legacy(world, "tools/call", args);
    await modern(world, "tools/call", { ...args, _meta: at("c7ad6b7169203332") });
    const id = await askByTool(world, { question: fresh("How long is this held?") });
    const params = { name: WAIT, arguments: { question_id: id }, _meta: at("d7ad6b7169203333") };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const waiting = await stream(world, { body, headers: { accept: BOTH_TYPES } });
    await waiting.next();
    const opened = performance.now();
    // Other requests are answered meanwhile.
    for (let i = 0; i < 10; i += 1) await world.agent("default").poll(id);
    const heldMs = performance.now() - opened;
    await world.person("bo").answer(id, "Not long.");
    await waiting.message();

    const spans = await heard.heard(({ name }) => name.startsWith("tools/call"), 3);
    const told = spans.map(({ name, traceId, parentSpanId, attributes, error }) => ({
      name,
      traceId,
      parentSpanId,
      tool: attributes["gen_ai.tool.name"],
      error,
    }));
    const ask = { name: "tools/call ask_human", traceId: TRACE, tool: "ask_human", error: undefined };
    assert.deepEqual(
      told.sort((one, other) => (one.parentSpanId ?? "").localeCompare(other.parentSpanId ?? "")),
      [
        { ...ask, parentSpanId: CALLER },
        { ...ask, parentSpanId: "c7ad6b7169203332" },
        { ...ask, name: `tools/call ${WAIT}`, tool: WAIT, parentSpanId: "d7ad6b7169203333" },
      ],
    );
    const held = spans.find(({ name }) => name.endsWith(WAIT));
    // Two clocks measure it, and a span goes by the other one.
    assert.ok(held && held.to - held.from >= heldMs - 2, `held for ${heldMs} ms`);
    assert.ok(!heard.requests.some(({ text }) => text.includes(prompt)));
  });

  it("is told of to nobody where it names none, or one that is not recorded", async () => {
    const before = heard.spans().length;
    await legacy(world, "tools/list");
    await legacy(world, "tools/list", { _meta: at(CALLER, "00") });
    await legacy(world, "tools/list", { _meta: { traceparent: "00-nonsense" } });
    await legacy(world, "tools/list", { _meta: at("e7ad6b7169203334") });
    await heard.heard(({ parentSpanId }) => parentSpanId === "e7ad6b7169203334");
    assert.equal(heard.spans().length, before + 1);
  });
});
