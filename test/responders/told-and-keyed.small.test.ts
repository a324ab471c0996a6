import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { choiceOptionsOf } from "../../src/asks/model/choice-options.ts";
import { decisionTexts, decisiveAsk, envelopeHash, type DecidedOn } from "../../src/asks/model/decision-key.ts";
import type { ContextEnvelope, Ask } from "../../src/asks/model/ask.ts";
import { buildPrompt } from "../../src/responders/answer-runner/prompt.ts";
import { effectiveSchema } from "../../src/responders/answer-runner/reading.ts";
import { planTools } from "../../src/responders/answer-runner/tool-plan.ts";

const ON: DecidedOn = { policyVersion: "1:227da1dce09c", role: null, model: "openai/one" };
const settings = { server: "own", tool: "t", read_only: true, timeout_ms: 1000, caps_args: {} };
const TOOLS = { "db.read": settings, "db-read": settings };

function askOf(more: Partial<Ask> = {}): Ask {
  const envelope: ContextEnvelope | null =
    more.envelope === undefined ? { job_snapshot: { repo: "shop" }, facts: { order: 7 }, role: "r" } : more.envelope;
  return {
    id: "ask-1",
    jobId: "J-1",
    stepId: "S-1",
    type: "CHOICE",
    principal: "executor:ana",
    prompt: "Which?\n- one\n- two",
    contextHash: envelopeHash(envelope),
    roleId: null,
    meta: {},
    epoch: 0,
    constraints: {},
    status: "PENDING",
    stage: "cache",
    stages: [],
    createdAt: 1,
    expiresAt: 2,
    joinedTo: null,
    addressedId: null,
    questionId: null,
    decisionKey: null,
    consentDigest: null,
    ...more,
    envelope,
  };
}

/** Everything that leaves for a model, and that code it runs is given. */
function toldOf(ask: Ask): string {
  const told = decisiveAsk(ask);
  const plan = planTools(told, null, TOOLS);
  const tools = "tools" in plan ? plan.tools : [];
  const { system, user } = buildPrompt({
    ask: told,
    role: null,
    options: ask.type === "CHOICE" ? choiceOptionsOf(ask) : [],
    toolNames: tools.map(({ name }) => name),
    rounds: [],
    schema: effectiveSchema(told, null),
  });
  return JSON.stringify([system, user, tools, told.meta["input"] ?? told.envelope?.facts]);
}
const keyOf = (ask: Ask): string => decisionTexts(ask, ON).ofMachine();

const long = (text: string) => text.repeat(40_000);

/** Each input of a prompt, changed; a model sees it, so its answer is kept under another key. */
const TOLD: Readonly<Record<string, Partial<Ask>>> = {
  "the type": { type: "CLARIFICATION" },
  "the prompt": { prompt: "Which one?\n- one\n- two" },
  "a space inside the prompt": { prompt: "Which? \n- one\n- two" },
  "an option": { prompt: "Which?\n- one\n- three" },
  "options of meta": { meta: { options: ["one", "three"] } },
  "the order of options": { meta: { options: ["two", "one"] } },
  "a fact": { envelope: { job_snapshot: { repo: "shop" }, facts: { order: 8 }, role: "r" } },
  "a fact's name": { envelope: { job_snapshot: { repo: "shop" }, facts: { orders: 7 }, role: "r" } },
  "the order of a list of facts": { envelope: { job_snapshot: {}, facts: { order: [1, 2] }, role: "r" } },
  "another order of a list of facts": { envelope: { job_snapshot: {}, facts: { order: [2, 1] }, role: "r" } },
  "the repository": { envelope: { job_snapshot: { repo: "bank" }, facts: { order: 7 }, role: "r" } },
  input: { meta: { input: { of: "wheels" } } },
  "other meta": { meta: { hint: "shop" } },
  wishes: { meta: { prompt_overrides: { system_append: "In French." } } },
  "the schema": { meta: { prompt_overrides: { output_schema: { type: "object" } } } },
  "no tools": { constraints: { allowedTools: [] } },
  "a tool": { constraints: { allowedTools: ["db.read"] } },
  "a tool that does not exist": { constraints: { allowedTools: ["db.read", "The-answer-is-7"] } },
  tokens: { constraints: { maxTokens: 99 } },
  "the caps of a tool": {
    constraints: { allowedTools: ["db.read"] },
    envelope: { job_snapshot: {}, tool_caps: { "db.read": { timeout_ms: 5 } }, role: "r" },
  },
};

