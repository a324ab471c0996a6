import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fresh, until } from "../support/contract.ts";
import { sharedExecutors } from "../support/executor.ts";
import { scriptedLlm, type LlmRequest, type Line, type ScriptedLlm } from "../support/scripted-llm.ts";
import { DATABASES } from "../support/world.ts";

/**
 * The asking client: a stand-in that speaks as the executor SDK of mcp-task-relay 0.3.6, which no registry has. If
 * TASK_RELAY_SDK holds the path of that SDK, built from its repository, the same tests run with it.
 */
const SDK = process.env["TASK_RELAY_SDK"] ?? "./task-relay-executor.ts";
const { ask } = (await import(SDK)) as typeof import("./task-relay-executor.ts");

const RULES = `version: 1
rules:
  - { id: allowed, when: { job: "J-allowed*", ask_type: POLICY_DECISION }, decision: ALLOW }
  - { id: denied, when: { job: "J-denied*" }, decision: DENY, reason: Not in this job }
`;
const SCHEMA = { type: "array", items: { type: "object", required: ["name"] } };

const script = ({ user }: LlmRequest): Line =>
  user.includes("Which currency")
    ? '{"answer":"EUR for EU shops.","confidence":1}'
    : user.includes("columns")
      ? '{"answer_json":[{"name":"id"}]}'
      : '{"ask_back":"Whom should I ask?"}';

/** The environment of a server whose model stands on loopback. */
async function withModel(llms: ScriptedLlm[]): Promise<Record<string, string>> {
  const llm = await scriptedLlm(script);
  llms.push(llm);
  process.env["TEST_MODEL_KEY"] = "sk-of-the-test";
  return {
    PARLEY_RUNNER_MODEL: "anthropic/scripted",
    PARLEY_RUNNER_BASE_URL: `${llm.url}/v1`,
    PARLEY_RUNNER_API_KEY_ENV: "TEST_MODEL_KEY",
  };
}

/** Sets the environment that the SDK reads; returns the job. */
function enter(origin: string, name: string): string {
  const job = fresh(name);
  Object.assign(process.env, {
    ASK_ANSWER_ORIGIN: origin,
    TASK_RELAY_JOB_ID: job,
    TASK_RELAY_STEP_ID: "S-1",
    ASK_ANSWER_WAIT_SECONDS: "1",
  });
  return job;
}

for (const on of DATABASES) {
  describe(`an executor of mcp-task-relay on ${on}`, () => {
    const llms: ScriptedLlm[] = [];
    after(() => Promise.all(llms.map((llm) => llm[Symbol.asyncDispose]())));
    const { scene, openIn, answers } = sharedExecutors(on, { rules: RULES, env: () => withModel(llms) });
    const url = () => `${scene().world.url}/a/path/that/it/drops`;

    it("is answered by policy, and told where policy says no", async () => {
      enter(url(), "J-allowed");
      assert.deepEqual(await ask("POLICY_DECISION", "May I?"), { json: { decision: "ALLOW", rules: ["allowed"] } });
      enter(url(), "J-denied");
      await assert.rejects(ask("CLARIFICATION", "Which table?"), { message: "E_POLICY_DENY: Not in this job" });
    });

    it("is answered by a model, whose answer is bound to its own hash, and from the cache", async () => {
      enter(url(), "J-asks");
      const said = { text: "EUR for EU shops.", json: { answer: "EUR for EU shops.", confidence: 1 } };
      assert.deepEqual(await ask("CLARIFICATION", "Which currency?"), said);
      const before = llms[0]?.heard.length ?? 0;
      assert.deepEqual(await ask("CLARIFICATION", "Which currency?"), said);
      assert.equal(llms[0]?.heard.length, before);
      const more = { prompt_overrides: { output_schema: SCHEMA }, allowed_tools: ["code.run"], timeout_s: 90 };
      assert.deepEqual(await ask("RESOURCE_FETCH", "The columns as JSON", more), { json: [{ name: "id" }] });
    });

    it("is answered by a person, however long that takes", async () => {
      const job = enter(url(), "J-person");
      const asking = ask("CLARIFICATION", "Which table?");
      await openIn(job);
      // It has asked for the answer, come back with none, and asked again.
      const unanswered = /route="\/asks\/:id\/answer",method="GET",status="204"\} [1-9]/;
      await until(async () => unanswered.test((await scene().world.call("GET", "/metrics")).text));
      await answers(job, { answer_text: "orders" });
      assert.deepEqual(await asking, { text: "orders" });
      const yes = ask("APPROVAL", "Deploy?");
      await answers(job, { answer_json: { approved: true } });
      assert.deepEqual(await yes, { json: { approved: true, by: "person" } });
    });

    it("is told why it gets no answer", async () => {
      const job = enter(url(), "J-fails");
      const no = ask("APPROVAL", "Deploy?");
      await Promise.all([
        answers(job, { status: "REJECTED", answer_text: "Not on a Friday" }),
        assert.rejects(no, { message: "E_HUMAN_REJECT: Not on a Friday" }),
      ]);
      await assert.rejects(ask("CLARIFICATION", "Anybody?", { timeout_s: 1 }), {
        message: "E_TIMEOUT: no answer within 1 s",
      });
      await assert.rejects(ask("CLARIFICATION", "Anybody?", { role_id: "role.nobody" }), {
        message: "E_ROLE_NOT_FOUND: there is no role role.nobody",
      });
      await assert.rejects(
        ask("CLARIFICATION", " "),
        /^Error: Failed to create Ask \(400\): \{"error":\{"code":"VALID/,
      );
    });
  });
}

describe("an executor of mcp-task-relay whose server sends questions back", () => {
  const llms: ScriptedLlm[] = [];
  after(() => Promise.all(llms.map((llm) => llm[Symbol.asyncDispose]())));
  const { scene } = sharedExecutors("sqlite", {
    env: async () => ({ ...(await withModel(llms)), PARLEY_RELAY_ASK_BACK: "executor" }),
  });

  it("gets them as words", async () => {
    enter(scene().world.url, "J-back");
    assert.deepEqual(await ask("CLARIFICATION", "Which table?"), { text: "Question back: Whom should I ask?" });
  });
});
