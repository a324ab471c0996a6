import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Parley, ParleyError } from "@parley/sdk";
import { decide } from "../../sdk/examples/confidence-triggered.ts";
import { chooseApproach } from "../../sdk/examples/fire-and-continue.ts";
import { isMessageClear } from "../../sdk/examples/wait-with-timeout.ts";
import { until } from "../support/contract.ts";
import { openWorld, type World } from "../support/world.ts";

/** Somebody answers the newest open question as soon as there is one. */
async function answerNext(world: World, name: string, answer: number | string): Promise<void> {
  const person = world.person(name);
  const { question_id: id } = await until(async () => (await person.get("/human/questions")).body.questions[0]);
  await person.answer(id, answer);
}

describe("the TypeScript client", () => {
  it("lets an agent ask, go on, and look later", async () => {
    await using world = await openWorld({ on: "sqlite", running: true });
    const parley = new Parley({ url: world.url, agentId: "ana-bot" });

    const chosen = await chooseApproach(parley, async () => {
      await answerNext(world, "bo", 1);
      await answerNext(world, "cy", 1);
    });

    assert.equal(chosen, "Complete rewrite");
    assert.equal(await chooseApproach(parley, async () => {}), undefined);
  });

  it("lets an agent wait for a while and decide with what there is", async () => {
    await using world = await openWorld({ on: "sqlite", running: true });
    const parley = new Parley({ url: world.url, agentId: "ana-bot" });

    const [clear] = await Promise.all([isMessageClear(parley, "E_PAY_17", 1500), answerNext(world, "bo", 0)]);

    assert.equal(clear, true);
  });

  it("lets an agent ask only when it is unsure", async () => {
    await using world = await openWorld({ on: "sqlite", running: true });
    const parley = new Parley({ url: world.url, agentId: "ana-bot" });
    const own = { context: "retry or fail", answer: "retry" };

    assert.deepEqual((await decide(parley, { ...own, confidence: 0.9 })).opinions, []);
    const [unsure] = await Promise.all([
      decide(parley, { ...own, confidence: 0.3 }),
      answerNext(world, "bo", "Fail fast").then(() => answerNext(world, "cy", "Retry once")),
    ]);

    assert.deepEqual(unsure.opinions, ["Fail fast", "Retry once"]);
  });

  it("yields each answer once, as it arrives, and stops when the caller does", async () => {
    await using world = await openWorld({ on: "sqlite", running: true });
    const parley = new Parley({ url: world.url, agentId: "ana-bot" });
    const { question_id: id } = await parley.ask({ prompt: "What is the first word?", min_responses: 3 });
    await world.person("bo").answer(id, "one");

    const seen: (string | undefined)[] = [];
    for await (const { answer } of parley.responses(id)) {
      seen.push(answer);
      if (seen.length === 1) await world.person("cy").answer(id, "two");
      if (seen.length === 2) await world.person("dee").answer(id, "three");
    }
    assert.deepEqual(seen, ["one", "two", "three"]);

    const stop = new AbortController();
    const other = await parley.ask({ prompt: "Is anybody there today?" });
    const waiting = assert.rejects(parley.wait(other.question_id, { signal: stop.signal }), /enough/);
    await until(() => [...world.server.ctx.wake.topics()].includes(`question:${other.question_id}`));
    stop.abort(new Error("enough"));
    await waiting;
  });

  it("fails with typed errors", async () => {
    await using world = await openWorld({ on: "sqlite", running: true });
    const parley = new Parley({ url: world.url });
    const isRefusal = (code: string, status: number) => (error: unknown) =>
      error instanceof ParleyError && error.code === code && error.status === status;

    await assert.rejects(parley.ask({ prompt: "short" }), isRefusal("VALIDATION_ERROR", 400));
    await assert.rejects(parley.check("q_unknown"), isRefusal("QUESTION_NOT_FOUND", 404));
    await assert.rejects(new Parley({ url: world.url, key: "no" }).check("q_x"), isRefusal("UNAUTHORIZED", 401));
  });
});
