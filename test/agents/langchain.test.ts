import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { answerInterrupts } from "@parley/adapters/langgraph";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { openScene, type Scene } from "../support/a2h.ts";
import { fresh, until } from "../support/contract.ts";
import { type GatedAgent, noting, officeOf, oneGoesOn, PROPERTIES, REFUND, testGate } from "../support/gated-agents.ts";
import { support } from "./langchain-approval-example.ts";

function langChain(): GatedAgent {
  const ran: unknown[] = [];
  const model = fakeModel()
    .respondWithTools([{ name: "issue_refund", args: REFUND, id: "c1" }])
    .respond(new AIMessage("All is done"));
  const schema = { type: "object", properties: PROPERTIES, required: ["order", "amount"] } as const;
  const issueRefund = tool((args) => noting(ran)(args), { name: "issue_refund", description: "Refunds.", schema });
  return {
    name: "LangChain.js",
    run: (parley, to) => support(parley, model, issueRefund, to),
    told: () => JSON.stringify(model.calls.at(-1)?.messages.map(({ content }) => content)),
    ran,
  };
}

/** A thread of an agent that waits for the approval of these calls. */
async function pausedWith(calls: { name: string; args: typeof REFUND; id: string }[]) {
  const ran: unknown[] = [];
  const model = fakeModel().respondWithTools(calls).respond(new AIMessage("All is done"));
  const schema = { type: "object", properties: PROPERTIES, required: ["order", "amount"] } as const;
  const refund = tool((args) => noting(ran)(args), { name: "issue_refund", description: "Refunds.", schema });
  const middleware = [humanInTheLoopMiddleware({ interruptOn: { issue_refund: true } })];
  const { graph } = createAgent({ model, tools: [refund], middleware, checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: fresh("thread") } };
  await graph.invoke({ messages: [{ role: "user", content: "Refund order A-1007." }] }, config);
  const told = () => JSON.stringify(model.calls.at(-1)?.messages.map(({ content }) => content));
  return { graph, config, ran, told };
}

describe("a tool behind the approval of LangChain's middleware", () => {
  let scene: Scene;
  before(async () => {
    // Clients go by the time of day where a server is away.
    scene = await openScene("sqlite", { at: Date.now() });
  });
  after(() => scene[Symbol.asyncDispose]());

  testGate(langChain, () => scene);

  it("runs in one of two processes that go on with the same thread, and the other is told", async () => {
    const { client, somebody } = officeOf(() => scene);
    const ana = await somebody();
    const { graph, config, ran } = await pausedWith([{ name: "issue_refund", args: REFUND, id: "c1" }]);
    await oneGoesOn(ana, () => answerInterrupts(client(), graph, config, { to: ana.name }));
    assert.deepEqual(ran, [REFUND]);
  });

  it("does not run beside a rejected call, and the model reads which call was approved", async () => {
    const { client, somebody } = officeOf(() => scene);
    const ana = await somebody();
    const other = { ...REFUND, order: "B-2" };
    const calls = [
      { name: "issue_refund", args: REFUND, id: "c1" },
      { name: "issue_refund", args: other, id: "c2" },
    ];
    const { graph, config, ran, told } = await pausedWith(calls);
    const answering = answerInterrupts(client(), graph, config, { to: ana.name });
    const asked = await until(async () => ((await ana.inbox()).length === 2 ? await ana.inbox() : undefined));
    for (const { id } of asked) {
      const isFirst = JSON.stringify((await ana.whole(id)).body).includes(REFUND.order);
      await ana.decide(id, isFirst ? { approved: true } : { approved: false, comment: "Not this one" });
    }
    await answering;
    assert.deepEqual(ran, []);
    for (const part of ["Not this one", "not run because of this rejection", JSON.stringify(REFUND)])
      assert.ok(told().includes(JSON.stringify(part).slice(1, -1)), told());
  });

  it("runs with what a person made of the arguments, where the middleware lets people edit them", async () => {
    const { client, somebody } = officeOf(() => scene);
    const ana = await somebody();
    const agent = langChain();
    const running = agent.run(client(), ana.name);
    await ana.decides({ approved: true, kwargs: { ...REFUND, amount: 12.5 } });
    assert.equal(await running, "All is done");
    assert.deepEqual(agent.ran, [{ ...REFUND, amount: 12.5 }]);
  });
});
