import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as newest from "@langchain/langgraph";
import * as older from "langgraph-1.4";
import { answerInterrupts, type Resumable } from "@parley/adapters/langgraph";
import { Parley } from "@parley/sdk";
import { until } from "../support/contract.ts";
import { openWorld, type World } from "../support/world.ts";

const QUESTION = { question: "Shall it go on as it is?", min_responses: 1 };
const CONFIG = { configurable: { thread_id: "t1" } };

/** A graph whose one node asks the same question twice, paused at the first. */
async function asksTwice({ Annotation, interrupt, MemorySaver, START, StateGraph }: typeof newest): Promise<Resumable> {
  const State = Annotation.Root({ votes: Annotation<unknown[]> });
  const graph = new StateGraph(State)
    .addNode("ask", () => ({ votes: [interrupt(QUESTION), interrupt(QUESTION)] }))
    .addEdge(START, "ask")
    .compile({ checkpointer: new MemorySaver() });
  await graph.invoke({}, CONFIG);
  return graph;
}

/** One person answers the open question, once there is one. */
async function answer(world: World): Promise<string> {
  const open = async () => (await world.person("looker").get("/human/questions")).body.questions[0];
  const { question_id: id } = await until<{ question_id: string }>(open);
  const reply = await world.person(`${id}-0`).answer(id, "Yes");
  assert.equal(reply.status, 201, reply.text);
  return id;
}

describe("two equal interrupts of one node", () => {
  it("are two questions with LangGraph 1.7", async () => {
    await using world = await openWorld({ on: "sqlite", running: true });
    const graph = await asksTwice(newest);
    const answered = answerInterrupts(new Parley({ url: world.url }), graph, CONFIG);
    const asked = [await answer(world), await answer(world)];
    await answered;
    assert.notEqual(asked[0], asked[1]);
    assert.equal((await graph.getState(CONFIG)).values.votes.length, 2);
  });

  it("are refused with LangGraph 1.4, which cannot tell them apart, and no answer is used twice", async () => {
    await using world = await openWorld({ on: "sqlite", running: true });
    const graph = await asksTwice(older as unknown as typeof newest);
    const answered = answerInterrupts(new Parley({ url: world.url }), graph, CONFIG);
    const refused = assert.rejects(answered, { name: "TypeError", message: /equals the last one of its node/ });
    await answer(world);
    await refused;
    assert.equal((await graph.getState(CONFIG)).values.votes, undefined);
  });
});
