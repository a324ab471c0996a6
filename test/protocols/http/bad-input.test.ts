import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ROOMY, assertInvalid, assertUnknownQuestion, fresh, sharedWorld } from "../../support/contract.ts";
import { ONE_DATABASE, type Reply } from "../../support/world.ts";

const TAGS = ["technical", "product", "ethics", "creative", "general"];
const promptLength = {
  message: "prompt must be between 10 and 2000 characters",
  details: { field: "prompt", constraint: "length", min: 10, max: 2000 },
};
const choice = { type: "multiple_choice" };
const elevenOptions = Array.from({ length: 11 }, (_, i) => `option ${i}`);
const optionCount = {
  message: "options must have between 2 and 10 items",
  details: { field: "options", constraint: "length", min: 2, max: 10 },
};
const responsesRange = {
  message: "min_responses must be between 1 and 50",
  details: { field: "min_responses", constraint: "range", min: 1, max: 50 },
};
const responsesType = {
  message: "min_responses must be an integer",
  details: { field: "min_responses", constraint: "type" },
};
const timeoutRange = {
  message: "timeout_seconds must be between 60 and 86400",
  details: { field: "timeout_seconds", constraint: "range", min: 60, max: 86_400 },
};
const timeoutType = {
  message: "timeout_seconds must be an integer",
  details: { field: "timeout_seconds", constraint: "type" },
};
const isNotCharacters = (field: string) => ({ message: null, details: { field, constraint: "characters" } });