/** The fields that an executor may set freely under one key. */
const UNTOLD: Readonly<Record<string, Partial<Ask>>> = {
  "the job's id": { jobId: "The-answer-is-7" },
  "the step's id": { stepId: "The-answer-is-7" },
  "the ask's id": { id: "The-answer-is-7" },
  "who asks": { principal: "executor:The-answer-is-7" },
  "the time it has": { constraints: { timeoutS: 7 } },
  "whom to ask else, and traces": { meta: { to: "The-answer-is-7", traceparent: "The-answer-is-7" } },
  "ends of lines and blanks around": { prompt: "\r\nWhich?\r\n- one\r\n- two  " },
};

describe("what a model is told", () => {
  const usual = askOf();

  for (const [what, more] of Object.entries(TOLD)) {
    it(`has another key with another of its inputs: ${what}`, () => {
      assert.notEqual(toldOf(askOf(more)), toldOf(usual));
      assert.notEqual(keyOf(askOf(more)), keyOf(usual));
    });
  }

  for (const [what, more] of Object.entries(UNTOLD)) {
    it(`holds nothing that its key does not: ${what}`, () => {
      assert.equal(toldOf(askOf(more)), toldOf(usual));
      assert.equal(keyOf(askOf(more)), keyOf(usual));
    });
  }

  it("has one order of members, whatever the asker's was, so that nobody chooses what is cut", () => {
    const facts = { a: long("a"), b: long("b"), c: long("c"), d: { x: 1, y: 2 } };
    const turned = { d: { y: 2, x: 1 }, c: facts.c, b: facts.b, a: facts.a };
    const meta = { input: { a: 1, b: 2 }, prompt_overrides: { output_schema: { type: "object", title: "t" } } };
    const other = { prompt_overrides: { output_schema: { title: "t", type: "object" } }, input: { b: 2, a: 1 } };
    const one = askOf({ envelope: { job_snapshot: { repo: "r", commit_sha: "c" }, facts, role: "r" }, meta });
    const two = askOf({
      envelope: { role: "r", facts: turned, job_snapshot: { commit_sha: "c", repo: "r" } },
      meta: other,
    });
    assert.equal(keyOf(one), keyOf(two));
    assert.equal(toldOf(one), toldOf(two));
  });

  it("names tools in one order, once each, also where two look the same to a model", () => {
    const one = askOf({ constraints: { allowedTools: ["db.read", "db-read"] } });
    const two = askOf({ constraints: { allowedTools: ["db-read", "db.read", "db-read"] } });
    assert.equal(keyOf(one), keyOf(two));
    assert.equal(toldOf(one), toldOf(two));
  });

  it("is the same for any two asks of one key", () => {
    const text = fc.constantFrom("a", "b", "A ", "é", "e\u0301", "a\r\nb", "a\nb", " a");
    const json = fc.oneof(
      text,
      fc.constantFrom(1, true, null),
      fc.array(text, { maxLength: 2 }),
      fc.dictionary(text, text, { maxKeys: 2 }),
    );
    const asks = fc.record({
      jobId: text,
      stepId: text,
      principal: text,
      type: fc.constantFrom("CHOICE" as const, "CLARIFICATION" as const),
      prompt: text,
      meta: fc.dictionary(fc.constantFrom("to", "traceparent", "input", "hint", "options"), json, { maxKeys: 2 }),
      envelope: fc.record({
        job_snapshot: fc.record({ repo: text }),
        facts: fc.dictionary(text, json, { maxKeys: 2 }),
        role: fc.constant("r"),
      }),
      constraints: fc.record({
        timeoutS: fc.constantFrom(1, 2),
        allowedTools: fc.array(fc.constantFrom("db.read", "db-read"), { maxLength: 2 }),
      }),
    });
    const told = new Map<string, string>();
    fc.assert(
      fc.property(asks, (more) => {
        const ask = askOf(more);
        const key = keyOf(ask);
        assert.equal(toldOf(ask), told.get(key) ?? toldOf(ask));
        told.set(key, toldOf(ask));
      }),
      { numRuns: 3000 },
    );
    assert.ok(told.size < 2990, "some of them share a key");
  });
});
