import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  LABELS,
  ROOMY,
  assertCommonHeaders,
  assertUnknownQuestion,
  fresh,
  sharedWorld,
  wireNow,
} from "../support/contract.ts";
import { DATABASES } from "../support/world.ts";

const UNKNOWN = "q_0000000000000000000000";

for (const on of DATABASES) {
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
        integrity: { networks: 0, participants: 0 },
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
        integrity: { networks: 1, participants: 3 },
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

    it("says how many networks and participants, with expand=meta ids, times and tiers, and never who answered", async () => {
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
      assert.deepEqual(plain.integrity, { networks: 1, participants: 1 });
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
}
