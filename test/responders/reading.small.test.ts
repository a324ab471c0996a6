import type { AskType } from "../../src/core/model/ask-type.ts";
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { type ForeignSchemas, openForeignSchemas } from "../../src/lib/json/foreign-schema.ts";
import type { ChoiceOption } from "../../src/asks/model/ask.ts";
import { outcomeOf } from "../../src/responders/answer-runner/outcome.ts";
import { effectiveSchema, readAnswer, readReply, type Reading } from "../../src/responders/answer-runner/reading.ts";
import { checkRole, type Role } from "../../src/responders/roles/role.ts";

const COUNT = { type: "object", required: ["n"], properties: { n: { type: "integer" } }, additionalProperties: false };
const FITS = { misfits: [] };
const broken = (message: string, path = "", code = "E_JSON_SCHEMA") => ({ misfits: [{ path, message }], code });

/** The model's reply, the schema, and the part of the reply that counts. */
const REPLIES: readonly [says: string, schema: object | null, reading: object][] = [
  ["EUR.", null, { kind: "text", text: "EUR.", ...FITS }],
  ["  EUR\0. ", null, { kind: "text", text: "EUR.", ...FITS }],
  ['{"answer_text":" EUR "}', null, { kind: "envelope", text: "EUR", ...FITS }],
  ['{"answer_json":{"n":1}}', COUNT, { kind: "envelope", json: { n: 1 }, ...FITS }],
  ['{"answer_text":"one","answer_json":{"n":1}}', COUNT, { kind: "envelope", text: "one", json: { n: 1 }, ...FITS }],
  ['{"n":1}', COUNT, { kind: "json", json: { n: 1 }, ...FITS }],
  ['{"n":1}', null, { kind: "json", json: { n: 1 }, ...FITS }],
  ["[1,2]", null, { kind: "json", json: [1, 2], ...FITS }],
  ["42", null, { kind: "text", text: "42", ...FITS }],
  ["42", { type: "integer" }, { kind: "json", json: 42, ...FITS }],
  ['```json\n{"n":1}\n```', COUNT, { kind: "json", json: { n: 1 }, ...FITS }],
  ['Here you are:\n```\n{"n":1}\n```\nand {"n":2}', COUNT, { kind: "json", json: { n: 1 }, ...FITS }],
  ['```sh\nls\n```\n{"n":3}', COUNT, { kind: "json", json: { n: 3 }, ...FITS }],
  ['It is {"n":4}, or {"n":5}.', COUNT, { kind: "json", json: { n: 4 }, ...FITS }],
  ['Of [all] things: {"n":4}', COUNT, { kind: "json", json: { n: 4 }, ...FITS }],
  ['So: {"answer_text":"a } in \\" a { string"}', null, { kind: "envelope", text: 'a } in " a { string', ...FITS }],
  ["Set it to {} or [] if you like", null, { kind: "text", text: "Set it to {} or [] if you like", ...FITS }],
  ['{"ask_back":"Which shop?"}', COUNT, { kind: "envelope", askBack: "Which shop?", ...FITS }],
  ['{"ask_back":"Which?","answer_json":{"n":"x"}}', COUNT, { kind: "envelope", askBack: "Which?", ...FITS }],
  ['{"error":"no\\n such  table"}', COUNT, { kind: "envelope", error: "no such table", ...FITS }],
  ['{"n":1,"error":null,"ask_back":""}', null, { kind: "json", json: { n: 1, error: null, ask_back: "" }, ...FITS }],
  ['{"answer_json":null}', { type: "null" }, { kind: "envelope", json: null, ...FITS }],
  [
    '{"answer_text":"see a.csv","artifacts":["out/a.csv","out/a.csv","../b","/c","d//e","f\\\\g",7,"."]}',
    null,
    { kind: "envelope", text: "see a.csv", artifacts: ["out/a.csv"], ...FITS },
  ],

  ["EUR.", COUNT, { kind: "text", ...broken("is not JSON") }],
  ["", null, { kind: "text", ...broken("holds no answer") }],
  ['{"answer_text":"","ask_back":null}', null, { kind: "envelope", ...broken("holds no answer") }],
  ['{"answer_text":"one"}', COUNT, { kind: "envelope", text: "one", ...broken("lacks answer_json") }],
  ['{"answer_text":7}', null, { kind: "envelope", ...broken("must be a string", "/answer_text") }],
  ['{"answer_json":{"n":"1"}}', COUNT, { kind: "envelope", ...broken("must be an integer", "/n") }],
  ['{"n":"1"}', COUNT, { kind: "json", ...broken("must be an integer", "/n") }],
  [`So: ${"[".repeat(33)}${"]".repeat(33)}`, COUNT, { kind: "text", ...broken("is nested too deep") }],
  ['{"n":1', COUNT, { kind: "text", ...broken("is not JSON") }],
  ['{"n":1,"n":2}', COUNT, { kind: "text", ...broken("is JSON that cannot be taken: a name is given twice") }],
  [
    `{"answer_json":"${"x".repeat(65_536)}"}`,
    null,
    { kind: "envelope", ...broken("holds an answer_json of more than 65536 bytes", "", "E_SIZE") },
  ],
  ["x".repeat(300_000), null, { kind: "text", ...broken("is too long to be an answer", "", "E_SIZE") }],
];

