import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { until } from "../support/contract.ts";
import { answer, gist, newAsk, openRelayScene, sharedRelay, type RelayScene } from "../support/relay.ts";
import { scriptedLlm, type LlmRequest, type Line, type ScriptedLlm } from "../support/scripted-llm.ts";
import { DATABASES } from "../support/world.ts";

const POLICY = `version: 7
defaults: { read: ALLOW, other: ESCALATE }
rules:
  - { id: no-writes, when: { env: prod, action: write }, decision: DENY, reason: "Write in prod forbidden" }
  - { id: no-talk, when: { action: clarify, resource: secret }, decision: DENY, reason: "Not to be spoken of" }
  - { id: staging, when: { env: staging, action: deploy }, decision: ALLOW }
  - { id: ask-first, when: { action: [clarify, choose, read], resource: delicate }, decision: ESCALATE }
  - { id: two, when: { action: pay }, decision: ESCALATE, need: 2, standing: false }
`;

interface Asked {
  ask_id: string;
  job_id: string;
  step_id: string;
}

/** The words of a stage's line, without what only machines are called. */
const linesOf = async ({ ana }: RelayScene, { ask_id }: { ask_id: string }): Promise<string[]> => {
  const { stages } = (await ana.get(`/asks/${ask_id}`)).body as { stages: { stage: string; outcome: string }[] };
  return stages.map(({ stage, outcome }) => `${stage}: ${outcome}`);
};

