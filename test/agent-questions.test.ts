import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertCommonHeaders,
  assertInvalid,
  assertUnknownQuestion,
  DAY,
  fresh,
  LABELS,
  limitsOf,
  ROOMY,
  sharedWorld,
  wireNow,
} from "./contract.ts";
import { DATABASES } from "./world.ts";

const UNKNOWN = "q_0000000000000000000000";

for (const on of DATABASES) {
  describe(`asking on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ana = () => world().agent(fresh("ana-bot"));

    it("answers 201 with five fields, and says where the question is", async () => {
      const reply = await ana().create({ timeout_seconds: 90 });

      assert.equal(reply.status, 201);
      assertCommonHeaders(reply);
      const { question_id: id } = reply.body;
      assert.match(id, /^q_[0-9A-Za-z]{22}$/);
      assert.deepEqual(reply.body, {
        question_id: id,
        status: "OPEN",
        poll_url: `/agent/questions/${id}`,
        expires_at: wireNow(world(), 90_000),
        created_at: wireNow(world()),
      });
      assert.equal(reply.headers.get("location"), `/agent/questions/${id}`);
      assert.equal(reply.headers.get("idempotency-replayed"), null);
    });

    it("cuts the time of creation to the second, and counts the deadline from there", async () => {
      await world().advance(760);
      const whole = world().clock.now() - 760;
      const { body } = await ana().create({ timeout_seconds: 60 });
      assert.equal(Date.parse(body.created_at), whole);
      assert.equal(Date.parse(body.expires_at), whole + 60_000);
      await world().advance(240);
    });

    it("asks five people for an hour, of general interest, unless told otherwise", async () => {
      const agent = ana();
      const { id } = await agent.ask();
      const { body } = await agent.poll(id);
      assert.equal(body.required_responses, 5);
      assert.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 3_600_000);
      assert.deepEqual(body.audience, ["general"]);
    });

    it("takes every field at its bounds, lengths counted in code points", async () => {
      const accepted = [
        { prompt: "0123456789" },
        { prompt: "😀".repeat(10) },
        { prompt: "😀".repeat(2000) },
        { prompt: `  ${"x".repeat(1996)}  ` },
        { options: ["a", "b"] },
        { options: Array.from({ length: 10 }, (_, i) => String(i)) },
        { options: ["😀".repeat(200), "x"] },
        { options: ["Send", "send"] },
        { audience: ["technical", "product", "ethics", "creative", "general"] },
        { min_responses: 1 },
        { min_responses: 50 },
        { timeout_seconds: 60 },
        { timeout_seconds: 86_400 },
        { idempotency_key: "k" },
        { idempotency_key: "😀".repeat(255) },
        { share_results: false },
      ];
      const agent = ana();
      for (const question of accepted)
        assert.equal((await agent.create(question)).status, 201, JSON.stringify(question));
    });

    it("takes an integral number however it is written", async () => {
      const agent = ana();
      const body = '{"prompt":"Which label is clearer?","type":"text","min_responses":5.0,"timeout_seconds":6e2}';
      const { headers } = agent;
      const reply = await world().call("POST", "/agent/questions", { headers, body });
      assert.equal(reply.status, 201);
      assert.equal((await agent.poll(reply.body.question_id)).body.required_responses, 5);
    });

    it("keeps the order of audience tags, drops repeated ones, and takes none for general", async () => {
      const agent = ana();
      const audienceOf = async (audience: unknown) =>
        (await agent.poll((await agent.ask({ audience })).id)).body.audience;
      assert.deepEqual(await audienceOf(["product", "creative", "product"]), ["product", "creative"]);
      assert.deepEqual(await audienceOf(["ethics", "technical"]), ["ethics", "technical"]);
      assert.deepEqual(await audienceOf([]), ["general"]);
    });

    it("takes null for absent in every optional field", async () => {
      const agent = ana();
      const nothing = { options: null, audience: null, min_responses: null, timeout_seconds: null };
      const { id } = await agent.ask({ type: "text", ...nothing, idempotency_key: null, share_results: null });
      const { body } = await agent.poll(id);
      assert.deepEqual([body.required_responses, body.audience], [5, ["general"]]);
      assertInvalid(await agent.create({ prompt: null }), "prompt is required", {
        field: "prompt",
        constraint: "required",
      });
    });

    it("ignores fields it does not know, and never shows them", async () => {
      const agent = ana();
      const body = `{"prompt":"Which label is clearer?","type":"text","context":"c","__proto__":{"status":"CLOSED"},"x":[[{}]]}`;
      const created = await world().call("POST", "/agent/questions", { headers: agent.headers, body });
      assert.equal(created.status, 201);
      const { text } = await agent.poll(created.body.question_id);
      assert.doesNotMatch(text, /context|__proto__|"x"/);
      assert.match(text, /"status":"OPEN"/);
    });

    it("ignores options of a text question, whatever they are, and stores none", async () => {
      const agent = ana();
      for (const options of [LABELS, "nonsense", [1], []]) {
        const { id } = await agent.ask({ type: "text", options });
        const { body } = await agent.poll(id);
        assert.equal("options" in body || "summary" in body, false);
      }
    });

    it("returns texts as they were sent", async () => {
      const agent = ana();
      const prompt = "  Zwei\n\tZeilen \u202e <b>&amp;</b> 😀  ";
      const options = ["  Send ", "Submit\n"];
      const { body } = await agent.poll((await agent.ask({ prompt, options })).id);
      assert.equal(body.prompt, prompt);
      assert.deepEqual(body.options, options);
      assert.deepEqual(Object.keys(body.summary), options);
    });

    it("leaves nothing of a refused question behind", async () => {
      const agent = ana();
      const bad = await agent.create({ prompt: "short", idempotency_key: "again" });
      assert.equal(bad.status, 400);
      const good = await agent.create({ idempotency_key: "again" });
      assert.equal(good.status, 201);
      assert.equal(limitsOf(good).remaining, 59);
      const { body } = await world().call("GET", "/agent/questions", { headers: agent.headers });
      assert.equal(body.questions.length, 1);
    });
  });

  describe(`polling on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ana = () => world().agent(fresh("ana-bot"));
    const someone = () => world().person(fresh("bo"));

    it("shows a text question nobody has answered", async () => {
      const agent = ana();
      const { id, expiresAt } = await agent.ask({ audience: ["product", "creative"], min_responses: 2 });
      const reply = await agent.poll(id);
      assert.equal(reply.status, 200);
      assertCommonHeaders(reply);
      assert.deepEqual(reply.body, {
        question_id: id,
        status: "OPEN",
        prompt: "Which label is clearer?",
        type: "text",
        audience: ["product", "creative"],
        required_responses: 2,
        current_responses: 0,
        created_at: wireNow(world()),
        expires_at: expiresAt,
        responses: [],
      });
    });

    it("goes from OPEN by PARTIAL to CLOSED, answers oldest first, and counts votes in every status", async () => {
      const agent = ana();
      const { id, expiresAt } = await agent.ask({ options: LABELS, min_responses: 3 });
      const created = wireNow(world());
      const states = [(await agent.poll(id)).body];
      for (const [option, confidence] of [
        [1, 4],
        [0, undefined],
        [1, 5],
      ] as const) {
        await world().advance(1000);
        await someone().answer(id, option, confidence === undefined ? {} : { confidence });
        states.push((await agent.poll(id)).body);
      }
      assert.deepEqual(
        states.map(({ status, current_responses, summary, closed_at }) => [
          status,
          current_responses,
          summary,
          closed_at,
        ]),
        [
          ["OPEN", 0, { Send: 0, Submit: 0 }, undefined],
          ["PARTIAL", 1, { Send: 0, Submit: 1 }, undefined],
          ["PARTIAL", 2, { Send: 1, Submit: 1 }, undefined],
          ["CLOSED", 3, { Send: 1, Submit: 2 }, wireNow(world())],
        ],
      );
      assert.deepEqual(states[3], {
        question_id: id,
        status: "CLOSED",
        prompt: "Which label is clearer?",
        type: "multiple_choice",
        options: LABELS,
        audience: ["general"],
        required_responses: 3,
        current_responses: 3,
        created_at: created,
        expires_at: expiresAt,
        closed_at: wireNow(world()),
        responses: [
          { selected_option: 1, confidence: 4 },
          { selected_option: 0 },
          { selected_option: 1, confidence: 5 },
        ],
        summary: { Send: 1, Submit: 2 },
      });
    });

    it("shows of an answer nothing but the answer and the confidence", async () => {
      const agent = ana();
      const { id } = await agent.ask();
      await someone().answer(id, "Send, it is shorter.", { confidence: 2, extra: "x" });
      await someone().answer(id, "  as sent\n");
      const { body } = await agent.poll(id);
      assert.deepEqual(body.responses, [{ answer: "Send, it is shorter.", confidence: 2 }, { answer: "  as sent\n" }]);
      assert.equal("summary" in body, false);
    });

    it("writes the summary in the order of the options, whatever they are called", async () => {
      const agent = ana();
      const { id } = await agent.ask({ options: ["10", "9", "__proto__", "constructor", '"\n'] });
      await someone().answer(id, 2);
      await someone().answer(id, 0);
      const { text } = await agent.poll(id);
      assert.ok(text.includes('"summary":{"10":1,"9":0,"__proto__":1,"constructor":0,"\\"\\n":0}'), text);
    });

    it("adds ids, times, tiers and integrity with expand=meta, and never who answered", async () => {
      const agent = ana();
      const { id } = await agent.ask({ options: LABELS });
      const bo = someone();
      const first = await bo.answer(id, 0, { confidence: 3 });
      const cy = { headers: { "x-participant-token": first.headers.get("x-participant-token") ?? "" } };
      const other = await agent.ask({ options: LABELS });
      await world().call("POST", "/human/responses", { ...cy, body: { question_id: other.id, selected_option: 1 } });

      const meta = (await agent.poll(id, "?expand=meta")).body;
      assert.deepEqual(meta.responses, [
        {
          selected_option: 0,
          confidence: 3,
          response_id: first.body.response_id,
          created_at: wireNow(world()),
          tier: "anonymous",
        },
      ]);
      assert.deepEqual(meta.integrity, { networks: 1, participants: 1 });
      assert.equal((await agent.poll(other.id, "?expand=meta")).body.responses[0].tier, "returning");
      const plain = (await agent.poll(id)).body;
      assert.deepEqual(plain.responses, [{ selected_option: 0, confidence: 3 }]);
      assert.equal("integrity" in plain, false);
      assert.doesNotMatch((await agent.poll(id, "?expand=meta")).text, /"p_|device|127\.0\.0\.1/);
    });

    it("does not know a question nobody asked, however its id is written", async () => {
      const agent = ana();
      for (const id of [UNKNOWN, "q_", "x", "q_%00", "q_%F0%9F%98%80", "a".repeat(500), "a".repeat(8000)]) {
        assertUnknownQuestion(await agent.poll(id), decodeURIComponent(id));
      }
    });

    it("does not know another agent's question, in any way", async () => {
      const agent = ana();
      const mallory = world().agent(fresh("mallory-bot"));
      const { id } = await agent.ask();
      assertUnknownQuestion(await mallory.poll(id), id);
      assertUnknownQuestion(await mallory.poll(id, "?wait=5"), id);
      assertUnknownQuestion(await mallory.cancel(id), id);
      assertUnknownQuestion(await mallory.poll(`${id}/events`), id);
      const batch = await world().call("GET", `/agent/questions?ids=${id}`, { headers: mallory.headers });
      assert.deepEqual(batch.body, { questions: [], not_found: [id] });
      assert.equal((await agent.poll(id)).body.status, "OPEN");
    });

    it("asks for no retry: a settled question reads the same again and again", async () => {
      const agent = ana();
      const { id } = await agent.ask({ min_responses: 1 });
      await someone().answer(id, "yes");
      const texts = await Promise.all([1, 2, 3].map(async () => (await agent.poll(id)).text));
      assert.equal(new Set(texts).size, 1);
    });
  });

  describe(`own questions on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const list = (agent: { headers: Record<string, string> }, query: string) =>
      world().call("GET", `/agent/questions${query}`, { headers: agent.headers });

    it("come by id in the order asked for, with those that are not there named", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const [one, two] = [await agent.ask(), await agent.ask()];
      const { body, status } = await list(agent, `?ids=${two.id},${UNKNOWN},${one.id},q_%00`);
      assert.equal(status, 200);
      const bodies = [(await agent.poll(two.id)).body, (await agent.poll(one.id)).body];
      assert.deepEqual(body, { questions: bodies, not_found: [UNKNOWN, "q_\0"] });
    });

    it("come by up to 100 ids at once", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const ids = (count: number) => Array.from({ length: count }, (_, i) => `q_${i}`);
      assert.equal((await list(agent, `?ids=${ids(100).join()}`)).body.not_found.length, 100);
      assertInvalid(await list(agent, `?ids=${ids(101).join()}`), "ids must name between 1 and 100 questions", {
        field: "ids",
        constraint: "length",
        min: 1,
        max: 100,
      });
    });

    it("are paged newest first, none left out and none twice", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const ids: string[] = [];
      for (let i = 0; i < 7; i += 1) {
        ids.unshift((await agent.ask()).id);
        await world().advance(1000);
      }
      const seen: string[] = [];
      let cursor: string | null = "";
      for (let pages = 0; cursor !== null && pages < 5; pages += 1) {
        const { body }: { body: { questions: { question_id: string }[]; next_cursor: string | null } } = await list(
          agent,
          `?limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        seen.push(...body.questions.map((question) => question.question_id));
        cursor = body.next_cursor;
      }
      assert.deepEqual(seen, ids);
      const whole = (await list(agent, "")).body;
      assert.deepEqual(Object.keys(whole), ["questions", "next_cursor"]);
      assert.equal(whole.next_cursor, null);
      assert.deepEqual(whole.questions[0], (await agent.poll(ids[0] ?? "")).body);
    });

    it("are filtered by status as it is at this moment", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const open = await agent.ask({ timeout_seconds: 86_400 });
      const partial = await agent.ask({ timeout_seconds: 86_400 });
      const closed = await agent.ask({ min_responses: 1 });
      const expired = await agent.ask({ timeout_seconds: 60 });
      const cancelled = await agent.ask();
      await world().person(fresh("bo")).answer(partial, "yes");
      await world().person(fresh("bo")).answer(closed, "yes");
      await agent.cancel(cancelled.id);
      await world().advance(60_000);

      const idsOf = async (status: string) =>
        (await list(agent, `?status=${status}`)).body.questions
          .map((one: { question_id: string }) => one.question_id)
          .sort();
      assert.deepEqual(await idsOf("OPEN"), [open.id]);
      assert.deepEqual(await idsOf("PARTIAL"), [partial.id]);
      assert.deepEqual(await idsOf("CLOSED"), [closed.id]);
      assert.deepEqual(await idsOf("EXPIRED"), [expired.id, cancelled.id].sort());
      assert.deepEqual(await idsOf("OPEN,PARTIAL"), [open.id, partial.id].sort());
      assert.equal((await list(agent, "?status=")).body.questions.length, 5);
    });

    it("come 20 at a time, and 100 at most", async () => {
      const agent = world().agent(fresh("ana-bot"));
      for (let i = 0; i < 21; i += 1) await agent.ask();
      assert.equal((await list(agent, "")).body.questions.length, 20);
      assert.equal((await list(agent, "?limit=1")).body.questions.length, 1);
      assert.equal((await list(agent, "?limit=1000")).body.questions.length, 21);
      assert.equal((await list(agent, "?limit=0")).body.questions.length, 1);
    });

    it("are not paged by a cursor that was made up, or made for another list", async () => {
      const agent = world().agent(fresh("ana-bot"));
      await agent.ask();
      await agent.ask();
      const { next_cursor: cursor } = (await list(agent, "?limit=1")).body;
      const mallory = world().agent(fresh("mallory-bot"));
      const refusals = [
        await list(agent, "?cursor=x"),
        await list(agent, "?cursor=e30.AAAA"),
        await list(agent, `?cursor=${cursor}x`),
        await list(agent, `?status=OPEN&cursor=${cursor}`),
        await list(mallory, `?cursor=${cursor}`),
      ];
      for (const reply of refusals) assertInvalid(reply, null, { field: "cursor", constraint: "invalid" });
    });
  });

  describe(`cancelling on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    it("expires an open question at once and for good, and keeps its answers", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id, expiresAt } = await agent.ask({ options: LABELS });
      await world().person(fresh("bo")).answer(id, 1);
      await world().advance(5000);

      const reply = await agent.cancel(id);
      assert.equal(reply.status, 200);
      assertCommonHeaders(reply);
      const { status, cancelled, expired_at, expires_at, summary, current_responses } = reply.body;
      assert.deepEqual(
        { status, cancelled, expired_at, expires_at, summary, current_responses },
        {
          status: "EXPIRED",
          cancelled: true,
          expired_at: wireNow(world()),
          expires_at: expiresAt,
          summary: { Send: 0, Submit: 1 },
          current_responses: 1,
        },
      );
      assert.equal("closed_at" in reply.body, false);

      await world().advance(1000);
      assert.equal((await agent.cancel(id)).text, reply.text);
      assert.equal((await agent.poll(id)).text, reply.text);
      const late = await world().person(fresh("cy")).answer(id, 0);
      assert.deepEqual([late.status, late.body.error.details.status], [410, "EXPIRED"]);
    });

    it("leaves a question alone that is closed or expired", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const closed = await agent.ask({ min_responses: 1 });
      await world().person(fresh("bo")).answer(closed, "yes");
      const expired = await agent.ask({ timeout_seconds: 60 });
      await world().advance(60_000);
      for (const { id } of [closed, expired]) {
        const before = (await agent.poll(id)).text;
        const reply = await agent.cancel(id);
        assert.deepEqual([reply.status, reply.text], [200, before]);
        assert.equal("cancelled" in reply.body, false);
      }
    });

    it("does not know a question nobody asked", async () => {
      assertUnknownQuestion(await world().agent(fresh("ana-bot")).cancel(UNKNOWN), UNKNOWN);
    });
  });
}

describe("a question's text", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });

  it("may wait a day for its answers", async () => {
    const agent = world().agent(fresh("ana-bot"));
    const { id } = await agent.ask({ timeout_seconds: 86_400, min_responses: 1 });
    await world().advance(DAY - 1);
    assert.equal((await world().person(fresh("bo")).answer(id, "just in time")).status, 201);
    assert.equal((await agent.poll(id)).body.status, "CLOSED");
  });
});
