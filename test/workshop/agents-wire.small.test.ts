import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { AgentSettings, AgentCallbacks } from "../../src/workshop/agents/agent.ts";
import { openWire, type Wire } from "../support/agent-wire.ts";

describe("questions of Claude Code", () => {
  const QUESTIONS = [
    {
      question: "Which colour?",
      options: [{ label: "Red", description: "warm" }, { label: "Blue" }],
      multiSelect: false,
    },
    { question: "How many?", options: [], multiSelect: true },
  ];
  const ask = (wire: Wire) => {
    const request = {
      subtype: "can_use_tool",
      tool_name: "AskUserQuestion",
      input: { questions: QUESTIONS, extra: 1 },
    };
    wire.say({ type: "control_request", request_id: "q", request });
    return wire.heard(({ response }) => response?.request_id === "q");
  };

  it("are asked one by one, and answered by their words", async () => {
    const wire = openWire("claude", { question: ({ text }) => Promise.resolve({ text: `to ${text}` }) });
    const { response } = (await ask(wire)).response;
    assert.deepEqual(response, {
      behavior: "allow",
      updatedInput: {
        questions: QUESTIONS,
        extra: 1,
        answers: { "Which colour?": "to Which colour?", "How many?": "to How many?" },
      },
    });
    assert.deepEqual(wire.questions, [
      { text: "Which colour?", options: [{ label: "Red", description: "warm" }, { label: "Blue" }], multiple: false },
      { text: "How many?", options: [], multiple: true },
    ]);
    assert.deepEqual(wire.wishes, []);
    await wire.gone(0);
  });

  it("of several choices, named by number or label, are answered by their labels", async () => {
    const wire = openWire("claude", { question: () => Promise.resolve({ text: "#2, red" }) });
    const options = [{ label: "Red" }, { label: "Blue" }];
    const input = { questions: [{ question: "Which?", options, multiSelect: true }] };
    const request = { subtype: "can_use_tool", tool_name: "AskUserQuestion", input };
    wire.say({ type: "control_request", request_id: "q", request });
    const { response } = (await wire.heard(({ response: said }) => said?.request_id === "q")).response;
    assert.deepEqual(response.updatedInput.answers, { "Which?": "Blue, Red" });
    await wire.gone(0);
  });

  it("that nobody answers are denied, and one among others says so", async () => {
    const none = { none: true, why: "no one answered" } as const;
    const wire = openWire("claude", { question: () => Promise.resolve(none) });
    assert.deepEqual((await ask(wire)).response.response, { behavior: "deny", message: "no one answered" });
    await wire.gone(0);

    const half = openWire("claude", {
      question: ({ text }) => Promise.resolve(text === "How many?" ? { text: "Two" } : none),
    });
    assert.deepEqual((await ask(half)).response.response.updatedInput.answers, {
      "Which colour?": "(no answer: no one answered)",
      "How many?": "Two",
    });
    await half.gone(0);
  });
});

describe("calls of Claude Code", () => {
  it("are allowed with exactly what came, every digit of it", async () => {
    const wire = openWire("claude");
    const input = '{"command":"x","n":12345678901234567890123,"list":[1.5,null,"\\u0000"]}';
    const request = `{"subtype":"can_use_tool","tool_name":"Bash","input":${input}}`;
    wire.sayLine(`{"type":"control_request","request_id":"r","request":${request}}`);
    await wire.heard(({ response }) => response?.request_id === "r");
    assert.ok(wire.written.at(-1)?.includes(`"updatedInput":${input}`), wire.written.at(-1));
    await wire.gone(0);
  });

  it("of a kind that is not known are answered with an error", async () => {
    const wire = openWire("claude");
    wire.say({ type: "control_request", request_id: "h", request: { subtype: "hook_callback" } });
    assert.equal((await wire.heard(({ response }) => response?.request_id === "h")).response.subtype, "error");
    const end = await wire.gone(null);
    assert.deepEqual([end.is, end.is === "died" && end.canResume], ["died", false], "it had saved nothing yet");
  });
});

