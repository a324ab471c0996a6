import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  AskHumanClient,
  AskHumanOrchestrator,
  QuestionNotFoundError,
  QuotaExceededError,
  RateLimitError,
  ValidationError,
} from "@ask-a-human/sdk";
import { createKey } from "../../src/access/create-key.ts";
import { fresh, HOUR, LABELS, ROOMY, sharedWorld, until } from "../support/contract.ts";

const env = {
  ...ROOMY,
  PARLEY_ASK_A_HUMAN_LIMITS_QUESTIONS_PER_HOUR: "5",
  PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: "4",
  PARLEY_ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR: "60",
};
const question = { prompt: "Which label is clearer?", type: "text" } as const;

/** The published client, as it comes from npm. */
describe("the npm package @ask-a-human/sdk", () => {
  const world = sharedWorld({ on: "sqlite", env });
  const client = (options: { baseUrl?: string; agentId?: string } = {}) =>
    new AskHumanClient({ baseUrl: world().url, agentId: fresh("ana-bot"), ...options });

  it("asks, and reads how it stands", async () => {
    const ana = client();
    const asked = await ana.submitQuestion({
      prompt: "Which label is clearer?",
      type: "multiple_choice",
      options: LABELS,
      audience: ["product"],
      minResponses: 2,
      timeoutSeconds: 1800,
      idempotencyKey: "once",
    });
    assert.match(asked.questionId, /^q_/);
    assert.deepEqual([asked.status, asked.pollUrl], ["OPEN", `/agent/questions/${asked.questionId}`]);
    assert.equal(Date.parse(asked.expiresAt), world().clock.now() + 1_800_000);
    assert.equal(Date.parse(asked.createdAt ?? ""), world().clock.now());

    const before = await ana.getQuestion(asked.questionId);
    assert.deepEqual([before.status, before.currentResponses, before.responses], ["OPEN", 0, []]);
    await world().person(fresh("bo")).answer(asked.questionId, 1, { confidence: 4 });
    const partly = await ana.getQuestion(asked.questionId);
    assert.deepEqual([partly.status, partly.requiredResponses, partly.currentResponses], ["PARTIAL", 2, 1]);
    assert.deepEqual(partly.responses, [{ answer: undefined, selectedOption: 1, confidence: 4 }]);
    await world().person(fresh("bo")).answer(asked.questionId, 1);
    const done = await ana.getQuestion(asked.questionId);
    assert.deepEqual([done.status, done.summary, done.options], ["CLOSED", { Send: 0, Submit: 2 }, LABELS]);
    assert.equal(Date.parse(done.closedAt ?? ""), world().clock.now());
  });

  it("asks again without asking twice", async () => {
    const ana = client();
    const first = await ana.submitQuestion({ ...question, idempotencyKey: "once" });
    const again = await ana.submitQuestion({
      ...question,
      idempotencyKey: "once",
      minResponses: 5,
      timeoutSeconds: 3600,
    });
    assert.equal(again.questionId, first.questionId);
  });

  it("waits until there are enough answers", async () => {
    const prompt = `Which label is clearer? ${fresh("wait")}`;
    const waiting = new AskHumanOrchestrator(client(), { pollInterval: 50, maxBackoff: 100 }).submitAndWait(
      { prompt, type: "text", minResponses: 2 },
      { minResponses: 2, timeout: 90_000 },
    );
    const id = await until(async () => {
      const { body } = await world().person("reader").get("/human/questions");
      return (body.questions as { prompt: string; question_id: string }[]).find((each) => each.prompt === prompt)
        ?.question_id;
    });
    for (const text of ["Submit", "Send"]) await world().person(fresh("bo")).answer(id, text);
    const done = await waiting;
    assert.deepEqual([done.status, done.responses.map(({ answer }) => answer)], ["CLOSED", ["Submit", "Send"]]);
  });

  it("works with a base address that ends with a slash", async () => {
    const ana = client({ baseUrl: `${world().url}/` });
    const { questionId } = await ana.submitQuestion(question);
    assert.equal((await ana.getQuestion(questionId)).questionId, questionId);
  });

  it("carries a key in its name, or in the base address, and is the same agent", async () => {
    const { text } = await createKey(world().server.ctx, { name: fresh("ana-bot"), scope: "agent" });
    const byName = client({ agentId: `ana:${text}` });
    const byPath = client({ baseUrl: `${world().url}/k/${text}` });
    const { questionId } = await byName.submitQuestion(question);
    assert.equal((await byPath.getQuestion(questionId)).questionId, questionId);
    await assert.rejects(client().getQuestion(questionId), QuestionNotFoundError);
  });

  it("understands what is wrong with a question", async () => {
    const refused = await client()
      .submitQuestion({ ...question, prompt: "short" })
      .then(() => assert.fail("accepted"))
      .catch((error: unknown) => error);
    assert.ok(refused instanceof ValidationError);
    assert.equal(refused.message, "prompt must be between 10 and 2000 characters");
    assert.deepEqual([refused.code, refused.field, refused.constraint], ["VALIDATION_ERROR", "prompt", "length"]);
    assert.deepEqual(refused.details, { field: "prompt", constraint: "length", min: 10, max: 2000 });
  });

  it("understands that a question is unknown, and that it is no agent's", async () => {
    const unknown = await client()
      .getQuestion("q_unknown")
      .catch((error: unknown) => error);
    assert.ok(unknown instanceof QuestionNotFoundError);
    assert.deepEqual([unknown.questionId, unknown.code], ["q_unknown", "QUESTION_NOT_FOUND"]);

    await assert.rejects(client({ agentId: "ana:parley_agent_bad" }).submitQuestion(question), {
      name: "AskHumanError",
      code: "UNAUTHORIZED",
      message: "A valid key is required.",
    });
  });

  it("understands that too many questions are open, and that too many were asked", async () => {
    const ana = client();
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) ids.push((await ana.submitQuestion({ ...question, minResponses: 1 })).questionId);
    const quota = await ana.submitQuestion(question).catch((error: unknown) => error);
    assert.ok(quota instanceof QuotaExceededError);
    assert.deepEqual([quota.code, quota.details], ["AGENT_QUOTA_EXCEEDED", { limit: 4, open: 4 }]);

    for (const id of ids) await world().person(fresh("bo")).answer(id, "yes");
    await ana.submitQuestion(question);
    const limited = await ana.submitQuestion(question).catch((error: unknown) => error);
    assert.ok(limited instanceof RateLimitError);
    assert.deepEqual(
      [limited.code, limited.limit, limited.remaining, limited.retryAfter],
      ["RATE_LIMITED", 5, 0, 3600],
    );
    assert.equal((limited.reset ?? 0) * 1000, world().clock.now() + HOUR);
    assert.deepEqual(limited.details, { limit: 5, window_seconds: 3600, retry_after: 3600 });
  });

  it("understands that it reads too often", async () => {
    const ana = client();
    const { questionId } = await ana.submitQuestion(question);
    for (let i = 0; i < 60; i += 1) await ana.getQuestion(questionId);
    await assert.rejects(ana.getQuestion(questionId), RateLimitError);
  });
});
