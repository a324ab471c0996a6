import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { artifacts, jobs, LeaseLost, type HeldJob, type JobEvent } from "@parley/sdk/executor";
import { until } from "../support/contract.ts";
import { sharedExecutors } from "../support/executor.ts";
import { freshKind } from "../support/jobs.ts";
import { ONE_DATABASE } from "../support/world.ts";

for (const on of ONE_DATABASE) {
  describe(`working on jobs with the executor SDK on ${on}`, { concurrency: true }, () => {
    const { scene, relay, openIn, answers } = sharedExecutors(on);
    const queue = (kind: string, more: Record<string, unknown> = {}) => scene().queue({ kind, ...more });
    const jobOf = async (id: string) => (await scene().admin.get(`/jobs/${id}`)).body;

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
      const kept = await scene().planner.get(`/jobs/${id}/artifacts/out/report.txt`);
      assert.equal(kept.text, "three rows");
      const jobEvent: JobEvent[] = [];
      for await (const event of jobs.events({ ...relay(scene().planner), job_id: id, after: 0 })) jobEvent.push(event);
      const said = jobEvent.map((event) => (event.event === "status" ? event.data.state : event.event));
      assert.deepEqual(
        [said[0], said.at(-1), said.includes("WAITING_ON_ANSWER"), said.includes("answer")],
        ["QUEUED", "SUCCEEDED", true, true],
      );
      assert.deepEqual(
        jobEvent.map(({ id: number }) => number),
        jobEvent.map((_, i) => i + 1),
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
      const outcome = await jobs.claim({ ...relay(), kinds: [kind], lease_ttl_s: 5 }, async ({ signal }) => {
        const { lease_expires_at: first } = await jobOf(id);
        // Held on past the end of a second lease.
        await until(async () => signal.aborted || (await jobOf(id)).lease_expires_at > first + 5000);
        signal.throwIfAborted();
      });
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
      assert.equal((await scene().ana.get(`/asks/ask-of-${id}`)).body.status, "PENDING");
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
        await scene().planner.post(`/jobs/${id}/cancel`, {});
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
        jobs.claim({ ...relay(scene().bo), kinds: [kind] }, (held) => held.ask("CLARIFICATION", "Which one?")),
      );
      assert.equal((await first)?.ended, "LOST");
      assert.ok(reasons[0] instanceof LeaseLost && reasons[0].code === "LEASE_EXPIRED");
      await until(async () => (await scene().admin.get(`/jobs/${id}/asks`)).body.asks.length === 2);
      await answers(id, { answer_text: "The second one." });
      assert.equal((await second)?.ended, "SUCCEEDED");
      const job = await jobOf(id);
      assert.deepEqual([job.epoch, job.result.text], [3, "The second one."]);
      const { asks: asked } = (await scene().admin.get(`/jobs/${id}/asks`)).body;
      assert.deepEqual(
        asked.map((one: { ask: { joined_to?: string } }) => one.ask.joined_to ?? null),
        [null, asked[0].ask.ask_id],
      );
    });

    it("lets the program that a job was handed to end it", async () => {
      const kind = freshKind();
      await queue(kind);
      let tooLate = 0;
      const counting: typeof fetch = async (input, init) => {
        const reply = await fetch(input, init);
        const text = await reply.text();
        if (String(input).endsWith("/heartbeat") && !reply.ok) tooLate += 1;
        return new Response(text === "" ? null : text, reply);
      };
      const outcome = await jobs.claim(
        { ...relay(), kinds: [kind], lease_ttl_s: 5, fetch: counting },
        async ({ job, lease, signal }) => {
          const place = { ...relay(), job_id: job.job_id, lease: lease.token };
          assert.equal((await jobs.heartbeat({ ...place, note: "half done" })).state, "RUNNING");
          await jobs.log("nearly", place);
          await jobs.finish({ state: "SUCCEEDED", result: 7 }, place);
          await until(() => tooLate > 0, "a sign of life that comes too late");
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
}