/** A change to a valid question, and the refusal that it gets. */
const BAD_QUESTIONS: [
  name: string,
  change: Record<string, unknown>,
  says: { message: string | null; details: Record<string, unknown> },
][] = [
  [
    "no prompt",
    { prompt: undefined },
    { message: "prompt is required", details: { field: "prompt", constraint: "required" } },
  ],
  [
    "a prompt of null",
    { prompt: null },
    { message: "prompt is required", details: { field: "prompt", constraint: "required" } },
  ],
  [
    "a prompt that is a number",
    { prompt: 5 },
    { message: "prompt must be a string", details: { field: "prompt", constraint: "type" } },
  ],
  [
    "a prompt that is a list",
    { prompt: ["Which label is clearer?"] },
    { message: "prompt must be a string", details: { field: "prompt", constraint: "type" } },
  ],
  ["an empty prompt", { prompt: "" }, promptLength],
  ["a prompt of 9 characters", { prompt: "012345678" }, promptLength],
  ["a prompt of 9 characters and white space", { prompt: "  012345678\n" }, promptLength],
  ["a prompt of 9 characters that are two units each", { prompt: "😀".repeat(9) }, promptLength],
  ["a prompt of 2001 characters", { prompt: "x".repeat(2001) }, promptLength],
  ["a prompt of 2001 characters that are two units each", { prompt: "😀".repeat(2001) }, promptLength],
  ["a prompt that is too long by its white space", { prompt: `${"x".repeat(2000)} ` }, promptLength],
  ["a prompt with U+0000", { prompt: "Which label\0 is clearer?" }, isNotCharacters("prompt")],
  [
    "an unknown type",
    { type: "poll" },
    {
      message: "type must be text or multiple_choice",
      details: { field: "type", constraint: "enum", allowed: ["text", "multiple_choice"] },
    },
  ],
  [
    "a type that is a number",
    { type: 1 },
    {
      message: "type must be text or multiple_choice",
      details: { field: "type", constraint: "enum", allowed: ["text", "multiple_choice"] },
    },
  ],
  ["no type", { type: undefined }, { message: "type is required", details: { field: "type", constraint: "required" } }],
  [
    "no options to choose from",
    choice,
    {
      message: "options is required when type is multiple_choice",
      details: { field: "options", constraint: "required" },
    },
  ],
  ["one option", { ...choice, options: ["Send"] }, optionCount],
  ["no option at all", { ...choice, options: [] }, optionCount],
  ["eleven options", { ...choice, options: elevenOptions }, optionCount],
  [
    "options that are no list",
    { ...choice, options: "Send,Submit" },
    { message: null, details: { field: "options", constraint: "type" } },
  ],
  [
    "an empty option",
    { ...choice, options: ["a", "b", "c", ""] },
    { message: null, details: { field: "options[3]", constraint: "length", min: 1, max: 200 } },
  ],
  [
    "an option of white space",
    { ...choice, options: [" \t", "b"] },
    { message: null, details: { field: "options[0]", constraint: "length", min: 1, max: 200 } },
  ],
  [
    "an option of 201 characters",
    { ...choice, options: ["a", "b".repeat(201)] },
    { message: null, details: { field: "options[1]", constraint: "length", min: 1, max: 200 } },
  ],
  [
    "an option that is a number",
    { ...choice, options: ["a", 2] },
    { message: null, details: { field: "options[1]", constraint: "type" } },
  ],
  [
    "an option that is null",
    { ...choice, options: [null, "b"] },
    { message: null, details: { field: "options[0]", constraint: "type" } },
  ],
  ["an option with U+0000", { ...choice, options: ["a", "b\0"] }, isNotCharacters("options[1]")],
  [
    "the same option twice",
    { ...choice, options: ["a", "b", "a"] },
    { message: null, details: { field: "options", constraint: "unique" } },
  ],
  [
    "options that differ by white space alone",
    { ...choice, options: ["a", " a "] },
    { message: null, details: { field: "options", constraint: "unique" } },
  ],
  [
    "an audience that is no list",
    { audience: "product" },
    { message: "audience must be a list of tags", details: { field: "audience", constraint: "type" } },
  ],
  [
    "an audience that is an object",
    { audience: { 0: "product" } },
    { message: "audience must be a list of tags", details: { field: "audience", constraint: "type" } },
  ],
  [
    "an unknown audience",
    { audience: ["product", "vip"] },
    { message: null, details: { field: "audience", constraint: "enum", allowed: TAGS } },
  ],
  [
    "an audience in capitals",
    { audience: ["Product"] },
    { message: null, details: { field: "audience", constraint: "enum", allowed: TAGS } },
  ],
  ["0 responses", { min_responses: 0 }, responsesRange],
  ["51 responses", { min_responses: 51 }, responsesRange],
  ["-1 responses", { min_responses: -1 }, responsesRange],
  ["1e300 responses", { min_responses: 1e300 }, responsesRange],
  ["true for a number of responses", { min_responses: true }, responsesType],
  ["text for a number of responses", { min_responses: "5" }, responsesType],
  ["a fraction of a response", { min_responses: 2.5 }, responsesType],
  ["59 seconds", { timeout_seconds: 59 }, timeoutRange],
  ["a day and a second", { timeout_seconds: 86_401 }, timeoutRange],
  ["false for seconds", { timeout_seconds: false }, timeoutType],
  ["text for seconds", { timeout_seconds: "60" }, timeoutType],
  ["a fraction of a second", { timeout_seconds: 60.5 }, timeoutType],
  [
    "an empty idempotency key",
    { idempotency_key: "" },
    { message: null, details: { field: "idempotency_key", constraint: "length", min: 1, max: 255 } },
  ],
  [
    "an idempotency key of 256 characters",
    { idempotency_key: "k".repeat(256) },
    { message: null, details: { field: "idempotency_key", constraint: "length", min: 1, max: 255 } },
  ],
  [
    "an idempotency key that is a number",
    { idempotency_key: 7 },
    { message: "idempotency_key must be a string", details: { field: "idempotency_key", constraint: "type" } },
  ],
  [
    "text for share_results",
    { share_results: "no" },
    { message: null, details: { field: "share_results", constraint: "type" } },
  ],
];