describe("requests of Codex", () => {
  /** Brings the conversation to where a turn is under way. */
  async function working(told: Partial<AgentCallbacks> = {}): Promise<Wire> {
    const wire = openWire("codex", told);
    for (const [method, result] of [
      ["initialize", { userAgent: "parley/0.169.0 (x)" }],
      ["thread/start", { thread: { id: "t1" } }],
      ["turn/start", { turn: { id: "u1" } }],
    ] as const) {
      const { id } = await wire.heard((message) => message.method === method);
      wire.say({ id, result });
    }
    wire.say({ method: "turn/started", params: { threadId: "t1", turn: { id: "u1" } } });
    return wire;
  }
  const asked = (wire: Wire, method: string, params: object) =>
    wire.asks({ id: 9, method, params: { threadId: "t1", turnId: "u1", ...params } } as { id: number });

  it("begin on a thread that only reads, and is raised for the turn", async () => {
    const wire = await working();
    const start = wire.said.find(({ method }) => method === "thread/start");
    assert.deepEqual(start.params, { cwd: wire.tree, approvalPolicy: "untrusted", sandbox: "read-only" });
    assert.ok(wire.said.every((message) => !("jsonrpc" in message)));
    const { params } = wire.said.find(({ method }) => method === "turn/start");
    assert.deepEqual(params.sandboxPolicy, {
      type: "workspaceWrite",
      writableRoots: [wire.tree],
      networkAccess: false,
      excludeTmpdirEnvVar: true,
      excludeSlashTmp: true,
    });
    await wire.gone(0);
  });

  it("to change several files are allowed when each of them is", async () => {
    const changes = ["a.txt", "sub/AGENTS.md"].map((path) => ({
      path,
      kind: { type: "update", move_path: null },
      diff: "+x",
    }));
    for (const [allowed, decision] of [
      [["write", "reconfigure"], "accept"],
      [["write"], "decline"],
    ] as const) {
      const wire = await working({
        permission: ({ action }) =>
          Promise.resolve(
            (allowed as readonly string[]).includes(action) ? { allow: true } : { allow: false, why: "no" },
          ),
      });
      wire.say({ method: "item/started", params: { threadId: "t1", item: { type: "fileChange", id: "i1", changes } } });
      const { result } = await asked(wire, "item/fileChange/requestApproval", { itemId: "i1", grantRoot: null });
      assert.equal(result.decision, decision);
      assert.deepEqual(
        wire.wishes.map(({ action, resource }) => [action, resource]),
        [
          ["write", "a.txt"],
          ["reconfigure", "sub/AGENTS.md"],
        ],
      );
      await wire.gone(0);
    }
  });

  it("to move a file ask for where it goes too; for a root, or changes nobody has seen, the answer is no", async () => {
    const wire = await working();
    const changes = [{ path: "a", kind: { type: "update", move_path: "/etc/b" }, diff: "" }];
    wire.say({ method: "item/started", params: { threadId: "t1", item: { type: "fileChange", id: "i1", changes } } });
    await asked(wire, "item/fileChange/requestApproval", { itemId: "i1" });
    assert.deepEqual(
      wire.wishes.map(({ resource }) => resource),
      ["a", "/etc/b"],
    );
    for (const params of [{ itemId: "i1", grantRoot: "/" }, { itemId: "unseen" }]) {
      wire.said.length = 0;
      assert.equal((await asked(wire, "item/fileChange/requestApproval", params)).result.decision, "decline");
    }
    await wire.gone(0);
  });

  it("for more permissions get those that were asked for, or none", async () => {
    const permissions = { network: { enabled: true }, fileSystem: null };
    const wire = await working();
    const { result } = await asked(wire, "item/permissions/requestApproval", { permissions, reason: "to fetch" });
    assert.deepEqual(result, { permissions: { network: { enabled: true } }, scope: "turn" });
    assert.deepEqual([wire.wishes[0]?.action, wire.wishes[0]?.input], ["tool", { permissions, reason: "to fetch" }]);
    await wire.gone(0);
    const denied = await working({ permission: () => Promise.resolve({ allow: false, why: "no" }) });
    const answer = await asked(denied, "item/permissions/requestApproval", { permissions, reason: null });
    assert.deepEqual(answer.result, { permissions: {}, scope: "turn" });
    await denied.gone(0);
  });

  it("with questions are answered by their ids", async () => {
    const wire = await working();
    const questions = [{ id: "q7", header: "h", question: "Which?", options: [{ label: "Blue", description: "b" }] }];
    const { result } = await asked(wire, "item/tool/requestUserInput", { questions });
    assert.deepEqual(result, { answers: { q7: { answers: ["Blue"] } } });
    assert.deepEqual(wire.questions, [{ text: "Which?", options: [{ label: "Blue", description: "b" }] }]);
    await wire.gone(0);
  });

  it("of MCP servers for a form ask for each field, and for a mere yes ask for that", async () => {
    const wire = await working({
      question: ({ options }) => Promise.resolve({ text: options.length > 0 ? "true" : "12" }),
    });
    const requestedSchema = { type: "object", properties: { sure: { type: "boolean" }, count: { type: "integer" } } };
    const form = { serverName: "other", mode: "form", message: "Well?", requestedSchema };
    assert.deepEqual((await asked(wire, "mcpServer/elicitation/request", form)).result, {
      action: "accept",
      content: { sure: true, count: 12 },
      _meta: null,
    });
    wire.said.length = 0;
    const bare = { ...form, requestedSchema: { type: "object", properties: {} } };
    assert.equal((await asked(wire, "mcpServer/elicitation/request", bare)).result.action, "accept");
    assert.deepEqual([wire.wishes[0]?.action, wire.wishes[0]?.resource], ["tool", "mcp:other"]);
    wire.said.length = 0;
    const url = { ...form, mode: "url", url: "https://x.test" };
    assert.equal((await asked(wire, "mcpServer/elicitation/request", url)).result.action, "decline");
    await wire.gone(0);
  });

  it("that are not known are refused", async () => {
    const wire = await working();
    assert.equal((await asked(wire, "item/tool/call", {})).error.code, -32601);
    await wire.gone(0);
  });
});

describe("requests of an ACP agent", () => {
  async function working(told: Partial<AgentCallbacks> = {}, flavour?: AgentSettings["flavour"]): Promise<Wire> {
    const wire = openWire("acp", told, flavour);
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
    assert.deepEqual(await wire.ended, { is: "interrupted" });
  });

  it("for Parley's own tools are allowed without a word", async () => {
    const wire = await working({ permission: () => Promise.resolve({ allow: false, why: "no" }) });
    const toolCall = { toolCallId: "mcp_parley_contact_human__1", title: "contact_human", kind: "other" };
    const { result } = await asked(wire, "p", "session/request_permission", { toolCall, options: OPTIONS });
    assert.deepEqual(result, { outcome: { outcome: "selected", optionId: "2" } });
    assert.deepEqual(wire.wishes, []);
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