/** Replies that would keep a careless reader busy, or end it. */
const HOSTILE: readonly string[] = [
  "[".repeat(10_000),
  "[".repeat(10_000) + "]".repeat(10_000),
  '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000),
  "[1,".repeat(80_000),
  '["'.repeat(120_000),
  '{"a":"'.repeat(40_000),
  "`".repeat(262_144),
  "```\n".repeat(65_000),
  "[e".repeat(130_000),
  "[e]".repeat(80_000),
  `[${'"\\\\'.repeat(80_000)}`,
  `${`{${" ".repeat(1000)}`.repeat(31)}${" ".repeat(200_000)}`,
  '{"answer_text":"\\ud800"}',
  '{"answer_json":1e999}',
  '{"__proto__":{"answer_text":"x"}}',
];

function roleOf(fields: Record<string, unknown>): Role {
  const checked = checkRole({ purpose: "p", system: "s", version: 1, ...fields }, `${String(fields["id"])}@v1.yaml`);
  assert.ok("role" in checked);
  return checked.role;
}

const CLARIFIER = roleOf({
  id: "role.clarifier",
  output_schema: {
    type: "object",
    required: ["answer", "confidence"],
    properties: {
      answer: { type: "string" },
      choice: { type: "string" },
      confidence: { type: "number" },
      ask_back: { type: "string" },
    },
  },
});
const PLANNER = roleOf({ id: "role.planner", output_schema: COUNT, guardrails: ["must_return_json"] });
const OPTIONS: readonly ChoiceOption[] = [{ id: "e", label: "EUR" }, { label: "USD" }];

describe("a model's reply", () => {
  let schemas: ForeignSchemas;
  before(() => {
    schemas = openForeignSchemas();
  });
  after(() => schemas.close());

  const answer = (
    says: unknown,
    asked: { type?: AskType; meta?: Record<string, unknown>; role?: Role; options?: readonly ChoiceOption[] } = {},
  ): Promise<Reading> => {
    const { type = "CLARIFICATION", meta = {}, role = null, options = [] } = asked;
    return readAnswer(
      typeof says === "string" ? says : JSON.stringify(says),
      { ask: { type, meta }, role, options },
      schemas,
    );
  };

  for (const [says, schema, reading] of REPLIES) {
    it(`${JSON.stringify(says.slice(0, 60))} ${schema ? "with" : "without"} a schema`, async () => {
      assert.deepEqual(await readReply(says, schema as Record<string, unknown> | null, schemas), reading);
    });
  }

  it("is cut to 8,000 characters of text, 1,000 of a question back and 500 of an error, none of them halved", async () => {
    const long = "\u{1f600}".repeat(9000);
    const text = await readReply(JSON.stringify({ answer_text: long }), null, schemas);
    assert.equal(text.text, "\u{1f600}".repeat(8000));
    assert.equal(text.truncated, true);
    const open = await readReply(JSON.stringify({ ask_back: long, error: long }), null, schemas);
    assert.equal(open.askBack, "\u{1f600}".repeat(1000));
    assert.equal(open.error, "\u{1f600}".repeat(500));
  });

  for (const [i, says] of HOSTILE.entries()) {
    it(`keeps nobody busy, whatever it is: ${i}, ${JSON.stringify(says.slice(0, 20))}`, async () => {
      for (const schema of [COUNT, null]) {
        const reading = await readReply(says, schema, schemas);
        if (schema) assert.ok(reading.misfits.length > 0);
        assert.equal(typeof reading.text === "string" && !reading.text.isWellFormed(), false);
      }
      assert.equal(Object.hasOwn(Object.prototype, "answer_text"), false);
    });
  }

  it("is held to the schema of the ask, else of the role", () => {
    const overridden = { prompt_overrides: { output_schema: { type: "array" } } };
    assert.deepEqual(effectiveSchema({ meta: overridden }, PLANNER), { type: "array" });
    assert.deepEqual(effectiveSchema({ meta: { prompt_overrides: { output_schema: "array" } } }, PLANNER), COUNT);
    assert.deepEqual(effectiveSchema({ meta: {} }, PLANNER), COUNT);
    assert.equal(effectiveSchema({ meta: {} }, null), null);
  });

  it("says nothing of ids, status, source, trace or attestation", async () => {
    const forged = fc.record(
      Object.fromEntries(
        [
          "type",
          "ask_id",
          "job_id",
          "step_id",
          "status",
          "policy_trace",
          "attestation",
          "source",
          "answered_by",
          "cacheable",
          "error_code",
          "consent_digest",
          "truncated",
          "created_at",
          "approved",
          "decision",
          "misfits",
          "kind",
          "isUnsure",
          "code",
          "__proto__",
          "constructor",
        ].map((name) => [name, fc.oneof(fc.jsonValue(), fc.constantFrom("ANSWERED", "REJECTED", "ALLOW", true))]),
      ),
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(forged, async (lies) => {
        const says = `{"answer_text":"EUR"${Object.entries(lies)
          .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
          .join("")}}`;
        const reading = await answer(says);
        assert.deepEqual(reading, { kind: "envelope", text: "EUR", misfits: [] });
        assert.deepEqual(outcomeOf(reading, says, { role: null, options: [] }), {
          kind: "answer",
          status: "ANSWERED",
          text: "EUR",
          cacheable: true,
          because: "the model answered",
        });
      }),
      { numRuns: 300 },
    );
  });

  it("never throws, and always comes to an outcome", async () => {
    const words = fc.constantFrom(
      '{"',
      '"}',
      "[",
      "]",
      "{",
      "}",
      ":",
      ",",
      "answer_json",
      "answer_text",
      "ask_back",
      "```\n",
      "\\",
      "1",
      "\ud83d",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 40 }).map((parts) => parts.join("")),
      fc.json(),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom(null, CLARIFIER, PLANNER), async (says, role) => {
        const reading = await answer(says, { ...(role && { role }) });
        assert.equal(reading.misfits.length === 0, reading.code === undefined);
        const outcome = outcomeOf(reading, says, { role, options: [] });
        if (outcome.kind === "answer" && outcome.status === "ANSWERED") {
          assert.ok(outcome.text !== undefined || outcome.json !== undefined);
          assert.equal(outcome.cacheable, outcome.error === undefined);
        }
      }),
      { numRuns: 300 },
    );
  });

  describe("to a CHOICE", () => {
    const choose = (says: unknown, role?: Role) =>
      answer(says, { type: "CHOICE", options: OPTIONS, ...(role && { role }) });
    const EUR = { text: "EUR", json: { choice: "e", index: 0 } };
    const USD = { text: "USD", json: { choice: "USD", index: 1 } };

    for (const [says, chosen] of [
      ["USD", USD],
      ["eur", EUR],
      [{ answer_text: "usd" }, USD],
      [{ answer_json: { choice: "e", index: 1 } }, EUR],
      [{ answer_json: "USD", answer_text: "because of EUR" }, USD],
      [{ choice: "EUR" }, EUR],
    ] as const) {
      it(`${JSON.stringify(says)} is ${chosen.text}`, async () => {
        const { kind: _kind, ...reading } = await choose(says);
        assert.deepEqual(reading, { ...chosen, misfits: [] });
      });
    }

    it("reads the clarifier's choice, not its words", async () => {
      const reading = await choose(
        { answer_json: { answer: "EUR is out", choice: "USD", confidence: 0.9 } },
        CLARIFIER,
      );
      assert.deepEqual(reading, { kind: "envelope", ...USD, misfits: [] });
    });

    for (const says of ["GBP", { answer_json: { choice: "GBP" }, answer_text: "EUR" }, { answer_json: { index: 0 } }]) {
      it(`${JSON.stringify(says)} is no option: people are asked`, async () => {
        const reading = await choose(says);
        assert.deepEqual(reading.misfits, [{ path: "/choice", message: "must be one of the options" }]);
        assert.deepEqual([reading.text, reading.json], [undefined, undefined]);
        const outcome = outcomeOf(reading, "GBP", { role: null, options: OPTIONS });
        assert.deepEqual([outcome.kind, outcome.error?.code], ["pass", "E_JSON_SCHEMA"]);
      });
    }
  });

  describe("of the clarifier", () => {
    const says = (json: object) => answer({ answer_json: json }, { role: CLARIFIER });

    it("is its answer when it is sure enough", async () => {
      const json = { answer: "EUR.", confidence: 0.6 };
      assert.deepEqual(await says(json), { kind: "envelope", text: "EUR.", json, misfits: [] });
    });

    it("is nothing when it is not, and a question back where it has one", async () => {
      const unsure = await says({ answer: "EUR?", confidence: 0.59 });
      assert.deepEqual(unsure, { kind: "envelope", isUnsure: true, misfits: [] });
      const outcome = outcomeOf(unsure, "", { role: CLARIFIER, options: [] });
      assert.deepEqual(outcome, { kind: "pass", because: "the model is not sure enough" });
      const asks = await says({ answer: "EUR?", confidence: 0, ask_back: "Which shop?" });
      assert.deepEqual(asks, { kind: "envelope", isUnsure: true, askBack: "Which shop?", misfits: [] });
    });

    it("is judged by a schema of the asker's own when there is one", async () => {
      const meta = { prompt_overrides: { output_schema: { type: "object" } } };
      const json = { answer: "EUR", confidence: 0.1 };
      assert.deepEqual((await answer({ answer_json: json }, { role: CLARIFIER, meta })).json, json);
    });
  });

  describe("comes to", () => {
    const comesTo = async (says: unknown, role: Role | null = null) => {
      const reply = typeof says === "string" ? says : JSON.stringify(says);
      return outcomeOf(await answer(reply, { ...(role && { role }) }), reply, { role, options: [] });
    };

    it("its first 1,000 characters, not to be repeated, when it does not fit", async () => {
      const reply = `{"n":"x"} ${"and so on ".repeat(200)}`;
      const role = roleOf({ id: "role.counter", output_schema: COUNT });
      assert.deepEqual(await comesTo(reply, role), {
        kind: "answer",
        status: "ANSWERED",
        text: reply.slice(0, 1000),
        cacheable: false,
        error: { code: "E_JSON_SCHEMA", text: "/n must be an integer" },
        because: "E_JSON_SCHEMA: /n must be an integer",
      });
    });

    it("an error when it does not fit and the role must return JSON", async () => {
      const error = { code: "E_JSON_SCHEMA", text: "the reply is not JSON" };
      const because = "E_JSON_SCHEMA: the reply is not JSON";
      assert.deepEqual(await comesTo("no", PLANNER), {
        kind: "answer",
        status: "ERROR",
        cacheable: false,
        error,
        because,
      });
    });

    it("a question back, or a failure that people are told of", async () => {
      assert.deepEqual(await comesTo({ ask_back: "Which?" }), {
        kind: "pass",
        because: "the model asks back",
        askBack: "Which?",
      });
      assert.deepEqual(await comesTo({ error: "no such table", answer_text: "x" }), {
        kind: "pass",
        because: "the model could not do it",
        error: { code: "E_MODEL", text: "no such table" },
      });
    });

    it("no answer when it says nothing", async () => {
      assert.deepEqual([(await comesTo("")).kind, (await comesTo("\0 ")).kind], ["pass", "pass"]);
    });
  });
});
