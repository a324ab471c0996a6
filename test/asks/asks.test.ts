import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { fresh, until } from "../support/contract.ts";
import { assertClosed, assertFenced, assertNoJob, assertRelayError, claim, freshKind } from "../support/jobs.ts";
import { answer, codeOf, EMPTY_ENVELOPE, EMPTY_HASH, gist, newAsk, noAsk, sharedRelay } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const times = (count: number, one: string) => one.repeat(count);

interface History {
  ask: { ask_id: string };
  answer: Record<string, unknown> | null;
}

for (const on of DATABASES) {
  describe(`asks on ${on}`, () => {
    const scene = sharedRelay(on, { env: { PARLEY_RELAY_PENDING_PER_JOB: "3", PARLEY_RELAY_PENDING_PER_AGENT: "60" } });

    it("stores what is asked before it says so, in both spellings", async () => {
      const { ana, world } = scene();
      const at = world.clock.now();
      const input = { ...newAsk({ ask_id: `ask-${on}`, job_id: `J-${on}`, role_id: null, extra: 1 }), meta: null };
      const reply = await ana.post("/asks", input);
      assert.equal(reply.headers.get("location"), `/asks/ask-${on}/answer`);
      assert.equal(reply.headers.get("idempotency-replayed"), null);
      const ids = { ask_id: `ask-${on}`, askId: `ask-${on}`, job_id: `J-${on}`, jobId: `J-${on}` };
      assert.equal(
        reply.text,
        JSON.stringify({
          type: "Ask",
          ...ids,
          step_id: "S-1",
          stepId: "S-1",
          ask_type: "CLARIFICATION",
          askType: "CLARIFICATION",
          prompt: "Which currency?",
          context_hash: EMPTY_HASH,
          contextHash: EMPTY_HASH,
          context_envelope: EMPTY_ENVELOPE,
          contextEnvelope: EMPTY_ENVELOPE,
          constraints: { timeout_s: 60, max_tokens: 512 },
          status: "PENDING",
          stage: "intake",
          epoch: 0,
          created_at: at,
          createdAt: at,
          expires_at: at + 60_000,
          expiresAt: at + 60_000,
          warnings: [],
        }),
      );
      const job = await ana.get(`/jobs/J-${on}`);
      assert.deepEqual([job.body.state, job.body.external, job.body.pending_asks], ["WAITING_ON_ANSWER", true, 1]);
    });

    it("keeps what limits an ask under the names of the protocol, and knows those of earlier versions", async () => {
      const { ana, ask, withPeople, world } = scene();
      const { db } = world.server.ctx;
      const constraints = { timeout_s: 600, max_tokens: 100, allowed_tools: ["code.run"] };
      const [stored, before] = [await ask({ constraints }), await ask({ constraints })];
      const [row] = await db.all<{ constraints_json: string }>(
        sql`SELECT constraints_json FROM asks WHERE ask_id = ${stored.ask_id}`,
      );
      assert.deepEqual(JSON.parse(row?.constraints_json ?? ""), constraints);

      // A former version stored it so. Nobody was asked yet, so that its own deadline ends it.
      for (const one of [stored, before]) await withPeople(one);
      const earlier = JSON.stringify({ timeoutS: 600, maxTokens: 100, allowedTools: ["code.run"] });
      await db.all(
        sql`UPDATE asks SET constraints_json = ${earlier}, addressed_id = NULL WHERE ask_id = ${before.ask_id}`,
      );
      await db.all(sql`UPDATE asks SET addressed_id = NULL WHERE ask_id = ${stored.ask_id}`);
      for (const one of [stored, before]) {
        assert.deepEqual((await ana.get(`/asks/${one.ask_id}`)).body.constraints, constraints);
      }
      await world.advance(600_000);
      const ended = () =>
        db.all(
          sql`SELECT ask_id FROM asks WHERE ask_id IN (${stored.ask_id}, ${before.ask_id}) AND status = 'TIMEOUT'`,
        );
      await until(async () => (await ended()).length === 2);
    });

    it("computes the hash of an envelope that came without one, whatever the order of its members", async () => {
      const { context_hash } = await scene().ask({
        context_hash: undefined,
        context_envelope: { role: "default", job_snapshot: {} },
      });
      assert.equal(context_hash, EMPTY_HASH);
      const facts = { job_snapshot: { repo: "shop" }, facts: { b: [1, "ü"], a: { y: null, x: 1.5 } }, role: "r" };
      const one = await scene().ask({ context_hash: undefined, context_envelope: facts });
      assert.match(one.context_hash, /^[0-9a-f]{64}$/);
      const same = await scene().ask({ context_hash: one.context_hash, context_envelope: facts });
      assert.equal((await scene().withPeople(same)).length > 0, true);
    });

    it("keeps every digit of what it passes on", async () => {
      const { ana, world, admin } = scene();
      const text = JSON.stringify(newAsk({ ask_type: "APPROVAL", meta: { action: "pay", args: { amount: "@" } } }));
      const body = text.replace('"@"', "12345678901234567890");
      const { body: ask } = await world.call("POST", "/asks", {
        headers: { ...ana.headers, "content-type": "application/json" },
        body,
      });
      const shown = await world.call("GET", `/asks/${ask.ask_id}`, { headers: admin.headers });
      assert.match(shown.text, /"amount":12345678901234567890\}/);
    });

    it("returns the same ask to the same request, also when its job is over", async () => {
      const { ana, bo } = scene();
      const wish = newAsk({ ask_id: fresh(`again-${on}`) });
      const first = await ana.post("/asks", wish);
      const again = await ana.post("/asks", { ...wish, meta: null });
      assert.equal(again.status, 202);
      assert.equal(again.headers.get("idempotency-replayed"), "true");
      assert.equal(again.body.ask_id, first.body.ask_id);
      await ana.post(`/jobs/${first.body.job_id}/cancel`);
      const over = await ana.post("/asks", wish);
      assert.deepEqual([over.status, over.body.status], [202, "ERROR"]);

      const taken = {
        code: "ASK_ID_CONFLICT",
        message: "ask_id was used with another body",
        details: { ask_id: first.body.ask_id },
      };
      assertRelayError(await ana.post("/asks", { ...wish, prompt: "Another?" }), 409, taken);
      assertRelayError(await bo.post("/asks", wish), 409, taken);
      assertRelayError(await bo.post("/asks", { ...wish, job_id: fresh("J") }), 409, taken);
      assertClosed(await ana.post("/asks", { ...wish, ask_id: fresh("other") }), first.body.job_id, "CANCELED");
    });

    it("stores one of many equal requests that come at once", async () => {
      const { ana, world } = scene();
      const wish = newAsk({ ask_id: fresh(`race-${on}`) });
      const replies = await Promise.all(Array.from({ length: 12 }, () => ana.post("/asks", wish)));
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [202]);
      assert.equal(replies.filter(({ headers }) => headers.get("idempotency-replayed") === null).length, 1);
      const rows = await world.server.ctx.db.all(
        sql`SELECT 1 AS one FROM asks WHERE job_id = ${String(wish["job_id"])}`,
      );
      assert.equal(rows.length, 1);
    });

    it("refuses what is no JSON, too large, of another kind, or too deep", async () => {
      const { ana, world } = scene();
      const post = (body: string, type = "application/json") =>
        world.call("POST", "/asks", { headers: { ...ana.headers, "content-type": type }, body });
      assertRelayError(await post("{"), 400, { code: "INVALID_JSON", message: "Request body is not JSON" });
      assertRelayError(await post(""), 400, { code: "INVALID_JSON", message: "Request body is not JSON" });
      assert.deepEqual(codeOf(await post("[]")), [400, "VALIDATION_ERROR"]);
      assert.deepEqual(codeOf(await post(`{"meta":${times(40, "[")}${times(40, "]")}}`)), [400, "INVALID_JSON"]);
      assert.deepEqual(codeOf(await post("{}", "text/plain")), [415, "UNSUPPORTED_MEDIA_TYPE"]);
      const large = await post(JSON.stringify({ prompt: times(1_048_577, "x") }));
      assertRelayError(large, 413, {
        code: "PAYLOAD_TOO_LARGE",
        message: "The body is too large",
        details: { max_bytes: 1_048_576 },
      });
    });

    it("holds as many pending asks as it may, of a job and of a principal", async () => {
      const { program, world } = scene();
      const busy = await program({ name: fresh("busy"), scope: "executor" });
      const job = fresh("J-full");
      for (let i = 0; i < 3; i += 1) await scene().ask({ job_id: job }, busy);
      const full = await busy.post("/asks", newAsk({ job_id: job }));
      const details = { limit: 3, pending: 3, retry_after: 5 };
      assertRelayError(full, 429, { code: "RATE_LIMITED", message: "Too many requests.", details });
      assert.equal(full.headers.get("retry-after"), "5");
      for (let i = 3; i < 60; i += 1) await scene().ask({}, busy);
      const { body } = await busy.post("/asks", newAsk());
      assert.deepEqual(body.error.details, { limit: 60, pending: 60, retry_after: 5 });
      await world.advance(1000);
    });

    it("knows nothing of a job that is somebody else's, and fences whoever has lost one", async () => {
      const { ana, bo, ask, queue, world } = scene();
      const other = await ask({}, ana);
      assertNoJob(await bo.post("/asks", newAsk({ job_id: other.job_id })));

      const { job_id: id, kind } = await queue({ kind: freshKind() });
      const held = await claim(ana, kind);
      await ask({ job_id: id }, ana, held.lease);
      assertFenced(await ana.post("/asks", newAsk({ job_id: id }), "no-such-lease"), 1, "WAITING_ON_ANSWER");
      await world.advance(16_000);
      await until(
        async () => (await world.advance(300), (await scene().admin.get(`/jobs/${id}`)).body.state === "QUEUED"),
      );
      assertFenced(await ana.post("/asks", newAsk({ job_id: id })), 2, "QUEUED");
      const again = await claim(bo, kind);
      assertFenced(await ana.post("/asks", newAsk({ job_id: id }), held.lease), 3, "RUNNING");
      assertFenced(await ana.post("/asks", newAsk({ job_id: id })), 3, "RUNNING");
      assert.equal((await ask({ job_id: id }, bo, again.lease)).epoch, 3);
    });

    it("shows an ask to its asker, its job's holder and an administrator, and to nobody else that there is one", async () => {
      const { ana, bo, admin, planner, program, ask } = scene();
      const one = await ask({}, ana);
      assert.equal((await ana.get(`/asks/${one.ask_id}`)).body.ask_id, one.ask_id);
      assert.equal((await admin.get(`/asks/${one.ask_id}`)).body.ask_id, one.ask_id);
      for (const path of [`/asks/${one.ask_id}`, `/asks/${one.ask_id}/answer?wait=0`, "/asks/none", "/asks/%20"]) {
        assertRelayError(await bo.get(path), 404, noAsk);
        assertRelayError(await planner.get(path), 404, noAsk);
      }
      assertNoJob(await bo.get(`/jobs/${one.job_id}/asks`));
      const service = await program({ name: fresh("service"), scope: "answer" });
      assert.deepEqual(codeOf(await service.get(`/asks/${one.ask_id}`)), [403, "FORBIDDEN"]);
      assertRelayError(await service.post("/asks", newAsk()), 403, {
        code: "FORBIDDEN",
        message: "This key lacks the scope executor",
        details: { scope: "executor" },
      });
    });

    it("withdraws what its asker withdraws, once", async () => {
      const { ana, bo, ask, answerTo, eventsOf, world } = scene();
      const one = await ask();
      await scene().withPeople(one);
      assertRelayError(await bo.call("DELETE", `/asks/${one.ask_id}`), 404, noAsk);
      for (let i = 0; i < 2; i += 1) {
        const { status, body } = await ana.call("DELETE", `/asks/${one.ask_id}`);
        assert.deepEqual([status, body.status], [200, "ERROR"]);
      }
      const { error, error_code } = await answerTo(one);
      assert.deepEqual([error_code, error], ["E_CANCELED", "E_CANCELED: the asker withdrew it"]);
      const events = await eventsOf(one.job_id);
      assert.equal(events.filter((event) => event.startsWith("answer")).length, 1);
      assert.equal((await ana.get(`/jobs/${one.job_id}`)).body.state, "RUNNING");
      await world.advance(1000);
    });

    it("lists a job's asks with their answers, oldest first, a page at a time", async () => {
      const { ana, ask, program, world } = scene();
      const job_id = fresh("J-list");
      const service = await program({ name: fresh("service"), scope: "answer" });
      const first = await ask({ job_id });
      await answer(service, first, { answer_text: "EUR" });
      await world.advance(5);
      const second = await ask({ job_id, prompt: "And then?" });
      const all = (await ana.get(`/jobs/${job_id}/asks`)).body;
      assert.deepEqual([all.job_id, all.jobId, all.next_cursor], [job_id, job_id, undefined]);
      assert.deepEqual(
        all.asks.map(({ ask: one, answer: given }: History) => [one.ask_id, given && gist(given)]),
        [
          [first.ask_id, { status: "ANSWERED", source: "service", answer_text: "EUR" }],
          [second.ask_id, null],
        ],
      );
      const page = (await ana.get(`/jobs/${job_id}/asks?limit=1`)).body;
      assert.equal(page.asks.length, 1);
      const rest = (await ana.get(`/jobs/${job_id}/asks?limit=1&cursor=${page.next_cursor}`)).body;
      assert.deepEqual([rest.asks[0].ask.ask_id, rest.next_cursor], [second.ask_id, undefined]);
      assert.deepEqual(codeOf(await ana.get(`/jobs/${job_id}/asks?cursor=%21`)), [400, "VALIDATION_ERROR"]);
    });

    it("answers methods that a path does not take with those it takes", async () => {
      const { ana, ask } = scene();
      const { ask_id } = await ask();
      for (const [method, path, allow] of [
        ["PUT", "/asks", "GET, POST"],
        ["PATCH", `/asks/${ask_id}`, "DELETE, GET"],
        ["POST", `/asks/${ask_id}/answer`, "GET"],
        ["GET", "/answers", "POST"],
      ] as const) {
        const reply = await ana.call(method, path);
        assert.deepEqual(codeOf(reply), [405, "METHOD_NOT_ALLOWED"], path);
        assert.equal(reply.headers.get("allow"), allow, path);
      }
      const head = await ana.call("HEAD", `/asks/${ask_id}`);
      assert.deepEqual([head.status, head.text], [200, ""]);
      const { body } = await ana.get("/openapi.json");
      for (const path of ["/asks", "/asks/{id}", "/asks/{id}/answer", "/answers", "/jobs/{id}/asks"]) {
        assert.ok(body.paths[path], path);
      }
    });
  });
}
