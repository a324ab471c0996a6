import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Annotation, Command, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { Agent as OpenAiAgent, run, RunState, setTracingDisabled, tool as openAiTool } from "@openai/agents";
import { assistantMessage, functionCall, modelResponse, ScriptedModel } from "@openai/agents/testing";
import type { ModelMessage } from "ai";
import { answerApprovals } from "@parley/adapters/ai";
import { answerInterrupts, approveInNode, askInNode } from "@parley/adapters/langgraph";
import { answerInterruptions } from "@parley/adapters/openai-agents";
import { openScene, type Scene } from "../support/a2h.ts";
import { fresh, until } from "../support/contract.ts";
import { noting, officeOf, oneGoesOn, PROPERTIES, REFUND } from "../support/gated-agents.ts";

setTracingDisabled(true);

const QUESTION = { question: "Shall it go on as it is?", min_responses: 1 };

describe("a pause with which two processes go on", () => {
  let scene: Scene;
  before(async () => {
    // Clients go by the time of day where a server is away.
    scene = await openScene("sqlite", { at: Date.now() });
  });
  after(() => scene[Symbol.asyncDispose]());

  const { client, somebody } = officeOf(() => scene);

  it("Vercel AI SDK: gives the message to one, and tells the other", async () => {
    const ana = await somebody();
    const call = { type: "tool-call", toolCallId: "c1", toolName: "issue_refund", input: REFUND } as const;
    const request = { type: "tool-approval-request", approvalId: fresh("approval"), toolCallId: "c1" } as const;
    const kept: ModelMessage[] = [{ role: "assistant", content: [call, request] }];
    await oneGoesOn(ana, () => answerApprovals(client(), kept, { to: ana.name }));
  });

  it("OpenAI Agents SDK: runs the tool in one, and tells the other, also one that comes later", async () => {
    const ana = await somebody();
    const ran: unknown[] = [];
    const refund = openAiTool({
      name: "issue_refund",
      description: "Refunds an order.",
      parameters: {
        type: "object",
        properties: PROPERTIES,
        required: ["order", "amount"],
        additionalProperties: false,
      },
      needsApproval: true,
      execute: noting(ran),
    });
    const model = new ScriptedModel([
      modelResponse([functionCall("issue_refund", REFUND, { callId: "c1" })]),
      modelResponse([assistantMessage("All is done")]),
    ]);
    const agent = new OpenAiAgent({ name: "Support", model, tools: [refund] });
    const kept = (await run(agent, "Refund order A-1007.")).state.toString();
    const options = { to: ana.name, runName: fresh("run") };
    const goOn = async () => {
      const state = await RunState.fromString(agent, kept);
      await answerInterruptions(client(), state, options);
      return run(agent, state);
    };
    await oneGoesOn(ana, goOn);
    await assert.rejects(goOn(), { code: "already_claimed" });
    assert.deepEqual(ran, [REFUND]);
  });

  it("LangGraph.js: runs the node to its end in one, and tells the other, also one that comes later", async () => {
    const ana = await somebody();
    const ran: unknown[] = [];
    const graph = new StateGraph(Annotation.Root({ done: Annotation<string> }))
      .addNode("refund", async () => {
        const verdict = approveInNode({ fn: "issue_refund", args: REFUND });
        await Promise.resolve();
        return { done: verdict.isApproved ? noting(ran)(verdict.args) : verdict.why };
      })
      .addEdge(START, "refund")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: fresh("thread") } };
    await graph.invoke({}, config);
    // A process that dies between its claim and its resume leaves this pause.
    const paused = await graph.getState(config);
    await oneGoesOn(ana, () => answerInterrupts(client(), graph, config, { to: ana.name }));
    assert.deepEqual([ran, (await graph.getState(config)).values.done], [[REFUND], "refunded"]);

    const asThen = { getState: async () => paused, invoke: () => assert.fail("a second run") };
    const late = answerInterrupts(client(), asThen, config, { to: ana.name });
    await assert.rejects(late, { code: "already_claimed" });
  });

  it("LangGraph.js: an equal question or call of one node is asked about again", async () => {
    const ana = await somebody();
    const graph = new StateGraph(Annotation.Root({ done: Annotation<unknown[]> }))
      .addNode("twice", () => {
        const answers = [askInNode(QUESTION), askInNode(QUESTION)].map((one) => one.answers[0]?.answer);
        const verdicts = [0, 1].map(() => approveInNode({ fn: "issue_refund", args: REFUND }).isApproved);
        return { done: [...answers, ...verdicts] };
      })
      .addEdge(START, "twice")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: fresh("thread") } };
    await graph.invoke({}, config);
    const answering = answerInterrupts(client(), graph, config, { to: ana.name });
    for (const words of ["Yes", "No"]) {
      const bo = scene.world.person(fresh("bo"));
      const id = await until(async () => (await bo.get("/human/questions")).body.questions[0]?.question_id);
      assert.equal((await bo.answer(id, words)).status, 201);
    }
    await ana.decides({ approved: true });
    await ana.decides({ approved: false });
    await answering;
    const { values, tasks } = await graph.getState(config);
    assert.deepEqual([values.done, tasks], [["Yes", "No", true, false], []]);
  });

  it("LangGraph.js: an answer is to its own question", async () => {
    const graph = new StateGraph(Annotation.Root({ done: Annotation<unknown> }))
      .addNode("ask", () => ({ done: askInNode(QUESTION) }))
      .addEdge(START, "ask")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: fresh("thread") } };
    await graph.invoke({}, config);
    const resume = { answers: [{ answer: "Yes" }], on: JSON.stringify({ question: "Another one?" }) };
    await assert.rejects(graph.invoke(new Command({ resume }), config), /answers are not to "Shall it go on/);
  });
});
