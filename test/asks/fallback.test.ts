import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { findHuman } from "../../src/access/store/humans.ts";
import { readInbox } from "../../src/requests/inbox/read-inbox.ts";
import { enrol, until } from "../support/addressed.ts";
import { DATABASES, openWorld, type DatabaseName, type World } from "../support/world.ts";

const OPTIONS = ["Send", "Submit"];

interface Scene extends AsyncDisposable {
  world: World;
  jane: { person: string; number: string };
  /** Resolves with the ask that waits for Jane, once there is one. */
  askedOfJane(): Promise<string>;
  nothingWaits(): Promise<void>;
}

async function openScene(on: DatabaseName): Promise<Scene> {
  const world = await openWorld({ on });
  const { ctx } = world.server;
  const person = await enrol(ctx, "Jane Doe");
  const number = String((await findHuman(ctx.db, person))?.number);
  const inbox = async () => (await readInbox(ctx, person, { state: "open" }, { limit: 10 })).asks;
  return {
    world,
    jane: { person, number },
    async askedOfJane() {
      await until(async () => {
        await world.advance(1000);
        return (await inbox()).length > 0;
      });
      return (await inbox())[0]?.id ?? "";
    },
    async nothingWaits() {
      await until(async () => {
        await world.advance(1000);
        return (await inbox()).length === 0;
      });
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

for (const on of DATABASES) {
  describe(`a question that falls back to a person, on ${on}`, () => {
    it("is asked of the person when nobody has answered, and counts the answer as the person's", async () => {
      await using scene = await openScene(on);
      const { world, jane } = scene;
      const { ctx } = world.server;
      const agent = world.agent("ana-bot");
      const question = await agent.ask({
        options: OPTIONS,
        min_responses: 1,
        timeout_seconds: 3600,
        fallback_human: jane.number,
        fallback_after_seconds: 600,
      });
      await world.advance(599_000);
      assert.deepEqual((await readInbox(ctx, jane.person, { state: "open" }, { limit: 10 })).asks, []);

      const requestId = await scene.askedOfJane();
      const responder = await responderOf(ctx.db, jane.person, "web");
      const decide = (text: string) =>
        decideRequest(ctx, { requestId, responder, decision: { kind: "value", text, value: text } });
      await assert.rejects(decide("Whatever"), { code: "answer_misfit" });
      await decide("Submit");
      await until(async () => {
        await world.advance(1000);
        return (await agent.poll(question.id)).body.status === "CLOSED";
      });
      const { body } = await agent.poll(question.id, "?expand=meta");
      assert.deepEqual([body.responses[0].selected_option, body.responses[0].tier], [1, "named"]);
    });

    it("stays with the crowd when somebody answers in time, and leaves the person when it is over", async () => {
      await using scene = await openScene(on);
      const { world, jane } = scene;
      const agent = world.agent("ana-bot");
      const fallback = { fallback_human: jane.number, fallback_after_seconds: 60 };
      const answered = await agent.ask({ min_responses: 2, timeout_seconds: 3600, ...fallback });
      assert.equal((await world.person("bo").answer(answered, "Submit says what happens.")).status, 201);
      await world.advance(120_000);
      await scene.nothingWaits();

      const cancelled = await agent.ask({ timeout_seconds: 3600, ...fallback });
      await world.advance(60_000);
      await scene.askedOfJane();
      await agent.cancel(cancelled.id);
      await scene.nothingWaits();
    });

    it("names a human there is, and a moment before its deadline", async () => {
      await using scene = await openScene(on);
      const agent = scene.world.agent("ana-bot");
      const refused = async (more: Record<string, unknown>) => {
        const { status, body } = await agent.create({ timeout_seconds: 600, ...more });
        return [status, body.error?.details?.field];
      };
      assert.deepEqual(await refused({ fallback_human: "999" }), [400, "fallback_human"]);
      assert.deepEqual(await refused({ fallback_human: "Jane" }), [400, "fallback_human"]);
      const late = { fallback_human: scene.jane.number, fallback_after_seconds: 600 };
      assert.deepEqual(await refused(late), [400, "fallback_after_seconds"]);
    });
  });
}
