import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentCallbacks } from "../../src/workshop/agents/agent.ts";
import { fieldOf } from "../../web/src/inbox/arguments/schema.ts";
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
  it("that it waits for no more are withdrawn from people, and get no answer", async () => {
    const asked = Promise.withResolvers<AbortSignal | undefined>();
    const decided = Promise.withResolvers<{ allow: true }>();
    const permission: AgentCallbacks["permission"] = (_, withdrawn) => {
      asked.resolve(withdrawn);
      return decided.promise;
    };
    const wire = openWire("claude", { permission });
    const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "x" } };
    wire.say({ type: "control_request", request_id: "r", request });
    const withdrawn = (await asked.promise) ?? assert.fail();
    const aborted = new Promise((resolve) => withdrawn.addEventListener("abort", resolve));
    wire.say({ type: "control_cancel_request", request_id: "r" });
    await aborted;
    decided.resolve({ allow: true });
    await wire.gone(0);
    assert.ok(!wire.said.some(({ response }) => response?.request_id === "r"), wire.written.at(-1));
  });

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
    assert.deepEqual([end.kind, end.kind === "died" && end.canResume], ["died", false], "it had saved nothing yet");
  });
});

describe("requests of Codex", () => {
  /** Brings the conversation to where a turn is under way. */
  async function working(told: Partial<AgentCallbacks> = {}): Promise<Wire> {
    const wire = openWire("codex", told);
    for (const [method, result] of [
      ["initialize", { userAgent: "parley/0.171.0 (x)" }],
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

  it("come after a resume too, whose reply holds the whole session", async () => {
    for (const text of ["a long talk".repeat(200_000), "["]) {
      const wire = openWire("codex", {}, "other", { resume: "t1" });
      const { id: first } = await wire.heard((message) => message.method === "initialize");
      wire.say({ id: first, result: { userAgent: "parley/0.171.0 (x)" } });
      const { id } = await wire.heard((message) => message.method === "thread/resume");
      const reply = `{"id":${id},"result":{"thread":{"id":"t1","turns":[{"items":[${JSON.stringify({ text })}]}]}}}`;
      // One that was cut cannot be read: a session that is lost begins anew.
      wire.sayLine(text === "[" ? reply.slice(0, -1).padEnd(1_048_577, text) : reply);
      if (text === "[") {
        assert.equal((await wire.ended).kind, "died");
        continue;
      }
      const { params } = await wire.heard((message) => message.method === "turn/start");
      assert.equal(params.threadId, "t1");
      await wire.gone(0);
    }
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

  it("with more questions than anybody answers are put to nobody", async () => {
    const questions = Array.from({ length: 21 }, (_, i) => ({ id: `q${i}`, question: `Which ${i}?`, options: [] }));
    const wire = await working();
    const { error } = await asked(wire, "item/tool/requestUserInput", { questions });
    assert.match(error.message, /at most 20 questions/);
    assert.deepEqual(wire.questions, []);
    await wire.gone(0);
    const claude = openWire("claude");
    const request = { subtype: "can_use_tool", tool_name: "AskUserQuestion", input: { questions } };
    claude.say({ type: "control_request", request_id: "r1", request });
    const { response } = await claude.heard(({ type }) => type === "control_response");
    assert.match(response.response.message, /at most 20 questions/);
    assert.deepEqual(claude.questions, []);
    await claude.gone(0);
  });

  it("with questions for secrets are answered without asking anybody", async () => {
    const wire = await working();
    const questions = [
      { id: "key", header: "h", question: "Your API key?", isOther: true, isSecret: true, options: null },
      { id: "colour", header: "h", question: "Which?", isSecret: false, options: [] },
    ];
    const { result } = await asked(wire, "item/tool/requestUserInput", { questions });
    assert.match(result.answers.key.answers[0], /^\(no answer: secrets are not asked for through Parley/);
    assert.deepEqual(result.answers.colour, { answers: ["Blue"] });
    assert.deepEqual(wire.questions, [{ text: "Which?", options: [] }]);
    const requestedSchema = { type: "object", properties: { pin: { type: "string", format: "password" } } };
    const form = { serverName: "other", message: "Well?", mode: "form", requestedSchema };
    wire.said.length = 0;
    assert.equal((await asked(wire, "mcpServer/elicitation/request", form)).result.action, "decline");
    assert.equal(wire.questions.length, 1);
    await wire.gone(0);
  });

  const elicited = (wire: Wire, params: object) =>
    asked(wire, "mcpServer/elicitation/request", { serverName: "other", message: "Well?", ...params });

  it("of MCP servers for a form ask once for all of it", async () => {
    const properties = {
      sure: { type: "boolean", default: null },
      level: { type: "string", enum: ["a", "b"], enumNames: ["Low", "High"] },
    };
    const form = { mode: "form", requestedSchema: { type: "object", properties, required: ["sure"] } };
    const wire = await working({ question: () => Promise.resolve({ text: '{"sure":true,"level":"b"}' }) });
    assert.deepEqual((await elicited(wire, form)).result, {
      action: "accept",
      content: { sure: true, level: "b" },
      _meta: null,
    });
    const level = {
      type: "string",
      oneOf: [
        { const: "a", title: "Low" },
        { const: "b", title: "High" },
      ],
    };
    const schema = { type: "object", required: ["sure"], properties: { sure: { type: "boolean" }, level } };
    assert.deepEqual(wire.questions, [{ text: "Well?", options: [], schema }]);
    await wire.gone(0);
    for (const text of ["Yes", "[true]"]) {
      const other = await working({ question: () => Promise.resolve({ text }) });
      assert.equal((await elicited(other, form)).result.action, "decline");
      await other.gone(0);
    }
  });

  it("of MCP servers for several choices offer each of them once, by its name", async () => {
    const values = [
      { const: "a", title: "Low" },
      { const: "b", title: "High" },
    ];
    const properties = {
      plain: { type: "array", title: null, minItems: 1, items: { type: "string", title: null, enum: ["a", "b"] } },
      titled: { type: "array", items: { anyOf: values } },
      named: { type: "array", items: { type: "string", enum: ["a", "b"], enumNames: ["Low", "High"] } },
      words: { type: "array", items: { type: "string" } },
    };
    const text = '{"plain":["b","a"]}';
    const wire = await working({ question: () => Promise.resolve({ text }) });
    const form = { mode: "form", requestedSchema: { type: "object", properties } };
    assert.deepEqual((await elicited(wire, form)).result.content, JSON.parse(text));
    const { schema } = wire.questions[0] ?? assert.fail();
    assert.deepEqual(schema, {
      type: "object",
      properties: {
        plain: { type: "array", minItems: 1, uniqueItems: true, items: { type: "string", enum: ["a", "b"] } },
        titled: { type: "array", uniqueItems: true, items: { anyOf: values } },
        named: { type: "array", uniqueItems: true, items: { type: "string", oneOf: values } },
        words: { type: "array", items: { type: "string" } },
      },
    });
    const kinds = fieldOf(schema ?? {});
    assert.deepEqual(kinds.kind === "object" && kinds.members.map(({ field }) => field.kind), [
      "several",
      "several",
      "several",
      "list",
    ]);
    await wire.gone(0);
  });

  it("of MCP servers for a yes, or for a visit to an address, ask for exactly that consent", async () => {
    const wire = await working();
    const bare = { mode: "form", requestedSchema: { type: "object", properties: {} } };
    assert.equal((await elicited(wire, bare)).result.action, "accept");
    wire.said.length = 0;
    assert.equal(
      (await elicited(wire, { mode: "url", elicitationId: "e", url: "https://x.test/a" })).result.action,
      "accept",
    );
    wire.said.length = 0;
    assert.equal((await elicited(wire, { mode: "openai/form", requestedSchema: {} })).result.action, "decline");
    assert.deepEqual(
      wire.wishes.map(({ action, resource, input }) => [action, resource, input["url"]]),
      [
        ["tool", "mcp:other", undefined],
        ["tool", "https://x.test/a", "https://x.test/a"],
      ],
    );
    await wire.gone(0);
    const denied = await working({ permission: () => Promise.resolve({ allow: false, why: "no" }) });
    const url = { mode: "url", elicitationId: "e", url: "https://x.test" };
    assert.deepEqual((await elicited(denied, url)).result, { action: "decline", content: null, _meta: null });
    await denied.gone(0);
  });

  it("that are resolved elsewhere are taken back from people, and not answered", async () => {
    const taken = Promise.withResolvers<void>();
    const wire = await working({
      question: (_, withdrawn) =>
        new Promise((resolve) =>
          withdrawn?.addEventListener("abort", () => {
            resolve({ none: true, why: "withdrawn" });
            taken.resolve();
          }),
        ),
    });
    const questions = [{ id: "q7", header: "h", question: "Which?", options: [] }];
    const params = { threadId: "t1", turnId: "u1", questions };
    wire.say({ id: 9, method: "item/tool/requestUserInput", params });
    wire.say({ method: "serverRequest/resolved", params: { threadId: "t1", requestId: 9 } });
    await taken.promise;
    assert.equal((await wire.asks({ id: 10, method: "x/y" } as { id: number })).error.code, -32601);
    assert.ok(wire.said.every(({ id, method }) => id !== 9 || method !== undefined));
    await wire.gone(0);
  });

  it("that are not known are refused", async () => {
    const wire = await working();
    assert.equal((await asked(wire, "item/tool/call", {})).error.code, -32601);
    await wire.gone(0);
  });
});
