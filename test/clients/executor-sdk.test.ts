import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import {
  ask,
  AskFailed,
  AskRejected,
  AskTimedOut,
  LeaseLost,
  ParleyError,
  type AskKind,
  type AskOptions,
} from "@parley/sdk/executor";
import { contextEnvelope, contextHash } from "../../sdk/src/executor/context.ts";
import { sharedExecutors } from "../support/executor.ts";
import { until } from "../support/program.ts";
import { ONE_DATABASE } from "../support/world.ts";

/** Sends every request, and loses the reply of the first that matches. */
function losingFirst(method: string): { fetch: typeof fetch; sent: () => number } {
  let sent = 0;
  return {
    sent: () => sent,
    fetch: async (input, init) => {
      const reply = await fetch(input, init);
      if (init?.method !== method || ++sent > 1) return reply;
      await reply.body?.cancel();
      throw new TypeError("the connection was cut");
    },
  };
}

for (const on of ONE_DATABASE) {
  describe(`the executor SDK on ${on}`, { concurrency: true }, () => {
    const { scene, relay, openIn, answers } = sharedExecutors(on);

    /** Asks in a job of its own. */
    function asks(type: AskKind, prompt: string, options: AskOptions = {}) {
      const place = { ...relay(), ask_id: `ask-${randomUUID()}`, job_id: `J-${randomUUID()}`, step_id: "S-1" };
      const whole = { ...place, ...options };
      const answer = ask(type, prompt, whole);
      // The answer may arrive as a refusal before the answering client has its reply.
      answer.catch(() => undefined);
      return { id: whole.ask_id, job: whole.job_id, answer };
    }

    it("brings what the policy says, and throws where it says no", async () => {
      const may = await asks("POLICY_DECISION", "May I?", { action: "deploy", env: "staging" }).answer;
      assert.deepEqual([may.json, may.source], [{ decision: "ALLOW", rules: ["staging-deploys"] }, "policy"]);
      const error = await asks("POLICY_DECISION", "May I?", { action: "write", env: "prod" }).answer.catch(
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof AskRejected);
      assert.deepEqual(
        [error.code, error.message, error.answer.status, error.answer.source],
        ["E_POLICY_DENY", "E_POLICY_DENY: Write in prod forbidden", "REJECTED", "policy"],
      );
    });

    it("brings what a person says, and tells the stage meanwhile", async () => {
      const stages: string[] = [];
      const { id, job, answer } = asks("CLARIFICATION", "Which currency?", {
        onPending: (stage) => stages.push(stage),
      });
      await until(() => stages.includes("people"), "the stage of people");
      await answers(job, { answer_text: "EUR for EU shops." });
      assert.deepEqual(await answer, { text: "EUR for EU shops.", askId: id, source: "person" });
      // A caller that looks early enough sees the ask before it was given to anybody.
      assert.deepEqual(stages.at(0) === "intake" ? stages.slice(1) : stages, ["people"]);
    });

    it("passes on what its caller's own function throws", async () => {
      const onPending = () => {
        throw new RangeError("that is no stage of mine");
      };
      await assert.rejects(asks("CLARIFICATION", "Which currency?", { onPending }).answer, RangeError);
    });

    it("offers choices, and brings the one that was chosen", async () => {
      const { job, answer } = asks("CHOICE", "Which plan?", { choices: ["Fast", "Safe"] });
      await answers(job, { answer_json: { choice: "Safe" } });
      const { text, json } = await answer;
      assert.deepEqual([text, json], ["Safe", { choice: "Safe", index: 1 }]);
    });

    it("brings an approval with the digest of what was shown, and throws where a person says no", async () => {
      const input = { action: "deploy", env: "prod", resource: "shop-api", args: { version: "1.4.2" } };
      const yes = asks("APPROVAL", "Deploy 1.4.2 to prod?", input);
      await answers(yes.job, { answer_json: { approved: true } });
      const { json, consent_digest } = await yes.answer;
      assert.deepEqual(json, { approved: true, by: "person" });
      assert.equal(consent_digest, "sha256:8fd3d987fdcfe9ebd974b05ddf565c29f15fe6355607da69717be7cc6a6d9752");

      const no = asks("APPROVAL", "Deploy 1.4.3 to prod?", input);
      await answers(no.job, { status: "REJECTED", answer_text: "Not on a Friday" });
      await assert.rejects(no.answer, (error: unknown) => {
        assert.ok(error instanceof AskRejected);
        return error.code === "E_HUMAN_REJECT" && error.message === "E_HUMAN_REJECT: Not on a Friday";
      });
    });

    it("throws when nobody answers in time, and when there is no such role", async () => {
      await assert.rejects(
        asks("CLARIFICATION", "Anybody?", { timeout_s: 1 }).answer,
        (error: unknown) =>
          error instanceof AskTimedOut && error.code === "E_TIMEOUT" && error.answer.status === "TIMEOUT",
      );
      await assert.rejects(
        asks("CLARIFICATION", "Anybody?", { role_id: "role.nobody" }).answer,
        (error: unknown) => error instanceof AskFailed && error.code === "E_ROLE_NOT_FOUND",
      );
    });

    it("takes no answer that was made for other circumstances", async () => {
      const altering: typeof fetch = async (input, init) => {
        const reply = await fetch(input, init);
        if (reply.status !== 200) return reply;
        const answer = { ...((await reply.json()) as object), attestation: { context_hash: "f".repeat(64) } };
        return new Response(JSON.stringify(answer), reply);
      };
      const { answer } = asks("POLICY_DECISION", "May I?", { action: "deploy", env: "staging", fetch: altering });
      await assert.rejects(
        answer,
        (error: unknown) => error instanceof AskFailed && error.code === "E_CONTEXT_MISMATCH",
      );
    });

    it("asks once when the reply is lost", async () => {
      const { fetch, sent } = losingFirst("POST");
      const { job, answer } = asks("POLICY_DECISION", "May I?", { action: "deploy", env: "staging", fetch });
      assert.equal((await answer).source, "policy");
      const history = (await scene().ana.get(`/jobs/${job}/asks`)).body;
      assert.deepEqual([sent(), history.asks.length], [2, 1]);
    });

    it("takes a refusal for final", async () => {
      await assert.rejects(
        asks("CLARIFICATION", "  ").answer,
        (error: unknown) => error instanceof ParleyError && error.code === "VALIDATION_ERROR" && error.status === 400,
      );
      await assert.rejects(asks("CLARIFICATION", "Me?", { key: "none" }).answer, { code: "UNAUTHORIZED" });
      await assert.rejects(ask("CLARIFICATION", "Where am I?", relay()), /There is no job_id/);
    });

    it("withdraws what is wanted no more, and leaves what a lost job asked", async () => {
      const stop = new AbortController();
      const { id, job, answer } = asks("CLARIFICATION", "Which one?", { signal: stop.signal });
      await openIn(job);
      const reason = new Error("not needed any more");
      stop.abort(reason);
      await assert.rejects(answer, reason);
      const { error_code: code } = (await scene().ana.get(`/asks/${id}/answer?wait=0`)).body;
      assert.equal(code, "E_CANCELED");

      const lost = new AbortController();
      const left = asks("CLARIFICATION", "Which one?", { signal: lost.signal });
      await openIn(left.job);
      lost.abort(new LeaseLost("FENCED", "The lease is no longer valid"));
      await assert.rejects(left.answer, { code: "FENCED" });
      assert.equal((await scene().ana.get(`/asks/${left.id}`)).body.status, "PENDING");
    });

    it("follows up once when it is asked back", async () => {
      const questions: string[] = [];
      const { id, job, answer } = asks("CLARIFICATION", "Which table?", {
        onAskBack: (question) => {
          questions.push(question);
          return "The one of the shop.";
        },
      });
      await answers(job, { ask_back: "Of which database?" });
      await until(() => questions.length > 0, "the question back");
      const second = await openIn(job);
      assert.deepEqual([second.prompt, second.meta], ["The one of the shop.", { in_reply_to: id }]);
      await answers(job, { answer_text: "orders" });
      assert.equal((await answer).text, "orders");
      assert.deepEqual(questions, ["Of which database?"]);
    });

    it("brings the question back to whoever does not answer it", async () => {
      const { job, answer } = asks("CLARIFICATION", "Which table?");
      await answers(job, { ask_back: "Of which database?" });
      assert.equal((await answer).ask_back, "Of which database?");
    });
  });
}

describe("the circumstances that an ask is bound to", () => {
  it("are hashed as the contract says", async () => {
    assert.equal(
      await contextHash({ role: "default", job_snapshot: {} }),
      "602e574ff0ca9a3e28cb25cab8f15713404ef16211f9efb63b0bb7822859b6a8",
    );
  });

  it("come from the environment", () => {
    const said = {
      TASK_RELAY_REPO: "https://git.example/shop",
      TASK_RELAY_PROFILE: "staging",
      TASK_RELAY_FACT_DATABASE: "shop",
      TASK_RELAY_COMMIT_SHA: "",
    };
    const before = { ...process.env };
    Object.assign(process.env, said);
    try {
      assert.deepEqual(contextEnvelope("role.finder"), {
        job_snapshot: { repo: "https://git.example/shop", env_profile: "staging" },
        facts: { database: "shop" },
        role: "role.finder",
      });
    } finally {
      process.env = before;
    }
  });
});
