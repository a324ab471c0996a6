import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { openScene, type Scene } from "../support/a2h.ts";
import { type GatedAgent, noting, officeOf, PROPERTIES, REFUND, testGate } from "../support/gated-agents.ts";
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

describe("a tool behind the approval of LangChain's middleware", () => {
  let scene: Scene;
  before(async () => {
    // Clients go by the time of day where a server is away.
    scene = await openScene("sqlite", { at: Date.now() });
  });
  after(() => scene[Symbol.asyncDispose]());

  testGate(langChain, () => scene);

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
