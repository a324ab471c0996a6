import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  LABELS,
  ROOMY,
  assertCommonHeaders,
  assertInvalid,
  assertUnknownQuestion,
  fresh,
  sharedWorld,
  wireNow,
} from "../support/contract.ts";
import { ONE_DATABASE } from "../support/world.ts";

interface Listed {
  question_id: string;
  created_at: string;
  expires_at: string;
}

const UNKNOWN = "q_0000000000000000000000";

for (const on of ONE_DATABASE) {
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

    it("come by ids that are given in several fields, and an empty list of them names none", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const [one, two] = [await agent.ask(), await agent.ask()];
      const { body } = await list(agent, `?ids=${two.id},${UNKNOWN}&ids=${one.id}`);
      const ids = (body.questions as { question_id: string }[]).map(({ question_id }) => question_id);
      assert.deepEqual([ids, body.not_found], [[two.id, one.id], [UNKNOWN]]);
      for (const none of ["", ",", "%20"]) {
        const range = { constraint: "length", min: 1, max: 100 };
        const reply = await list(agent, `?ids=${none}`);
        assertInvalid(reply, "ids must name between 1 and 100 questions", { field: "ids", ...range });
      }
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

    it("are paged newest first within one second, too, while more are asked", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const ids: string[] = [];
      const askMore = async (count: number) => {
        for (let i = 0; i < count; i += 1) ids.unshift((await agent.ask()).id);
      };
      // The world's clock stands still: all these are of one second.
      await askMore(12);
      const before = [...ids];
      const seen: string[] = [];
      let cursor: string | null = "";
      const created = new Set<string>();
      while (cursor !== null) {
        const { body }: { body: { questions: Listed[]; next_cursor: string | null } } = await list(
          agent,
          `?limit=5${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        for (const { question_id, created_at, expires_at } of body.questions) {
          seen.push(question_id);
          created.add(created_at);
          assert.equal(Date.parse(expires_at) - Date.parse(created_at), 3_600_000);
        }
        cursor = body.next_cursor;
        await askMore(2);
      }
      assert.deepEqual(seen, before);
      assert.deepEqual([...created], [wireNow(world())]);
      const { body } = await list(agent, "?limit=100");
      assert.deepEqual(
        body.questions.map((one: Listed) => one.question_id),
        ids,
      );
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
