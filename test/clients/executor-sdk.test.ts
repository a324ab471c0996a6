import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  artifacts,
  ask,
  AskFailed,
  AskRejected,
  AskTimedOut,
  jobs,
  LeaseLost,
  ParleyError,
} from "@parley/sdk/executor";
import type { AskKind, HeldJob, JobEvent } from "@parley/sdk/executor";
import { contextEnvelope, contextHash } from "../../sdk/src/executor-context.ts";
import { OPERATOR } from "../../src/verbs/prepare-first-start.ts";
import { freshDatabase } from "../fresh-database.ts";
import { freshKind, openJobs, type JobScene, type Program } from "../jobs.ts";
import { newFolder, parley, post, serve, stop, until } from "../program.ts";
import { DATABASES } from "../world.ts";

type AskOptions = NonNullable<Parameters<typeof ask>[2]>;

const POLICY = `version: 1
rules:
  - id: staging-deploys
    when: { env: staging, action: deploy }
    decision: ALLOW
  - id: prod-writes
    when: { env: prod, action: write }
    decision: DENY
    reason: Write in prod forbidden
`;

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

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const on of DATABASES) {
  describe(`the executor SDK on ${on}`, { concurrency: true }, () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-executor-"));
    let scene: JobScene;
    let dana: Program;
    before(async () => {
      const policy = join(folder, "policy.yaml");
      writeFileSync(policy, POLICY);
      scene = await openJobs(on, { running: true, env: { PARLEY_RELAY_POLICY_FILE: policy } });
      dana = await scene.program({ name: "dana", scope: "answer", person: OPERATOR });
    });
    after(async () => {
      await scene[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    });

    const relay = (by: Program = scene.ana) => ({ url: scene.world.url, key: by.key });
    /** Asks in a job of its own. */
    function asks(type: AskKind, prompt: string, options: AskOptions = {}) {
      const place = { ...relay(), ask_id: `ask-${randomUUID()}`, job_id: `J-${randomUUID()}`, step_id: "S-1" };
      const whole = { ...place, ...options };
      return { id: whole.ask_id, job: whole.job_id, answer: ask(type, prompt, whole) };
    }
    /** Resolves with an ask of that job that people may answer. */
    async function openIn(job: string) {
      for (;;) {
        const { asks } = (await dana.get("/asks?status=PENDING")).body;
        const found = asks.find((one: { job_id: string; stage: string }) => one.job_id === job);
        if (found?.stage === "people") return found;
        await sleep(20);
      }
    }
    async function answers(job: string, more: Record<string, unknown>): Promise<string> {
      const { ask_id, step_id } = await openIn(job);
      const reply = await dana.post("/answers", { ask_id, job_id: job, step_id, status: "ANSWERED", ...more });
      assert.equal(reply.status, 202, reply.text);
      return ask_id;
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
      await until(() => stages.length > 0, "a stage");
      await answers(job, { answer_text: "EUR for EU shops." });
      assert.deepEqual(await answer, { text: "EUR for EU shops.", askId: id, source: "person" });
      assert.deepEqual(stages, ["people"]);
    });

    it("offers choices, and brings the one that was chosen", async () => {
      const { job, answer } = asks("CHOICE", "Which plan?", { choices: ["Fast", "Safe"] });
      await answers(job, { answer_json: { choice: "Safe" } });
      const { text, json } = await answer;
      assert.deepEqual([text, json], ["Safe", { choice: "Safe", index: 1 }]);
    });

    it("brings an approval with the digest of what was shown, and throws where a person says no", async () => {
      const wish = { action: "deploy", env: "prod", resource: "shop-api", args: { version: "1.4.2" } };
      const yes = asks("APPROVAL", "Deploy 1.4.2 to prod?", wish);
      await answers(yes.job, { answer_json: { approved: true } });
      const { json, consent_digest } = await yes.answer;
      assert.deepEqual(json, { approved: true, by: "person" });
      assert.equal(consent_digest, "sha256:8fd3d987fdcfe9ebd974b05ddf565c29f15fe6355607da69717be7cc6a6d9752");

      const no = asks("APPROVAL", "Deploy 1.4.3 to prod?", wish);
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
      const history = (await scene.ana.get(`/jobs/${job}/asks`)).body;
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
      const { error_code: code } = (await scene.ana.get(`/asks/${id}/answer?wait=0`)).body;
      assert.equal(code, "E_CANCELED");

      const lost = new AbortController();
      const left = asks("CLARIFICATION", "Which one?", { signal: lost.signal });
      await openIn(left.job);
      lost.abort(new LeaseLost("FENCED", "The lease is no longer valid"));
      await assert.rejects(left.answer, { code: "FENCED" });
      assert.equal((await scene.ana.get(`/asks/${left.id}`)).body.status, "PENDING");
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

    describe("working on jobs", { concurrency: true }, () => {
      const queue = (kind: string, more: Record<string, unknown> = {}) => scene.queue({ kind, ...more });
      const jobOf = async (id: string) => (await scene.admin.get(`/jobs/${id}`)).body;

      it("ends a job as its handler does", async () => {
        const kind = freshKind();
        const [first, second] = [await queue(kind, { spec: { n: 1 } }), await queue(kind, { spec: { n: 2 } })];
        const seen: unknown[] = [];
        const work = ({ job }: HeldJob) => {
          seen.push(job.spec);
          if (seen.length === 2) throw new Error("there is no table");
          return { rows: 3 };
        };
        const options = { ...relay(), kinds: [kind] };
        assert.deepEqual(await jobs.claim(options, work), { job_id: first.job_id, ended: "SUCCEEDED" });
        assert.equal((await jobs.claim(options, work))?.ended, "FAILED");
        assert.equal(await jobs.claim({ ...options, wait: false }, work), null);
        assert.deepEqual(seen, [{ n: 1 }, { n: 2 }]);
        const [done, failed] = [await jobOf(first.job_id), await jobOf(second.job_id)];
        assert.deepEqual([done.state, done.result], ["SUCCEEDED", { rows: 3 }]);
        assert.deepEqual([failed.state, failed.reason], ["FAILED", "there is no table"]);
      });

      it("waits until there is a job, and asks, logs and keeps files in its name", async () => {
        const kind = freshKind();
        const working = jobs.claim({ ...relay(), kinds: [kind] }, async (held) => {
          await held.log([{ message: "looking", level: "debug" }, { message: "found" }]);
          const file = await held.put("out/report.txt", "three rows");
          const { json } = await held.ask("POLICY_DECISION", "May I?", { action: "deploy", env: "staging" });
          await held.finish({ state: "SUCCEEDED", result: json, artifacts: [file.path] });
          return "this does not count";
        });
        const { job_id: id } = await queue(kind);
        assert.deepEqual(await working, { job_id: id, ended: "SUCCEEDED" });
        const job = await jobOf(id);
        assert.deepEqual([job.result.decision, job.artifacts], ["ALLOW", ["out/report.txt"]]);
        const kept = await scene.planner.get(`/jobs/${id}/artifacts/out/report.txt`);
        assert.equal(kept.text, "three rows");
        const told: JobEvent[] = [];
        for await (const event of jobs.events({ ...relay(scene.planner), job_id: id, after: 0 })) told.push(event);
        const said = told.map((event) => (event.event === "status" ? event.data.state : event.event));
        assert.deepEqual(
          [said[0], said.at(-1), said.includes("WAITING_ON_ANSWER"), said.includes("answer")],
          ["QUEUED", "SUCCEEDED", true, true],
        );
        assert.deepEqual(
          told.map(({ id: number }) => number),
          told.map((_, i) => i + 1),
        );
      });

      it("fails a job whose result cannot be told", async () => {
        const kind = freshKind();
        const { job_id: id } = await queue(kind);
        const outcome = await jobs.claim({ ...relay(), kinds: [kind] }, () => "x".repeat(100_000));
        assert.equal(outcome?.ended, "FAILED");
        assert.equal((await jobOf(id)).state, "FAILED");
      });

      it("holds a job on for longer than its lease", async () => {
        const kind = freshKind();
        const { job_id: id } = await queue(kind);
        const outcome = await jobs.claim({ ...relay(), kinds: [kind], lease_ttl_s: 5 }, ({ signal }) =>
          Promise.race([sleep(7000), new Promise((_, reject) => signal.addEventListener("abort", reject))]),
        );
        assert.equal(outcome?.ended, "SUCCEEDED");
        assert.equal((await jobOf(id)).epoch, 1);
      });

      it("gives the job back when it is told to stop", async () => {
        const kind = freshKind();
        const { job_id: id } = await queue(kind);
        const stop = new AbortController();
        const working = jobs.claim({ ...relay(), kinds: [kind], signal: stop.signal }, ({ ask: asking }) =>
          asking("CLARIFICATION", "Which one?", { ask_id: `ask-of-${id}` }),
        );
        await openIn(id);
        stop.abort();
        assert.equal((await working)?.ended, "RELEASED");
        const job = await jobOf(id);
        assert.deepEqual([job.state, job.attempts], ["QUEUED", 0]);
        assert.equal((await scene.ana.get(`/asks/ask-of-${id}`)).body.status, "PENDING");
        await assert.rejects(
          jobs.claim({ ...relay(), kinds: [freshKind()], signal: AbortSignal.timeout(50) }, () => {}),
          { name: "TimeoutError" },
        );
      });

      it("is stopped when the job is cancelled", async () => {
        const kind = freshKind();
        const { job_id: id } = await queue(kind);
        let reason: unknown;
        const outcome = await jobs.claim({ ...relay(), kinds: [kind], lease_ttl_s: 5 }, async ({ signal }) => {
          const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
          await scene.planner.post(`/jobs/${id}/cancel`, {});
          await aborted;
          reason = signal.reason;
          signal.throwIfAborted();
        });
        assert.ok(reason instanceof LeaseLost);
        assert.deepEqual([outcome?.ended, (await jobOf(id)).state], ["LOST", "CANCELED"]);
      });

      it("stops when it cannot say in time that it lives; the next one's question joins, and people are asked once", async () => {
        const kind = freshKind();
        const { job_id: id } = await queue(kind);
        let isCut = false;
        const cut: typeof fetch = async (input, init) => {
          const isPoll = String(input).includes("/answer");
          if (isCut || isPoll) throw new TypeError("there is no network");
          return fetch(input, init);
        };
        const reasons: unknown[] = [];
        const first = jobs.claim({ ...relay(), kinds: [kind], lease_ttl_s: 5, fetch: cut }, async (held) => {
          const answer = held.ask("CLARIFICATION", "Which one?").catch(() => {});
          await openIn(id);
          isCut = true;
          await new Promise((resolve) => held.signal.addEventListener("abort", resolve));
          reasons.push(held.signal.reason);
          await answer;
          held.signal.throwIfAborted();
        });
        const second = first.then(() =>
          jobs.claim({ ...relay(scene.bo), kinds: [kind] }, (held) => held.ask("CLARIFICATION", "Which one?")),
        );
        assert.equal((await first)?.ended, "LOST");
        assert.ok(reasons[0] instanceof LeaseLost && reasons[0].code === "LEASE_EXPIRED");
        for (let told = 0; told < 2; told = (await scene.admin.get(`/jobs/${id}/asks`)).body.asks.length)
          await sleep(20);
        await answers(id, { answer_text: "The second one." });
        assert.equal((await second)?.ended, "SUCCEEDED");
        const job = await jobOf(id);
        assert.deepEqual([job.epoch, job.result.text], [3, "The second one."]);
        const { asks: asked } = (await scene.admin.get(`/jobs/${id}/asks`)).body;
        assert.deepEqual(
          asked.map((one: { ask: { joined_to?: string } }) => one.ask.joined_to ?? null),
          [null, asked[0].ask.ask_id],
        );
      });

      it("lets the program that a job was handed to end it", async () => {
        const kind = freshKind();
        await queue(kind);
        const outcome = await jobs.claim(
          { ...relay(), kinds: [kind], lease_ttl_s: 5 },
          async ({ job, lease, signal }) => {
            const place = { ...relay(), job_id: job.job_id, lease: lease.token };
            assert.equal((await jobs.heartbeat({ ...place, note: "half done" })).state, "RUNNING");
            await jobs.log("nearly", place);
            await jobs.finish({ state: "SUCCEEDED", result: 7 }, place);
            // Long enough for a sign of life that comes too late.
            await sleep(2500);
            assert.equal(signal.aborted, false);
            return 7;
          },
        );
        assert.equal(outcome?.ended, "SUCCEEDED");
        const late = { ...relay(), job_id: outcome.job_id, lease: "lease_old" };
        await assert.rejects(jobs.release(late), { code: "FENCED" });
        await assert.rejects(artifacts.put("a.txt", "late", late), { code: "FENCED" });
      });
    });
  });

  describe(`the executor SDK and a server that is started again on ${on}`, () => {
    it("goes on waiting and following, and is answered once", async () => {
      const dataDir = newFolder();
      const env = on === "postgres" ? { DATABASE_URL: await freshDatabase() } : {};
      const first = await serve(dataDir, env);
      const { url } = first;
      const keyOf = async (...words: string[]) =>
        (await parley(["keys", "create", ...words], { PARLEY_DATA_DIR: dataDir, ...env })).out.trim();
      const [key, dana] = [
        await keyOf("runner", "--scope", "executor"),
        await keyOf("dana", "--scope", "answer", "--person", OPERATOR),
      ];
      const place = { url, key, job_id: "J-42", step_id: "S-3" };
      const stages: string[] = [];
      const options = { ...place, ask_id: "ask-7f3a", onPending: (stage: string) => stages.push(stage) };
      const answer = ask("CLARIFICATION", "Which currency?", options);
      await until(() => stages.includes("people"), "people");
      const told: JobEvent[] = [];
      const stopped = new AbortController();
      const following = (async () => {
        for await (const event of jobs.events({ ...place, after: 0, signal: stopped.signal })) told.push(event);
      })().catch(() => {});
      await until(() => told.length >= 3, "events");

      await stop(first);
      const second = await serve(dataDir, env, "--port", new URL(url).port);
      const said = { ask_id: "ask-7f3a", job_id: "J-42", step_id: "S-3", status: "ANSWERED", answer_text: "EUR" };
      const reply = await post(url, "/answers", said, { authorization: `Bearer ${dana}` });
      assert.equal(reply.status, 202, await reply.text());
      assert.equal((await answer).text, "EUR");
      const went = () => told.flatMap((event) => (event.event === "status" ? [event.data.state] : []));
      await until(() => went().at(-1) === "RUNNING" && told.some(({ event }) => event === "answer"), "the answer");
      assert.deepEqual(went(), ["RUNNING", "WAITING_ON_ANSWER", "RUNNING"]);
      assert.deepEqual(
        told.map(({ id }) => id),
        told.map((_, i) => i + 1),
      );
      stopped.abort();
      await following;
      await stop(second);
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
