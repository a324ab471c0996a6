import assert from "node:assert/strict";
import { connect, createServer, type AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import { systemFetch } from "../../src/lib/network/fetch.ts";
import { createKey } from "../../src/access/create-key.ts";
import type { RequestId } from "../../src/core/model/ids.ts";
import { askBack, noteInquiriesTold } from "../../src/requests/inbox/inquire.ts";
import { openAttemptMcp } from "../../src/workshop/mcp/attempt-mcp.ts";
import { closeServer, listen } from "../../src/workshop/sandbox/doors-out.ts";
import { fresh, ROOMY, until } from "../support/contract.ts";
import { somebody } from "../support/deciders.ts";
import { heldClock } from "../support/held-clock.ts";
import { CLIENTS } from "../support/mcp-official.ts";
import { legacy, modern, stream, TASKS, tool, toolCall } from "../support/mcp.ts";
import { call, openWorld, type Node, type World } from "../support/world.ts";

const TOKEN = "token-of-this-attempt";
const SHOWN = { authorization: `Bearer ${TOKEN}` };
const OFFERED = [
  "ask_human",
  "check_human_responses",
  "wait_for_human_responses",
  "contact_human",
  "request_approval",
  "use_approved_call",
  "report_outcome",
  "answer_inquiry",
  "list_humans",
];

/** The endpoint of one attempt, behind it a server that can be restarted, and a wire that can be cut. */
interface Attempt extends AsyncDisposable, Node {
  world: World;
  waiting: number[];
  /** The time of each message to the server. */
  sent: number[];
  /** Breaks every connection to the server, and lets nothing through until it is mended. */
  cut(): void;
  mend(): void;
}

async function openEndpoint({
  isJailed = true,
  clock = systemClock,
  key,
  running = true,
}: { isJailed?: boolean; clock?: Clock; key?: string; running?: boolean } = {}): Promise<Attempt> {
  const world = await openWorld({ on: "sqlite", env: ROOMY, running });
  const { text } = await createKey(world.server.ctx, { name: "card-1", scope: "agent" });
  let isCut = false;
  const open = new Set<{ destroy(): void }>();
  // The server comes back on another port; its address, as an operator gave it, stays.
  const wire = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect({ host: "127.0.0.1", port: Number(new URL(world.url).port) });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await listen(wire, { host: "127.0.0.1", port: 0 });
  const waiting: number[] = [];
  const sent: number[] = [];
  const endpoint = openAttemptMcp({
    token: TOKEN,
    serverUrl: `http://127.0.0.1:${(wire.address() as AddressInfo).port}`,
    key: key ?? text,
    isJailed,
    clock,
    fetch: (...message) => (sent.push(Date.now()), systemFetch(...message)),
    onWaiting: (calls) => waiting.push(calls),
  });
  await listen(endpoint, { host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  return {
    world,
    waiting,
    sent,
    url,
    server: world.server,
    call: (method, path, { headers, ...rest } = {}) =>
      call(`${url}${path}`, method, { ...rest, headers: { ...SHOWN, ...headers } }),
    cut() {
      isCut = true;
      for (const one of open) one.destroy();
    },
    mend: () => void (isCut = false),
    async [Symbol.asyncDispose]() {
      await closeServer(endpoint);
      await closeServer(wire);
      for (const one of open) one.destroy();
      await world[Symbol.asyncDispose]();
    },
  };
}

const streamed = (attempt: Attempt, name: string, args: Record<string, unknown>, token?: string) =>
  stream(attempt, { ...toolCall(name, args, { ...(token !== undefined && { token }) }), headers: SHOWN });

describe("the MCP endpoint of an attempt", () => {
  it("is for the agent of this attempt only, and only for messages", async () => {
    await using attempt = await openEndpoint();
    for (const authorization of ["", "Bearer", `Bearer ${TOKEN}x`, `Basic ${TOKEN}`]) {
      const refused = await legacy(attempt, "tools/list", {}, { headers: { authorization } });
      assert.equal(refused.status, 401);
      assert.equal(refused.headers.get("www-authenticate"), 'Bearer realm="parley"');
    }
    assert.equal((await attempt.call("GET", "/mcp")).status, 405);
    assert.equal((await attempt.call("GET", "/healthz")).status, 404);
    assert.equal((await attempt.call("POST", "/agent/questions", { body: {} })).status, 404);
    const large = await attempt.call("POST", "/mcp", { body: "x".repeat(1_100_000) }).catch(() => ({ status: 413 }));
    assert.equal(large.status, 413);
  });

  it("speaks every revision, and offers the six tools that ask people", async () => {
    await using attempt = await openEndpoint();
    for (const [name, { open, speaks }] of Object.entries(CLIENTS)) {
      const client = await open({ url: attempt.url, key: TOKEN }, "http");
      try {
        assert.deepEqual(await client.tools(), OFFERED, name);
        assert.equal(client.protocol(), speaks, name);
        const listed = await client.call("list_humans", {});
        assert.ok(Array.isArray(listed.structured["humans"]), name);
        const asked = await client.call("ask_human", { question: fresh("Is this clearer to you?") });
        assert.equal(asked.structured["status"], "OPEN");
      } finally {
        await client.close();
      }
    }
    const refused = await legacy(attempt, "tools/call", { name: "approve", arguments: {} });
    assert.equal(refused.body.error.code, -32602);
    assert.equal((await legacy(attempt, "tools/list", {})).body.result.tools.length, OFFERED.length);
    const unheard = await modern(attempt, "subscriptions/listen", { notifications: {} }, { capabilities: TASKS });
    assert.deepEqual([unheard.status, unheard.body.error.code], [404, -32601]);
  });

  it("asks no crowd for an agent without a sandbox", async () => {
    await using attempt = await openEndpoint({ isJailed: false });
    const refused = await tool(attempt, "ask_human", { question: fresh("Is this clearer to you?") });
    assert.equal(refused.isError, true);
    assert.match(refused.structuredContent.error.message, /^ask_human is not available without a sandbox: /);
    assert.deepEqual(JSON.parse(refused.content[0].text), refused.structuredContent);
  });

  it("waits for a person over restarts and lost replies, and the person is asked once", async () => {
    await using attempt = await openEndpoint();
    const { world } = attempt;
    const jane = await somebody(world);
    const args = { message: fresh("Which region?"), to: jane.number };
    const waiting = await streamed(attempt, "contact_human", args);
    assert.deepEqual(await waiting.next(), { comment: "waiting" });
    await until(async () => (await jane.inbox()).length === 1);
    await until(async () => attempt.waiting.length === 1);

    attempt.cut();
    await world.restart();
    attempt.mend();
    await jane.decides({ text: "eu-west" });
    const { result } = await waiting.message();
    const { status, response, settled } = result.structuredContent;
    assert.deepEqual([status, response, settled], ["answered", "eu-west", true]);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    assert.deepEqual(attempt.waiting, [1, 0]);

    attempt.cut();
    const late = tool(attempt, "contact_human", { ...args, message: fresh("And which zone?") });
    await until(async () => attempt.waiting.length === 3);
    attempt.mend();
    await jane.decides({ text: "b" });
    assert.equal((await late).structuredContent.response, "b");
    assert.deepEqual(attempt.waiting, [1, 0, 1, 0]);
  });

  it("hands on a question back whose reply was lost, once, and waits on for an agent that ignores it", async () => {
    await using attempt = await openEndpoint({ running: false });
    const { world } = attempt;
    const { ctx } = world.server;
    const jane = await somebody(world);
    /** Lets the server end its holds until `isOver`. */
    const heldUntil = (isOver: () => boolean) => until(async () => (await world.advance(241_000), isOver()));
    const waiting = tool(attempt, "contact_human", { message: fresh("Which region?"), to: jane.number });
    const { id } = await until(async () => (await jane.inbox())[0]);
    await until(() => attempt.waiting.length === 1);
    attempt.cut();
    const asked = await askBack(ctx, { requestId: id as RequestId, person: jane.id }, "For whom?");
    await noteInquiriesTold(ctx, asked);
    attempt.mend();
    let isHandedOn = false;
    void waiting.then(() => (isHandedOn = true));
    await heldUntil(() => isHandedOn);
    const { call_id, inquiries, settled } = (await waiting).structuredContent;
    assert.deepEqual([settled, inquiries[0].text], [false, "For whom?"]);

    const { length: before } = attempt.sent;
    const again = tool(attempt, "wait_for_human_responses", { question_id: call_id });
    await heldUntil(() => attempt.sent.length >= before + 4);
    await jane.decides({ text: "eu-west" });
    assert.equal((await again).structuredContent.response, "eu-west");
  });

  it("waits for several calls at once, and takes each once though the reply is lost", async () => {
    await using attempt = await openEndpoint();
    const jane = await somebody(attempt.world);
    const calls = [1, 2].map((amount) => ({ fn: "pay_out", kwargs: { amount } }));
    const waiting = tool(attempt, "request_approval", { calls, to: jane.number });
    await until(() => attempt.waiting.length === 1);
    await jane.decides({ approved: true });
    const { plan_id: id, settled } = (await waiting).structuredContent;
    assert.equal(settled, true);
    attempt.cut();
    const use = tool(attempt, "use_approved_call", { call_id: `${id}.1` });
    await until(() => attempt.waiting.length === 3);
    attempt.mend();
    assert.equal((await use).structuredContent.ord, 1);
    const again = await tool(attempt, "use_approved_call", { call_id: `${id}.1` });
    assert.equal(again.structuredContent.error.details.reason, "spent");
  });

  it("passes an approval of exactly these arguments on, digits and all", async () => {
    await using attempt = await openEndpoint();
    const jane = await somebody(attempt.world);
    const body = `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"request_approval","arguments":{"fn":"pay","to":"${jane.number}","kwargs":{"account":12345678901234567890}}}}`;
    const asking = attempt.call("POST", "/mcp", { body, headers: { accept: "application/json" } });
    const [ask] = await until(async () => ((await jane.inbox()).length > 0 ? jane.inbox() : undefined));
    assert.match((await jane.whole(ask?.id ?? "")).text, /12345678901234567890/);
    await jane.decides({ approved: true, comment: "only this once" });
    const { id, result } = (await asking).body;
    const { approved, comment, consent_digest: digest } = result.structuredContent;
    assert.deepEqual([id, approved, comment], ["x", true, "only this once"]);
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
  });

  it("waits as long as the caller says, where it says so, and gives the result where others give a task", async () => {
    await using attempt = await openEndpoint();
    const jane = await somebody(attempt.world);
    const args = { message: fresh("Now?"), to: jane.number };
    const { structuredContent: pending } = await tool(attempt, "contact_human", { ...args, max_wait_seconds: 0 });
    assert.deepEqual([pending.status, pending.settled], ["pending", false]);
    const wait = { name: "wait_for_human_responses", arguments: { question_id: pending.call_id } };
    const waiting = modern(attempt, "tools/call", wait, { capabilities: TASKS });
    await jane.decides({ text: "now" });
    const { result } = (await waiting).body;
    assert.deepEqual([result.resultType, result.structuredContent.response], ["complete", "now"]);
    const wrong = await tool(attempt, "contact_human", { ...args, max_wait_seconds: 9999 });
    assert.equal(wrong.structuredContent.error.code, "VALIDATION_ERROR");
  });

  it("shows life every ten seconds, as progress to those that asked for it", async () => {
    const clock = heldClock();
    await using attempt = await openEndpoint({ clock });
    const jane = await somebody(attempt.world);
    const silent = await streamed(attempt, "contact_human", { message: fresh("Silent?"), to: jane.number });
    const told = await streamed(attempt, "contact_human", { message: fresh("Told?"), to: jane.number }, "p1");
    for (const opened of [silent, told]) assert.deepEqual(await opened.next(), { comment: "waiting" });
    await until(async () => attempt.waiting.at(-1) === 2);
    for (const seconds of [10, 20, 30]) {
      clock.advance(10_000);
      assert.deepEqual(await silent.next(), { comment: "still waiting" });
      const { method, params } = await told.message();
      assert.equal(method, "notifications/progress");
      assert.deepEqual([params.progressToken, params.progress], ["p1", seconds]);
    }
    told.close();
    await until(async () => attempt.waiting.at(-1) === 1);
    silent.close();
    await until(async () => attempt.waiting.at(-1) === 0);
    assert.equal((await jane.inbox()).length, 2);
  });

  it("says so when its key is good for nothing any more", async () => {
    await using attempt = await openEndpoint({ key: "parley_agent_00000000000000000000000000000000" });
    const { body } = await legacy(attempt, "tools/call", { name: "list_humans", arguments: {} });
    assert.equal(body.id, 1);
    assert.ok(body.error.message);
    assert.equal((await legacy(attempt, "tools/list", {})).status, 401);
  });
});
