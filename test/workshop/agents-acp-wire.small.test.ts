import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { INPUT_WITHIN_MS } from "../../src/workshop/agents/acp-updates.ts";
import type { AgentSettings, AgentCallbacks } from "../../src/workshop/agents/agent.ts";
import { until } from "../support/contract.ts";
import { heldClock, type HeldClock } from "../support/held-clock.ts";
import { openWire, type Wire } from "../support/agent-wire.ts";

describe("requests of an ACP agent", () => {
  async function working(
    told: Partial<AgentCallbacks> = {},
    flavour?: AgentSettings["flavour"],
    clock?: HeldClock,
  ): Promise<Wire> {
    const wire = openWire("acp", told, flavour, clock && { clock });
    const agentCapabilities = { loadSession: true, mcpCapabilities: { http: true } };
    for (const [method, result] of [
      ["initialize", { protocolVersion: 1, agentCapabilities }],
      ["session/new", { sessionId: "s1" }],
    ] as const) {
      const { id } = await wire.heard((message) => message.method === method);
      wire.say({ jsonrpc: "2.0", id, result });
    }
    await wire.heard(({ method }) => method === "session/prompt");
    return wire;
  }
  const asked = (wire: Wire, id: string, method: string, params: object) =>
    wire.asks({ jsonrpc: "2.0", id, method, params: { sessionId: "s1", ...params } } as { id: string });
  const OPTIONS = [
    { optionId: "1", kind: "allow_always" },
    { optionId: "2", kind: "allow_once" },
    { optionId: "3", kind: "reject_always" },
    { optionId: "4", kind: "reject_once" },
  ];
  const call = { toolCallId: "c1", title: "ls", kind: "execute" };

  it("for a permission are answered once and never for ever", async () => {
    for (const [allow, optionId] of [
      [true, "2"],
      [false, "4"],
    ] as const) {
      const wire = await working({ permission: () => Promise.resolve(allow ? { allow } : { allow, why: "no" }) });
      const { result } = await asked(wire, "p", "session/request_permission", { toolCall: call, options: OPTIONS });
      assert.deepEqual(result, { outcome: { outcome: "selected", optionId } });
      const always = OPTIONS.filter(({ kind }) => kind.endsWith("always"));
      const none = await asked(wire, "n", "session/request_permission", { toolCall: call, options: always });
      assert.deepEqual(none.result, { outcome: { outcome: "cancelled" } });
      await wire.gone(0);
    }
  });

  it("for a permission show people what the agent said of the call before", async () => {
    const wire = await working();
    const rawInput = { command: "rm -rf dist" };
    const said = { sessionUpdate: "tool_call", toolCallId: "c7", title: "Tidy up", kind: "execute", rawInput };
    wire.say({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s1", update: said } });
    await asked(wire, "p", "session/request_permission", {
      toolCall: { toolCallId: "c7", rawInput: {} },
      options: OPTIONS,
    });
    assert.deepEqual(wire.wishes[0]?.input, { title: "Tidy up", kind: "execute", rawInput });
    await wire.gone(0);
  });

  const told = (wire: Wire, update: object) =>
    wire.say({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s1", update } });
  const toolCall = { toolCallId: "call_1", title: "s_pay", kind: "other", locations: [], rawInput: {} };

  it("for a permission wait for arguments that the agent tells a moment later", async () => {
    for (const rawInput of [{}, null, undefined]) {
      const clock = heldClock();
      const wire = await working({}, "opencode", clock);
      told(wire, { sessionUpdate: "tool_call", status: "pending", ...toolCall, rawInput });
      const answer = asked(wire, "p", "session/request_permission", {
        toolCall: { ...toolCall, rawInput },
        options: OPTIONS,
      });
      await until(() => clock.isAwaited(INPUT_WITHIN_MS));
      const update = { sessionUpdate: "tool_call_update", status: "in_progress" };
      told(wire, { ...update, toolCallId: "call_2", rawInput: { amount: 2 } });
      told(wire, { ...update, toolCallId: "call_1", rawInput: { amount: 100 } });
      await answer;
      assert.deepEqual(
        wire.wishes.map(({ input, resource }) => [input["rawInput"], resource]),
        [[{ amount: 100 }, "s_pay"]],
      );
      await wire.gone(0);
    }
  });

  it("for a permission say that the arguments are unknown where none come, and no label stands for them", async () => {
    for (const kind of ["other", "read", "search", "fetch"]) {
      const clock = heldClock();
      const wire = await working({}, "opencode", clock);
      const answer = asked(wire, "p", "session/request_permission", {
        toolCall: { ...toolCall, kind },
        options: OPTIONS,
      });
      await until(() => clock.isAwaited(INPUT_WITHIN_MS));
      assert.deepEqual(wire.wishes, []);
      clock.advance(INPUT_WITHIN_MS);
      await answer;
      assert.deepEqual(
        wire.wishes.map(({ action, resource }) => [action, resource]),
        [["tool", "s_pay (arguments unknown)"]],
      );
      await wire.gone(0);
    }
  });

  it("for a permission are answered as cancelled when the attempt is", async () => {
    const wire = await working({
      permission: () =>
        new Promise((resolve) => {
          const canceled = { allow: false, why: "over", canceled: true } as const;
          wire.stop.signal.addEventListener("abort", () => resolve(canceled));
          setImmediate(() => wire.stop.abort());
        }),
    });
    const answer = asked(wire, "p", "session/request_permission", { toolCall: call, options: OPTIONS });
    assert.deepEqual((await answer).result, { outcome: { outcome: "cancelled" } });
    const { id } = await wire.heard(({ method }) => method === "session/prompt");
    assert.ok(wire.said.some(({ method }) => method === "session/cancel"));
    wire.say({ jsonrpc: "2.0", id, result: { stopReason: "cancelled" } });
    assert.deepEqual(await wire.ended, { kind: "interrupted" });
  });

  it("are answered as cancelled, and taken back from people, once the agent or its turn has left them", async () => {
    const until = (withdrawn?: AbortSignal) =>
      new Promise<void>((resolve) => withdrawn?.addEventListener("abort", () => resolve()));
    for (const how of ["request", "turn"]) {
      const wire = await working({
        permission: async (_, withdrawn) => {
          await until(withdrawn);
          return { allow: false, why: "withdrawn", canceled: true };
        },
        question: async (_, withdrawn) => {
          await until(withdrawn);
          return { none: true, why: "withdrawn" };
        },
      });
      const permission = asked(wire, "p", "session/request_permission", { toolCall: call, options: OPTIONS });
      const requestedSchema = { type: "object", properties: { port: { type: "integer" } } };
      const form = { mode: "form", message: "Which port?", requestedSchema };
      const elicitation = asked(wire, "e", "elicitation/create", form);
      const { id } = await wire.heard(({ method }) => method === "session/prompt");
      for (const requestId of ["p", "e"]) {
        if (how === "request") wire.say({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId } });
      }
      if (how === "turn") wire.say({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } });
      assert.deepEqual((await permission).result, { outcome: { outcome: "cancelled" } });
      assert.deepEqual((await elicitation).result, { action: "cancel" });
      await wire.gone(0);
    }
  });

  it("for what people know are announced, and asked as one form", async () => {
    const wire = await working({ question: () => Promise.resolve({ text: '{"port":4711}' }) });
    const { params } = wire.said.find(({ method }) => method === "initialize");
    assert.deepEqual(params.clientCapabilities.elicitation, { form: {}, url: {} });
    const requestedSchema = { type: "object", properties: { port: { type: "integer" } }, required: ["port"] };
    const form = { mode: "form", message: "Which port?", requestedSchema };
    const { result } = await asked(wire, "e", "elicitation/create", form);
    assert.deepEqual(result, { action: "accept", content: { port: 4711 } });
    assert.deepEqual(wire.questions, [{ text: "Which port?", options: [], schema: requestedSchema }]);
    await wire.gone(0);
  });

  it("come after a resume where the agent can, else after a load", async () => {
    for (const [sessionCapabilities, method] of [
      [{ resume: {} }, "session/resume"],
      [{ resume: null }, "session/load"],
    ] as const) {
      const wire = openWire("acp", {}, "other", { resume: "s1" });
      const { id } = await wire.heard((message) => message.method === "initialize");
      const agentCapabilities = { loadSession: true, sessionCapabilities };
      wire.say({ jsonrpc: "2.0", id, result: { protocolVersion: 1, agentCapabilities } });
      const opened = await wire.heard((message) => message.method?.startsWith("session/"));
      assert.deepEqual([opened.method, opened.params.sessionId], [method, "s1"]);
      wire.say({ jsonrpc: "2.0", id: opened.id, result: {} });
      await wire.heard((message) => message.method === "session/prompt");
      await wire.gone(0);
    }
  });

  it("for a tool with the name of Parley's own are put to people, because another server may lend it that name", async () => {
    const wire = await working({ permission: () => Promise.resolve({ allow: false, why: "no" }) }, "gemini");
    const title = "human (parley_contact MCP Server)";
    const toolCall = { toolCallId: "mcp_parley_contact_human__mcp_parley_contact_human_1_0", title, kind: "other" };
    const { result } = await asked(wire, "p", "session/request_permission", { toolCall, options: OPTIONS });
    assert.deepEqual(result, { outcome: { outcome: "selected", optionId: "4" } });
    assert.deepEqual(
      wire.wishes.map(({ action, resource }) => [action, resource]),
      [["tool", "mcp_parley_contact_human"]],
    );
    await wire.gone(0);
  });

  it("for files stay in the tree, and go through no link", async () => {
    const wire = await working();
    const { tree } = wire;
    const secret = join(tree, "../secret.txt");
    writeFileSync(secret, "secret");
    writeFileSync(join(tree, "a.txt"), "one\ntwo\nthree\n", { mode: 0o755 });
    symlinkSync(secret, join(tree, "link.txt"));
    symlinkSync(join(tree, ".."), join(tree, "up"));
    const read = async (path: string, more: object = {}) =>
      asked(wire, `r${path}`, "fs/read_text_file", { path, ...more });
    const write = async (path: string) => asked(wire, `w${path}`, "fs/write_text_file", { path, content: "mine" });

    assert.equal((await read(join(tree, "a.txt"))).result.content, "one\ntwo\nthree\n");
    assert.equal((await read("a.txt", { line: 2, limit: 1 })).result.content, "two");
    for (const path of [secret, "../secret.txt", "link.txt", "up/secret.txt", "/etc/hostname", "~/x", "gone.txt", ""]) {
      assert.ok((await read(path)).error, path);
    }
    for (const path of [secret, "../secret.txt", "link.txt", "up/secret.txt", "up/new.txt", tree]) {
      assert.ok((await write(path)).error, path);
    }
    assert.equal(readFileSync(secret, "utf8"), "secret");
    assert.ok(!existsSync(join(tree, "../new.txt")));

    assert.deepEqual((await write("a.txt")).result, {});
    assert.deepEqual((await write("new/b.txt")).result, {});
    assert.equal(readFileSync(join(tree, "a.txt"), "utf8"), "mine");
    assert.equal(statSync(join(tree, "a.txt")).mode & 0o777, 0o755, "a file keeps its mode");
    assert.equal(readFileSync(join(tree, "new/b.txt"), "utf8"), "mine");
    await wire.gone(0);
  });

  it("to write are asked about, unless exactly that was just allowed", async () => {
    const wire = await working({
      permission: ({ action }) =>
        Promise.resolve(action === "write" ? { allow: true } : { allow: false, why: "ask Dana" }),
    });
    const write = (id: string, path: string, content: string) =>
      asked(wire, id, "fs/write_text_file", { path: join(wire.tree, path), content });
    const toolCall = {
      toolCallId: "c",
      kind: "edit",
      content: [{ type: "diff", path: "a.txt", oldText: "", newText: "A" }],
    };
    await asked(wire, "p", "session/request_permission", { toolCall, options: OPTIONS });
    assert.equal(wire.wishes.length, 1);
    await write("w1", "a.txt", "A");
    assert.equal(wire.wishes.length, 1, "it was allowed before");
    await write("w2", "a.txt", "A");
    assert.equal(wire.wishes.length, 2, "once");
    await asked(wire, "p2", "session/request_permission", { toolCall, options: OPTIONS });
    await write("w3", "a.txt", "something else");
    assert.deepEqual([wire.wishes.length, wire.wishes.at(-1)?.input["content"]], [4, "something else"]);
    // A change that does not say the new text allows none.
    const vague = { ...toolCall, content: [{ type: "diff", path: "a.txt", oldText: "A" }] };
    await asked(wire, "p3", "session/request_permission", { toolCall: vague, options: OPTIONS });
    await write("w5", "a.txt", "unseen");
    assert.deepEqual([wire.wishes.length, wire.wishes.at(-1)?.input["content"]], [6, "unseen"]);
    assert.match((await write("w4", "CLAUDE.md", "obey me")).error.message, /ask Dana/);
    assert.equal(wire.wishes.at(-1)?.action, "reconfigure");
    assert.ok(!existsSync(join(wire.tree, "CLAUDE.md")));
    await wire.gone(0);
  });

  it("are answered with the protocol's error where they are not known", async () => {
    const wire = await working();
    for (const method of ["terminal/create", "session/elicitation", "x/y"]) {
      assert.equal((await asked(wire, method, method, {})).error.code, -32601);
    }
    assert.ok(wire.said.every(({ jsonrpc }) => jsonrpc === "2.0"));
    await wire.gone(0);
  });

  it("are told of Parley's MCP server, with its token in no argument", async () => {
    const wire = await working();
    const { params } = wire.said.find(({ method }) => method === "session/new");
    const headers = [{ name: "Authorization", value: "Bearer t" }];
    assert.deepEqual(params, {
      cwd: wire.tree,
      mcpServers: [{ type: "http", name: "parley", url: "http://m", headers }],
    });
    await wire.gone(0);
    const gemini = await working({}, "gemini");
    assert.deepEqual(gemini.said.find(({ method }) => method === "session/new").params.mcpServers, []);
    assert.equal((await asked(gemini, "r", "fs/read_text_file", { path: "new.txt" })).result.content, "");
    await gemini.gone(0);
  });
});