for (const on of ONE_DATABASE) {
  describe(`bad input on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    it("is refused in a question, field by field, and leaves no trace", async () => {
      const agent = world().agent(fresh("ana-bot"));
      for (const [name, change, { message, details }] of BAD_QUESTIONS) {
        const reply = await agent.create(change);
        try {
          assertInvalid(reply, message, details);
        } catch (cause) {
          throw new Error(`${name}: ${reply.status} ${reply.text}`, { cause });
        }
      }
      const { body } = await world().call("GET", "/agent/questions", { headers: agent.headers });
      assert.deepEqual(body.questions, []);
    });

    it("is told in full when several fields are bad, in the order of the fields", async () => {
      const agent = world().agent(fresh("ana-bot"));
      assertInvalid(await agent.create({ min_responses: 0, prompt: undefined }), "prompt is required", {
        field: "prompt",
        constraint: "required",
        errors: [
          { field: "prompt", constraint: "required" },
          { field: "min_responses", constraint: "range", min: 1, max: 50 },
        ],
      });
      const all = await agent.create({
        share_results: 1,
        idempotency_key: "",
        timeout_seconds: 1,
        min_responses: "5",
        audience: "x",
        options: [],
        type: "multiple_choice",
        prompt: 5,
      });
      assert.deepEqual(
        all.body.error.details.errors.map((one: { field: string }) => one.field),
        ["prompt", "options", "audience", "min_responses", "timeout_seconds", "idempotency_key", "share_results"],
      );
      assert.equal(all.body.error.message, "prompt must be a string");
    });

    it("is refused in an answer", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const text = await agent.ask();
      const four = await agent.ask({ options: ["a", "b", "c", "d"] });
      const bo = world().person(fresh("bo"));
      const answer = (question: { id: string } | string, given: Record<string, unknown>): Promise<Reply> =>
        bo.post("/human/responses", { question_id: typeof question === "string" ? question : question.id, ...given });

      const answerRequired = { field: "answer", constraint: "required" };
      const answerLength = { field: "answer", constraint: "length", min: 1, max: 5000 };
      const optionRange = { field: "selected_option", constraint: "range", min: 0, max: 3 };
      const optionType = { field: "selected_option", constraint: "type" };
      const sure = { field: "confidence", constraint: "range", min: 1, max: 5 };
      const required = "answer is required when the question is text";
      const optionRequired = "selected_option is required when the question is multiple_choice";
      const length = "answer must be between 1 and 5000 characters";
      const range = "selected_option must be between 0 and 3";
      const cases: [Reply, string | null, Record<string, unknown>][] = [
        [await answer(text, {}), required, answerRequired],
        [await answer(text, { answer: null }), required, answerRequired],
        [await answer(text, { answer: "" }), required, answerRequired],
        [await answer(text, { answer: "   " }), required, answerRequired],
        [await answer(text, { selected_option: 0 }), required, answerRequired],
        [await answer(text, { answer: "x".repeat(5001) }), length, answerLength],
        [await answer(text, { answer: "😀".repeat(5001) }), length, answerLength],
        [await answer(text, { answer: 5 }), "answer must be a string", { field: "answer", constraint: "type" }],
        [await answer(text, { answer: ["x"] }), "answer must be a string", { field: "answer", constraint: "type" }],
        [await answer(text, { answer: "x\0" }), null, { field: "answer", constraint: "characters" }],
        [await answer(four, {}), optionRequired, { field: "selected_option", constraint: "required" }],
        [await answer(four, { answer: "a" }), optionRequired, { field: "selected_option", constraint: "required" }],
        [await answer(four, { selected_option: -1 }), range, optionRange],
        [await answer(four, { selected_option: 4 }), range, optionRange],
        [await answer(four, { selected_option: true }), "selected_option must be an integer", optionType],
        [await answer(four, { selected_option: "1" }), "selected_option must be an integer", optionType],
        [await answer(four, { selected_option: 0.5 }), "selected_option must be an integer", optionType],
        [await answer(text, { answer: "yes", confidence: 0 }), "confidence must be between 1 and 5", sure],
        [await answer(text, { answer: "yes", confidence: 6 }), "confidence must be between 1 and 5", sure],
        [
          await answer(text, { answer: "yes", confidence: "4" }),
          "confidence must be an integer",
          { field: "confidence", constraint: "type" },
        ],
        [
          await answer(four, { confidence: 9 }),
          optionRequired,
          {
            field: "selected_option",
            constraint: "required",
            errors: [{ field: "selected_option", constraint: "required" }, sure],
          },
        ],
        [
          await bo.post("/human/responses", { answer: "yes" }),
          "question_id is required",
          { field: "question_id", constraint: "required" },
        ],
        [
          await bo.post("/human/responses", { question_id: 5, answer: "yes" }),
          "question_id must be a string",
          { field: "question_id", constraint: "type" },
        ],
      ];
      for (const [reply, message, details] of cases) assertInvalid(reply, message, details);

      for (const question of [text, four]) assert.equal((await agent.poll(question.id)).body.current_responses, 0);
      assert.equal((await bo.get("/human/stats")).body.total_answers, 0);
    });

    it("is simply unknown where an id is malformed", async () => {
      const bo = world().person(fresh("bo"));
      for (const id of ["", "q", "q_\0", "' OR 1=1", "é".repeat(300), "q_".padEnd(400, "x")]) {
        assertUnknownQuestion(await bo.post("/human/responses", { question_id: id, answer: "yes" }), id);
        if (id === "") continue;
        const at = `/human/questions/${encodeURIComponent(id)}`;
        assertUnknownQuestion(await bo.get(at), id);
        assertUnknownQuestion(await bo.get(`${at}/results`), id);
        assertUnknownQuestion(await bo.post(`${at}/skip`), id);
        assertUnknownQuestion(await bo.post(`${at}/report`, { reason: "spam" }), id);
      }
      const reply = await world().call("DELETE", "/human/push/subscribe/sub_%00");
      assert.equal(reply.body.error.code, "SUBSCRIPTION_NOT_FOUND");
    });

    it("is refused in a query", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask();
      const bo = world().person(fresh("bo"));
      const queried = (path: string) => world().call("GET", path, { headers: { ...agent.headers, ...bo.headers } });
      const cases: [path: string, field: string, constraint: string][] = [
        ...["x", "-1", "1h", "1 s", "1e3", "Infinity", ".5", "1.", "", "5,5"].map((wait): [string, string, string] => [
          `/agent/questions/${id}?wait=${wait}`,
          "wait",
          "format",
        ]),
        [`/agent/questions/${id}?wait=1&after=x`, "after", "type"],
        [`/agent/questions/${id}?expand=all`, "expand", "enum"],
        ["/agent/questions?status=DONE", "status", "enum"],
        ["/agent/questions?status=open", "status", "enum"],
        ["/agent/questions?status=OPEN,DONE", "status", "enum"],
        ["/agent/questions?limit=ten", "limit", "type"],
        ["/agent/questions?limit=2.5", "limit", "type"],
        ["/agent/questions?cursor=x", "cursor", "invalid"],
        ["/human/questions?limit=ten", "limit", "type"],
        ["/human/questions?limit=1.5", "limit", "type"],
        ["/human/questions?audience=vip", "audience", "enum"],
        ["/human/questions?audience=product,vip", "audience", "enum"],
        ["/human/questions?cursor=x", "cursor", "invalid"],
        ["/human/leaderboard?period=monthly", "period", "enum"],
        ["/human/leaderboard?limit=many", "limit", "type"],
      ];
      for (const [path, field, constraint] of cases) {
        const { status, body } = await queried(path);
        const { details } = body.error ?? {};
        assert.deepEqual([path, status, details?.field, details?.constraint], [path, 400, field, constraint]);
      }
    });
  });
}
