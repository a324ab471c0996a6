import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { opencode } from "../../src/connect/agents/opencode/opencode.ts";
import { describeWire } from "../support/prompt-wire.ts";

const tool_input = { patterns: ["rm -rf dist"], input: { command: "rm -rf dist" } };
const sent = {
  hook_event_name: "permission.asked",
  session_id: "s1",
  tool_use_id: "per_1",
  tool_name: "bash",
  tool_input,
};

const options = ["lint", "unit, fast"].map((label) => ({ label, description: "" }));
const questions = [
  { question: "Which?", header: "W", multiple: true, options },
  { question: "How?", header: "H", multiple: false, options },
];
const question = { ...sent, hook_event_name: "question.asked", tool_name: "question", tool_input: { questions } };

describe("questions of opencode", () => {
  const read = (value: object) => opencode.read(Buffer.from(JSON.stringify(value)));

  it("get the list of what was chosen for each, in their order", () => {
    const prompt = read(question) ?? assert.fail();
    const answers = [["lint", "unit, fast"], ["by hand, slowly"]];
    const printed: unknown = JSON.parse(opencode.print(prompt, { kind: "allow", because: "Ana", answers }));
    assert.deepEqual(printed, { decision: "allow", reason: "Ana", answers });
  });

  it("stay at the terminal where one could not be told from another", () => {
    assert.equal(read({ ...question, tool_input: { questions: [questions[0], questions[0]] } }), null);
    assert.equal(read({ ...question, tool_input: {} }), null);
  });
});

describe("a prompt of opencode", () => {
  it("stays at the terminal without the input of its call, because people would not see what runs", () => {
    for (const shown of [{ patterns: ["*"] }, { patterns: ["*"], input: null }, { patterns: ["*"], input: "x" }])
      assert.equal(opencode.read(Buffer.from(JSON.stringify({ ...sent, tool_input: shown }))), null);
  });
});

describe("the plugin of opencode", () => {
  it("ends its hook no later than a timer of Node can: a longer one would end it at once", () => {
    const text = opencode.withHook("", { command: "parley hook opencode", timeoutSeconds: 30 * 86_400 });
    const [, ms] = /^const TIMEOUT_MS = (\d+);$/m.exec(text) ?? assert.fail();
    assert.ok(Number(ms) < 2 ** 31 && Number(ms) > 24 * 86_400_000, ms);
  });
});

describeWire({
  agent: opencode,
  prompts: [{ sent, tool: "bash", shown: tool_input }],
  decisions: [
    [{ kind: "allow", because: "Approved by Ana" }, '{"decision":"allow","reason":"Approved by Ana"}'],
    [{ kind: "deny", because: "Rejected by Ana" }, '{"decision":"deny","reason":"Rejected by Ana"}'],
    [{ kind: "undecided", because: "Nobody." }, '{"decision":"ask","reason":"Nobody."}'],
  ],
  otherEvents: [{ ...sent, hook_event_name: "permission.replied" }, { hook_event_name: "session.idle" }],
  unreadable: [
    { ...sent, tool_name: "" },
    { ...sent, tool_input: [] },
    { ...sent, hook_event_name: undefined },
  ],
});
