import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { advanceUntil, HOUR, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { actionsOf, toolOf } from "../support/gate.ts";
import { gatedServer, type Sent } from "../support/gateway.ts";
import { OPERATOR } from "../support/identities.ts";

const RULES = `version: 1
rules:
  - { id: reads, when: { fn: files.read_file }, decision: ALLOW }
`;
const MODERN = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
const FORM = { how: { method: "elicitation/create", params: { message: "How?" } } };
const YES = { how: { action: "accept", content: {} } };
const INVALID = -32602;

const done = ({ id, params }: Sent) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { content: [{ type: "text", text: JSON.stringify(params.arguments) }] },
  });
const asking = ({ id }: Sent, more: object) =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "input_required", ...more } });
/** Asks for one form, with a state of its own arguments, and is then done. */
const inTwoRounds = (call: Sent) =>
  call.params["requestState"] === undefined
    ? asking(call, { inputRequests: FORM, requestState: stateOf(call.params.arguments) })
    : done(call);
const stateOf = (args: unknown) => `for ${JSON.stringify(args)}`;
const endings = (actions: string[]) => actions.filter((one) => one.startsWith("gate_call."));

describe("a gate between a client and its server", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  let operator: Decider;
  before(async () => {
    writeFileSync(world().config.relay.policyFile, RULES);
    await world().server.reload();
    operator = await decider(world(), OPERATOR);
  });

  const lastRun = async () => {
    const [row] = await world().server.ctx.db.all<{ ask_id: string; outcome: string | null }>(
      sql`SELECT ask_id, outcome FROM gate_calls WHERE started_at IS NOT NULL ORDER BY rowid DESC LIMIT 1`,
    );
    return row ?? assert.fail("nothing ran");
  };
  const runs = async () =>
    (await world().server.ctx.db.all(sql`SELECT ask_id FROM gate_calls WHERE started_at IS NOT NULL`)).length;
  const requestAbout = (path: string) =>
    until(async () => {
      for (const { id } of await operator.inbox()) if ((await operator.whole(id)).text.includes(path)) return id;
      return undefined;
    });
  const codeOf = (answer: Record<string, unknown>) => (answer["error"] as { code: number } | undefined)?.code;
  const metaOf = (answer: Record<string, unknown>) =>
    (answer["result"] as { _meta: { "parley/gate": { state: string } } })._meta["parley/gate"];

  it("runs all rounds of a call under its one approval, with the arguments that a person made of them", async () => {
    const server = await gatedServer(world(), inTwoRounds);
    const asked = { name: "write_file", arguments: { path: "rounds", amount: 100 }, _meta: MODERN };
    const first = server.call(asked);
    const id = await requestAbout("rounds");
    const edited = { amount: 10, path: "rounds" };
    assert.equal((await operator.decide(id, { approved: true, kwargs: edited })).status, 200);
    assert.deepEqual((await first)["result"], {
      resultType: "input_required",
      inputRequests: FORM,
      requestState: stateOf(edited),
    });
    assert.deepEqual(endings(await actionsOf(world(), id)), ["gate_call.started"]);

    const next = { ...asked, requestState: stateOf(edited), inputResponses: YES };
    const last = await server.call(next);
    assert.match(JSON.stringify(last["result"]), /ran with arguments that operator changed/);
    assert.deepEqual(
      server.calls.map(({ params }) => params),
      [
        { name: "write_file", arguments: edited, _meta: MODERN },
        { ...next, arguments: edited },
      ],
    );
    assert.deepEqual(endings(await actionsOf(world(), id)), ["gate_call.started", "gate_call.ended"]);
    assert.equal((await operator.inbox()).length, 0, "nobody is asked again");
    assert.equal(codeOf(await server.call(next)), INVALID, "a round goes on once");
  });

  it("continues a run without a state by the names that it asked for", async () => {
    const server = await gatedServer(world(), (call) =>
      call.params["inputResponses"] ? done(call) : asking(call, { inputRequests: FORM }),
    );
    const asked = { name: "read_file", arguments: { path: "stateless" }, _meta: MODERN };
    await server.call(asked);
    assert.equal(codeOf(await server.call({ ...asked, inputResponses: { other: YES.how } })), INVALID);
    assert.equal((await server.call({ ...asked, inputResponses: YES }))["error"], undefined);
    assert.equal(server.calls.length, 2);
  });

  it("refuses a round that continues nothing, or another tool, arguments or state than ran", async () => {
    const server = await gatedServer(world(), inTwoRounds);
    const asked = { name: "read_file", arguments: { path: "a" }, _meta: MODERN };
    const next = { ...asked, requestState: stateOf(asked.arguments), inputResponses: YES };
    assert.equal(codeOf(await server.call(next)), INVALID);
    await server.call(asked);
    for (const change of [
      { name: "write_file" },
      { arguments: { path: "b" } },
      { arguments: undefined },
      { requestState: "another" },
      { requestState: undefined },
      { inputResponses: { other: {} } },
      { requestState: 5 },
    ]) {
      assert.equal(codeOf(await server.call({ ...next, ...change })), INVALID, JSON.stringify(change));
    }
    const other = await gatedServer(world(), inTwoRounds);
    assert.equal(codeOf(await other.call(next)), INVALID, "another connection");
    assert.equal(server.calls.length, 1);
    assert.equal((await server.call(next))["error"], undefined);
  });

  it("leaves a run unknown whose next round does not come within an hour, or before its server ends", async () => {
    const server = await gatedServer(world(), inTwoRounds);
    const asked = { name: "read_file", arguments: { path: "late" }, _meta: MODERN };
    await server.call(asked);
    const late = await lastRun();
    await advanceUntil(world(), HOUR, async () =>
      (await actionsOf(world(), late.ask_id)).includes("gate_call.unknown"),
    );
    const next = { ...asked, requestState: stateOf(asked.arguments), inputResponses: YES };
    assert.equal(codeOf(await server.call(next)), INVALID);

    const other = { ...asked, arguments: { path: "left" } };
    await server.call(other);
    const left = await lastRun();
    server.gateway.clientGone();
    await server.gateway.serverGone();
    assert.ok((await actionsOf(world(), left.ask_id)).includes("gate_call.unknown"));
  });

  it("makes an error of an answer that asks for more, for a client that does not know rounds", async () => {
    for (const [n, result] of [{ inputRequests: FORM }, { resultType: "task", taskId: "t" }].entries()) {
      const server = await gatedServer(world(), (call) => asking(call, result));
      const answer = await server.call({ name: "read_file", arguments: { path: `old ${n}` } });
      assert.equal(metaOf(answer).state, "misfit");
      assert.equal((await lastRun()).outcome, "error");
    }
  });

  it("ends a call whose answer is not JSON, with an error to the client and in the record", async () => {
    for (const [n, broken] of [
      '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"mean":NaN}}}',
      '{"result":{"x":Infinity},"id":ID,"jsonrpc":"2.0"}',
      "{'jsonrpc': '2.0', 'id': ID, 'result': {}}",
      '{"jsonrpc":"2.0","id":ID,"result":{"text":"cut',
      '{"jsonrpc":"2.0","id":ID}',
    ].entries()) {
      const server = await gatedServer(world(), ({ id }) => broken.replace("ID", JSON.stringify(id)));
      const answer = await server.call({ name: "read_file", arguments: { path: `broken ${n}` } });
      assert.equal(metaOf(answer).state, "unreadable", broken);
      const { ask_id, outcome } = await lastRun();
      assert.equal(outcome, "error");
      assert.ok((await actionsOf(world(), ask_id)).includes("gate_call.ended"));
    }
  });

  it("ends a call whose result is nested too deep to be written", async () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const server = await gatedServer(world(), ({ id }) => `{"id":${JSON.stringify(id)},"result":{"x":${deep}}}`);
    const before = await runs();
    server.say({ id: 1, method: "tools/call", params: { name: "read_file", arguments: { path: "deep" } } });
    await until(async () => ((await runs()) > before ? ((await lastRun()).outcome ?? undefined) : undefined));
  });

  it("answers a list that is not JSON with an error", async () => {
    const server = await gatedServer(world(), done, []);
    server.say({ id: 1, method: "resources/list" });
    server.gateway.fromServer('{"id":1,"result":{"resources":[NaN]}}');
    assert.ok((await server.answerTo(1))["error"]);
  });

  it("asks about a call under an id of its own alone, so that no other answer ends it", async () => {
    const server = await gatedServer(world(), () => undefined);
    const call = { method: "tools/call", params: { name: "read_file", arguments: { path: "id" } } };
    server.say({ id: 7, ...call });
    await until(() => Promise.resolve(server.calls.length > 0));
    server.say({ id: 7, method: "ping" });
    assert.equal(codeOf(await server.answerTo(7)), -32600);
    server.say({ id: 8, method: "ping" });
    server.say({ id: 8, ...call });
    assert.equal(codeOf(await server.answerTo(8)), -32600);
    server.gateway.fromServer('{"jsonrpc":"2.0","id":8,"result":{}}');
    server.say({ id: 8, method: "ping" });
    assert.equal(server.toServer.filter((line) => line.includes('"ping"')).length, 2);
    await server.gateway.serverGone();
  });

  it("refuses a call whose arguments a parser that ignores capitals reads differently", async () => {
    const server = await gatedServer(world(), done);
    const before = await runs();
    for (const args of [{ path: "/tmp", Path: "/etc" }, { Path: "/etc" }, { x: [{ y: 1, Y: 2 }] }]) {
      const answer = await server.call({ name: "read_file", arguments: args });
      assert.match(JSON.stringify(answer), /differ in capitals alone/);
    }
    assert.deepEqual([server.calls, await runs()], [[], before]);
  });

  it("lists tools of any number and size, and keeps back alone what no body holds", async () => {
    const properties = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`p${i}`, { enum: ["a", "b", "c"] }]));
    const many = Array.from({ length: 1100 }, (_, i) => ({ ...toolOf(`t${i}`), inputSchema: { properties } }));
    const large = { ...toolOf("large"), description: "x".repeat(1_100_000) };
    const wide = { ...toolOf("wide"), inputSchema: { enum: Array.from({ length: 11_000 }, (_, i) => i) } };
    const odd = { ...toolOf("odd"), description: "\ud800" };
    const drawn = { ...toolOf("drawn"), icons: [{ src: `data:image/png;base64,${"A".repeat(1_100_000)}` }] };
    const server = await gatedServer(world(), done, [large, ...many, wide, odd, drawn]);
    server.say({ id: 1, method: "tools/list" });
    const { tools } = (await server.answerTo(1))["result"] as { tools: { name: string }[] };
    assert.deepEqual(
      tools.map(({ name }) => name),
      [...many.map(({ name }) => name), "drawn"],
    );
  });

  it("does not run a call whose tool its server has changed or taken away while people decided", async () => {
    for (const [path, later, says] of [
      ["changed", [{ ...toolOf("write_file"), description: "Does more" }], /are not what was accepted/],
      ["gone", [], /Unknown tool/],
    ] as const) {
      const tools: object[] = [toolOf("write_file")];
      const server = await gatedServer(world(), done, tools);
      const answer = server.call({ name: "write_file", arguments: { path } });
      const id = await requestAbout(path);
      tools.splice(0, 1, ...later);
      server.gateway.fromServer(JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }));
      await operator.decide(id, { approved: true });
      assert.match(JSON.stringify(await answer), says);
      assert.equal(server.calls.length, 0);
      assert.deepEqual(endings(await actionsOf(world(), id)), ["gate_call.started", "gate_call.ended"]);
    }
  });
});
