import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findLiveAttempt, updateAttempt } from "../../src/tasks/store/attempts.ts";
import { transact } from "../../src/core/store/transact.ts";
import { createKey } from "../../src/access/create-key.ts";
import { sharedAssignment } from "../support/assignment.ts";
import { advanceUntil, openStream } from "../support/contract.ts";
import { somebody } from "../support/deciders.ts";
import { tool } from "../support/mcp.ts";
import { DATABASES } from "../support/world.ts";

const NO_WAIT = { max_wait_seconds: 0 };
const SECRET = `sk_live_${"4eC39HqLyjWDarjtT1zdp7dc"}`;

for (const on of DATABASES) {
  describe(`what a coding agent asks people by its tools, on ${on}`, () => {
    const shared = sharedAssignment(on);

    /** An agent at work on a task, and the way it calls a tool: with the key of its own attempt. */
    async function atWork(id: string) {
      const { ana, runner, world } = shared();
      const { ctx } = world.server;
      await ana.submit(id, { prompt: `Do ${id}\nwith care` });
      assert.equal(await runner.start(), id);
      await runner.move("shop", id, "running");
      const attempt = (await findLiveAttempt(ctx.db, "shop", id)) ?? assert.fail("it has an attempt");
      await transact(ctx, (tx) => updateAttempt(tx, attempt.attemptId, null, { sandbox: "bubblewrap" }));
      const { text } = await createKey(ctx, { name: attempt.attemptId, scope: "agent" });
      const headers = { authorization: `Bearer ${text}` };
      return {
        asks: (name: string, args: object) => tool(world, name, { ...NO_WAIT, ...args }, { headers }),
        reads: async () => (await ana.call("GET", `/assignment/tasks/${id}`)).body,
        async log(type: string) {
          const lines = await openStream(`${world.url}/assignment/tasks/${id}/log`, {
            authorization: `Bearer ${ana.key}`,
          });
          const found = [];
          for (let event = await lines.nextEvent(); event; event = await lines.nextEvent()) {
            if (event.event === type) found.push(event.data);
            if (event.data.text === "that is all") break;
          }
          lines.close();
          return found;
        },
      };
    }

    it("is the question of its task, stands in its asks, its log and on the board, and is answered there", async () => {
      const { ana, runner, world } = shared();
      const jane = await somebody(world);
      const agent = await atWork("asks");
      const board = await openStream(`${world.url}/assignment/events`, { authorization: `Bearer ${ana.key}` });
      assert.deepEqual(await board.next(), { retry: "2000" });
      const options = [{ name: "eu", title: "Europe" }, { name: "us" }];
      await agent.asks("contact_human", { message: `Which region?\nThe key is ${SECRET}.`, to: jane.number, options });

      const { id: inboxId } = (await jane.inbox())[0] ?? assert.fail("she is asked");
      const url = `${world.url}/inbox/${inboxId}`;
      const listed = await ana.task("asks");
      assert.deepEqual(listed.question, { askId: inboxId, summary: "Which region?", url });
      const {
        question,
        asks: [ask],
      } = await agent.reads();
      assert.deepEqual(question, listed.question);
      const { prompt, askedAt, ...rest } = ask;
      assert.deepEqual(rest, {
        askId: inboxId,
        attempt: 1,
        type: "CHOICE",
        summary: "Which region?",
        state: "PENDING",
        url,
      });
      assert.match(prompt, /^Which region\?\nThe key is \[secret:[\w-]+\]\.$/m);
      assert.match(askedAt, /Z$/);
      const event = await board.nextEvent();
      assert.deepEqual([event?.event, event?.data.id, event?.data.ref], ["question", "asks", inboxId]);
      assert.doesNotMatch(JSON.stringify(event), /sk_live/);
      board.close();

      const shown = (await jane.whole(inboxId)).body;
      assert.deepEqual(shown.task, {
        repo: "shop",
        id: "asks",
        attempt: 1,
        about: "wish",
        agent: "claude",
        sandbox: "bubblewrap",
      });
      assert.deepEqual([shown.agent, shown.run], ["claude", "shop / asks"]);
      assert.match(shown.words, /^For task asks \(Do asks\) in shop, by claude\. It runs in a sandbox/m);

      await jane.decide(inboxId, { option: "eu" });
      assert.equal((await ana.task("asks")).question, undefined);
      const [over] = (await agent.reads()).asks;
      assert.deepEqual([over.state, over.answer, over.by], ["ANSWERED", "Europe", jane.name]);
      await runner.say("shop", "asks", "that is all");
      const [asked] = await agent.log("question");
      assert.deepEqual([asked.ref, asked.attempt, asked.options], [inboxId, 1, [{ label: "Europe" }, { label: "us" }]]);
      const [answered] = await agent.log("answer");
      assert.deepEqual([answered.ref, answered.text, answered.by], [inboxId, "Europe", jane.name]);
      await runner.fail("shop", "asks");
    });

    it("is asked once and told once, though it is called again; a call is a permission, with its arguments", async () => {
      const { ana, runner, world } = shared();
      const jane = await somebody(world);
      const agent = await atWork("calls");
      const call = { fn: "deploy", kwargs: { env: "staging", token: SECRET }, to: jane.number };
      await agent.asks("request_approval", call);
      await agent.asks("request_approval", call);
      const [first, ...more] = await jane.inbox();
      assert.deepEqual(more, []);
      const inboxId = first?.id ?? assert.fail("she is asked");
      assert.equal((await ana.task("calls")).question.summary, "deploy");
      await jane.decide(inboxId, { approved: false, comment: "Not today." });
      const { asks } = await agent.reads();
      assert.deepEqual(
        asks.map(({ type, state, answer, by }: Record<string, string>) => [type, state, answer, by]),
        [["APPROVAL", "REJECTED", "Not today.", jane.name]],
      );
      assert.doesNotMatch(JSON.stringify(asks), /sk_live/);
      await runner.say("shop", "calls", "that is all");
      const [wish, ...others] = await agent.log("permission");
      assert.deepEqual(others, []);
      assert.deepEqual([wish.ref, wish.tool, wish.input.env], [inboxId, "deploy", "staging"]);
      assert.match(wish.input.token, /^\[secret:/);
      const [answer] = await agent.log("answer");
      assert.deepEqual([answer.ref, answer.allow, answer.why], [inboxId, false, `${jane.name}: Not today.`]);
      await runner.fail("shop", "calls");
    });

    it("is one permission for several calls, each of which it takes before it runs", async () => {
      const { ana, runner, world } = shared();
      const jane = await somebody(world);
      const agent = await atWork("plans");
      const calls = [1, 2].map((amount) => ({ fn: "pay_out", kwargs: { amount } }));
      const asked = await agent.asks("request_approval", { calls, title: "Pay", to: jane.number });
      assert.equal((await ana.task("plans")).question.summary, "Pay");
      await jane.decides({ approved: true, approved_calls: 1 });
      const { plan_id: id } = asked.structuredContent;
      assert.equal((await agent.asks("use_approved_call", { call_id: `${id}.1` })).structuredContent.ord, 1);
      const { asks } = await agent.reads();
      assert.deepEqual(
        asks.map(({ type, state, summary }: Record<string, string>) => [type, state, summary]),
        [["APPROVAL", "ANSWERED", "Pay"]],
      );
      await runner.say("shop", "plans", "that is all");
      assert.equal((await agent.log("permission")).length, 1);
      await runner.fail("shop", "plans");
    });

    it("is taken back when its attempt has ended, so that nobody answers for nobody", async () => {
      const { ana, runner, world } = shared();
      const jane = await somebody(world);
      const agent = await atWork("ends");
      await agent.asks("contact_human", { message: "May I?", to: jane.number });
      const { id: inboxId } = (await jane.inbox())[0] ?? assert.fail("she is asked");
      await runner.fail("shop", "ends");
      assert.equal((await ana.task("ends")).question, undefined);
      await advanceUntil(world, 1000, async () => (await jane.whole(inboxId)).body.state === "cancelled");
      const [ask] = (await agent.reads()).asks;
      assert.deepEqual([ask.state, ask.answer], ["REJECTED", "it was withdrawn"]);
    });

    it("belongs to no task where another key asks, whatever that calls itself", async () => {
      const { runner, world, ana } = shared();
      const jane = await somebody(world);
      await atWork("other");
      const { ctx } = world.server;
      const { attemptId } = (await findLiveAttempt(ctx.db, "shop", "other")) ?? assert.fail("it has an attempt");
      const headers = { "x-agent-id": attemptId };
      await tool(world, "contact_human", { message: "Me?", to: jane.number, ...NO_WAIT }, { headers });
      const { id: inboxId } = (await jane.inbox())[0] ?? assert.fail("she is asked");
      const { body } = await jane.whole(inboxId);
      assert.deepEqual([body.task, body.agent], [null, "default (without a key)"]);
      assert.equal((await ana.task("other")).question, undefined);
      await runner.fail("shop", "other");
    });
  });
}