for (const on of DATABASES) {
  describe(`the stages on ${on}`, () => {
    let llm: ScriptedLlm;
    let scene: RelayScene;
    let script: (heard: LlmRequest) => Line = () => '{"answer":"EUR for EU shops.","confidence":1}';
    before(async () => {
      llm = await scriptedLlm((heard) => script(heard));
      process.env["TEST_MODEL_KEY"] = "sk-of-the-test";
      scene = await openRelayScene(on, {
        env: {
          PARLEY_RUNNER_MODEL: "anthropic/scripted",
          PARLEY_RUNNER_BASE_URL: `${llm.url}/v1`,
          PARLEY_RUNNER_API_KEY_ENV: "TEST_MODEL_KEY",
        },
      });
      await scene.policy(POLICY);
    });
    after(async () => {
      await scene[Symbol.asyncDispose]();
      await llm[Symbol.asyncDispose]();
    });

    it("ends at the intake what cannot be right, and keeps it in the history", async () => {
      for (const [more, error] of [
        [{ context_hash: "0".repeat(64) }, "E_CONTEXT_MISMATCH: context_hash does not match context_envelope"],
        [
          {
            context_hash: undefined,
            context_envelope: { job_snapshot: {}, role: "r", tool_caps: { "db.reader": {} } },
          },
          "E_CAPS_VIOLATION: tool_caps names db.reader, which is not allowed",
        ],
        [{ role_id: "role.nobody@v9" }, "E_ROLE_NOT_FOUND: there is no role role.nobody@v9"],
      ] as const) {
        const one = await scene.ask(more);
        const given = await scene.answerTo(one);
        assert.deepEqual(gist(given), { status: "ERROR", source: "server", error });
        assert.equal(given.error_code, error.split(":")[0]);
        assert.equal(given.policy_trace, undefined);
        assert.deepEqual(await linesOf(scene, one), [`intake: ${given.error_code}`]);
      }
      assert.equal(llm.heard.length, 0);
    });

    it("refuses what policy denies, whatever is asked", async () => {
      const denied = { status: "REJECTED", source: "policy" };
      for (const [ask_type, meta, says] of [
        ["APPROVAL", { action: "write", env: "prod" }, "Write in prod forbidden"],
        ["POLICY_DECISION", { action: "write", env: "prod" }, "Write in prod forbidden"],
        ["CLARIFICATION", { resource: "secret" }, "Not to be spoken of"],
      ] as const) {
        const one = await scene.ask({ ask_type, meta });
        const given = await scene.answerTo(one);
        assert.deepEqual(gist(given), { ...denied, error: `E_POLICY_DENY: ${says}` });
        const { decision, policy_version, defaulted } = given.policy_trace;
        assert.deepEqual([decision, policy_version.split(":")[0], defaulted], ["DENY", "7", false]);
      }
    });

    it("approves what a rule allows, and never what none speaks of", async () => {
      const ruled = await scene.ask({ ask_type: "APPROVAL", meta: { action: "deploy", env: "staging" } });
      assert.deepEqual(gist(await scene.answerTo(ruled)), {
        status: "ANSWERED",
        source: "policy",
        answer_json: { approved: true, by: "policy" },
      });
      const decided = await scene.ask({ ask_type: "POLICY_DECISION", meta: { action: "deploy", env: "staging" } });
      assert.deepEqual((await scene.answerTo(decided)).answer_json, { decision: "ALLOW", rules: ["staging"] });
      assert.deepEqual(await scene.eventsOf(decided.job_id), [
        "status RUNNING",
        "log ask.created",
        "status WAITING_ON_ANSWER",
        `answer ${decided.ask_id}`,
        "log answer.recorded",
        "status RUNNING",
      ]);
      // Reading is allowed where no rule speaks of it; that approves nothing.
      const read = await scene.ask({ ask_type: "APPROVAL", meta: { action: "read" } });
      await scene.withPeople(read);
      assert.equal((await scene.ana.get(`/asks/${read.ask_id}`)).body.status, "PENDING");
      assert.equal(llm.heard.length, 0);
    });

    it("has a model answer, once for what is the same", async () => {
      const before = llm.heard.length;
      const first = await scene.answerTo(await scene.ask({ prompt: "Which currency is it?" }));
      assert.deepEqual([first.status, first.source, first.answer_text], ["ANSWERED", "runner", "EUR for EU shops."]);
      assert.deepEqual([first.policy_trace.cache, first.cacheable], ["miss", true]);
      assert.equal(first.attestation.model, "anthropic/scripted");
      const again = await scene.ask({ prompt: "Which currency is it?" }, scene.bo);
      const second = await scene.answerTo(again, scene.bo);
      assert.deepEqual({ ...gist(second), source: "runner" }, gist(first));
      assert.equal(second.source, "cache");
      assert.equal(second.policy_trace.cache, "hit");
      assert.deepEqual(second.attestation, first.attestation);
      assert.equal(llm.heard.length, before + 1);
      const [kept] = await scene.world.server.ctx.db.all<{ hits: number }>(sql`SELECT hits FROM decision_cache`);
      assert.equal(kept?.hits, 1);

      // An answer to an ask without a checked envelope is reused for its own asker only.
      const unchecked = { prompt: "Which currency is it?", context_envelope: undefined };
      await scene.answerTo(await scene.ask(unchecked));
      assert.equal((await scene.answerTo(await scene.ask(unchecked))).source, "cache");
      assert.equal((await scene.answerTo(await scene.ask(unchecked, scene.bo), scene.bo)).source, "runner");
      assert.equal(llm.heard.length, before + 3);

      await scene.world.advance(86_400_000);
      const later = await scene.ask({ prompt: "Which currency is it?" });
      assert.equal((await scene.answerTo(later)).source, "runner");
    });

    it("says on every answer what policy said, whoever gives it and wherever the ask stands", async () => {
      const { ana, ask, answerTo } = scene;
      const usual = script;
      script = () => ({ hangs: true });
      const by = await scene.program({ name: "answers-beside-a-model", scope: "answer" });
      const ends = {
        service: (one: Asked) => answer(by, one, { answer_text: "EUR" }),
        withdrawn: (one: Asked) => ana.call("DELETE", `/asks/${one.ask_id}`),
        cancelled: (one: Asked) => ana.post(`/jobs/${one.job_id}/cancel`, {}),
      };
      for (const [resource, stage, decision] of [
        ["", "runner", "ALLOW"],
        ["delicate", "people", "ESCALATE"],
      ] as const) {
        for (const [who, end] of Object.entries(ends)) {
          const one = await ask({ prompt: `Which currency, ${stage} and ${who}?`, meta: { resource } });
          await until(async () => (await ana.get(`/asks/${one.ask_id}`)).body.stage === stage);
          const { status } = await end(one);
          assert.ok(status < 300, `${who} in ${stage}: ${status}`);
          const { policy_trace: trace, policyTrace } = await answerTo(one);
          assert.deepEqual(
            [trace?.decision, trace?.policy_version?.split(":")[0]],
            [decision, "7"],
            `${who} in ${stage}`,
          );
          assert.deepEqual(policyTrace, trace);
        }
      }
      script = usual;
    });

    it("takes an option from a model, and nothing else", async () => {
      script = () => '{"answer":"Blue suits it.","choice":"Blue","confidence":0.9}';
      const choice = { ask_type: "CHOICE", meta: { options: ["Red", "Blue"] } };
      const given = await scene.answerTo(await scene.ask(choice));
      assert.deepEqual([given.source, given.answer_json], ["runner", { choice: "Blue", index: 1 }]);
    });

    it("puts to people what policy escalates, and what a model asks back or fails at", async () => {
      const dana = await scene.person();
      const prompt = "Which currency of the delicate shop?";
      const escalated = await scene.ask({ prompt, meta: { resource: "delicate" } });
      await scene.withPeople(escalated);
      // A model may still reply about the asks of earlier tests.
      assert.ok(!llm.heard.some(({ user }) => user.includes(prompt)));
      await answer(dana.by, escalated, { answer_text: "Ask the shop." });
      const told = await scene.answerTo(escalated);
      assert.deepEqual(gist(told), { status: "ANSWERED", source: "person", answer_text: "Ask the shop." });
      assert.deepEqual(
        [told.answered_by, told.policy_trace.policy, told.cacheable],
        [dana.name, "ask-first@v7", false],
      );

      script = () => '{"answer":"It is open.","confidence":0.1,"ask_back":"Which shop is meant?"}';
      const asked = await scene.ask({ prompt: "Which one, then?" });
      const id = await scene.withPeople(asked);
      const shown = (await dana.whole(id)).body;
      assert.match(shown.words, /^Which one, then\?\n\nA model asks: Which shop is meant\?$/);
      await answer(dana.by, asked, { answer_text: "The first." });
      assert.equal((await scene.answerTo(asked)).source, "person");

      script = () => ({ status: 401 });
      const failed = await scene.ask({ prompt: "And this one?" });
      const words = (await dana.whole(await scene.withPeople(failed))).body.words;
      assert.match(words, /A model was asked first and failed: E_MODEL\./);
      assert.ok((await linesOf(scene, failed)).some((line) => line.startsWith("runner: passed")));
    });

    it("never lets a model approve, nor the cache repeat a decision of people", async () => {
      script = () => '{"answer_json":{"approved":true},"answer_text":"approved"}';
      const before = llm.heard.length;
      for (const ask_type of ["APPROVAL", "POLICY_DECISION"]) {
        for (let i = 0; i < 2; i += 1) {
          const one = await scene.ask({ ask_type, meta: { action: "deploy", env: "prod" } });
          await scene.withPeople(one);
          assert.deepEqual((await linesOf(scene, one)).length, 2);
          const dana = await scene.person();
          await answer(dana.by, one, { answer_json: { approved: true, decision: "ALLOW" } });
          assert.equal((await scene.answerTo(one)).source, "person");
        }
      }
      assert.equal(llm.heard.length, before);
    });

    it("needs as many people as policy says, and ends with the first who rejects", async () => {
      const [dana, eli, fay] = [await scene.person(), await scene.person(), await scene.person()];
      const pay = { ask_type: "APPROVAL", meta: { action: "pay", args: { amount: 5 } } };
      const one = await scene.ask(pay);
      await scene.withPeople(one);
      const yes = { answer_json: { approved: true } };
      const counted = await answer(dana.by, one, yes);
      assert.deepEqual([counted.status, counted.body.type, counted.body.status], [202, "Ask", "PENDING"]);
      assert.equal((await answer(dana.by, one, yes)).body.status, "PENDING");
      assert.equal((await answer(eli.by, one, yes)).body.status, "ANSWERED");
      assert.equal((await answer(dana.by, one, yes)).body.status, "ANSWERED");

      const two = await scene.ask({ ...pay, prompt: "Pay again?" });
      await scene.withPeople(two);
      await answer(dana.by, two, yes);
      assert.equal((await answer(fay.by, two, { status: "REJECTED", error: "too much" })).body.status, "REJECTED");
      assert.equal((await scene.answerTo(two)).error, "E_HUMAN_REJECT: too much");
    });
  });

  describe(`the stages where nobody is asked on ${on}`, () => {
    const scene = sharedRelay(on, { env: { PARLEY_RELAY_PEOPLE: "false" } });
    it("ends what machines may not answer, and says why", async () => {
      const { ana, bo, ask, answerTo } = scene();
      const approval = await answerTo(await ask({ ask_type: "APPROVAL", meta: { action: "deploy" } }));
      assert.deepEqual([approval.status, approval.error_code], ["REJECTED", "E_NO_ANSWERER"]);
      assert.match(approval.ask_back, /^Policy puts this to people, and none are asked here: policy\.yaml@v1$/);
      const one = await answerTo(await ask());
      assert.deepEqual(gist(one), {
        status: "ERROR",
        source: "server",
        error: "E_NO_ANSWERER: no machine could answer, and nobody is asked here",
      });
      assert.equal((await bo.post("/asks", newAsk())).status, 202);
      await until(async () => (await ana.get(`/jobs/${one.job_id}`)).body.state === "RUNNING");
    });
  });
}
