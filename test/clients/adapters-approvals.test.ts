import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { Agent as OpenAiAgent, run, RunState, setTracingDisabled, tool as openAiTool } from "@openai/agents";
import { assistantMessage, functionCall, modelResponse, ScriptedModel } from "@openai/agents/testing";
import { jsonSchema, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { answerApprovals } from "@parley/adapters/ai";
import type { Planner } from "../../adapters/src/approvals.ts";
import { answerInterrupts, approveInNode } from "@parley/adapters/langgraph";
import { support as withLangGraph } from "../../adapters/examples/langgraph-approval.ts";
import { answerInterruptions, type Interrupted } from "@parley/adapters/openai-agents";
import { support as withOpenAiAgents } from "../../adapters/examples/openai-agents-approval.ts";
import { support as withAiSdk } from "../../adapters/examples/ai-approval.ts";
import { openScene, type Scene } from "../support/a2h.ts";
import { fresh, until } from "../support/contract.ts";
import { type GatedAgent, noting, officeOf, PROPERTIES, REFUND, testGate } from "../support/gated-agents.ts";

setTracingDisabled(true);

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function aiModel() {
  const turn = { usage: USAGE, warnings: [] };
  const call = {
    type: "tool-call",
    toolCallId: "c1",
    toolName: "issue_refund",
    input: JSON.stringify(REFUND),
  } as const;
  return new MockLanguageModelV4({
    doGenerate: [
      { ...turn, content: [call], finishReason: { unified: "tool-calls", raw: "tool_calls" } },
      { ...turn, content: [{ type: "text", text: "All is done" }], finishReason: { unified: "stop", raw: "stop" } },
    ],
  });
}

function aiSdk(): GatedAgent {
  const ran: unknown[] = [];
  const model = aiModel();
  const issueRefund = tool({
    inputSchema: jsonSchema<typeof REFUND>({ type: "object", properties: PROPERTIES }),
    execute: noting(ran),
  });
  return {
    name: "Vercel AI SDK",
    run: (parley, to) => withAiSdk(parley, model, { issue_refund: issueRefund }, to),
    told: () => JSON.stringify(model.doGenerateCalls.at(-1)?.prompt),
    ran,
  };
}

function openAiModel(args: string | typeof REFUND = REFUND) {
  return new ScriptedModel([
    modelResponse([functionCall("issue_refund", args, { callId: "c1" })]),
    modelResponse([assistantMessage("All is done")]),
  ]);
}

const openAiRefund = (ran: unknown[]) =>
  openAiTool({
    name: "issue_refund",
    description: "Refunds an order.",
    parameters: { type: "object", properties: PROPERTIES, required: ["order", "amount"], additionalProperties: false },
    needsApproval: true,
    execute: noting(ran),
  });

function openAiAgents(): GatedAgent {
  const ran: unknown[] = [];
  const model = openAiModel();
  return {
    name: "OpenAI Agents SDK",
    run: (parley, to) => withOpenAiAgents(parley, model, openAiRefund(ran), to),
    told: () => JSON.stringify(model.calls.at(-1)?.request.input),
    ran,
  };
}

function langGraph(): GatedAgent {
  const ran: unknown[] = [];
  const model = fakeModel()
    .respondWithTools([{ name: "issue_refund", args: REFUND, id: "c1" }])
    .respond(new AIMessage("All is done"));
  return {
    name: "LangGraph.js",
    run: (parley, to) => withLangGraph(parley, model, async (args) => noting(ran)(args), to),
    told: () => JSON.stringify(model.calls.at(-1)?.messages.map(({ content }) => content)),
    ran,
  };
}

/** Returns a turn of the AI SDK in which two calls wait for approval. */
function turnOfTwo(): ModelMessage[] {
  const ids = ["c1", "c2"];
  const calls = ids.map((toolCallId, i) => {
    const input = { ...REFUND, amount: i };
    return { type: "tool-call" as const, toolCallId, toolName: "issue_refund", input };
  });
  const requests = ids.map((toolCallId) => {
    return { type: "tool-approval-request" as const, approvalId: fresh("approval"), toolCallId };
  });
  return [{ role: "assistant", content: [...calls, ...requests] }];
}

describe("a tool behind a framework's own approval", () => {
  let scene: Scene;
  before(async () => {
    // Clients go by the time of day where a server is away.
    scene = await openScene("sqlite", { at: Date.now() });
  });
  after(() => scene[Symbol.asyncDispose]());

  const { client, somebody, isAsked } = officeOf(() => scene);

  for (const framework of [aiSdk, openAiAgents, langGraph]) testGate(framework, () => scene);

  it("Vercel AI SDK: whoever goes on with messages that were kept gets the decision on what was asked", async () => {
    const ana = await somebody();
    const call = { type: "tool-call", toolCallId: "c1", toolName: "issue_refund", input: REFUND } as const;
    const request = { type: "tool-approval-request", approvalId: fresh("approval"), toolCallId: "c1" } as const;
    const automatic = { ...request, approvalId: "automatic", isAutomatic: true } as const;
    const kept: ModelMessage[] = [{ role: "assistant", content: [call, request, automatic] }];
    const stop = new AbortController();
    const first = answerApprovals(client(), kept, { to: ana.name, signal: stop.signal });
    const crashed = assert.rejects(first, /crashed/);
    await isAsked(ana);
    stop.abort(new Error("crashed"));
    await crashed;

    const second = answerApprovals(client(), kept, { to: ana.name });
    assert.equal((await ana.inbox()).length, 1);
    await ana.decides({ approved: true });
    const answers = await second;
    const { approvalId } = request;
    assert.deepEqual(answers, {
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId, approved: true }],
    });
    assert.ok(answers);
    assert.equal(await answerApprovals(client(), [...kept, answers], { to: ana.name }), undefined);
    assert.equal((await ana.inbox()).length, 0);
  });

  it("OpenAI Agents SDK: whoever goes on with a state that was kept gets the decision on what was asked", async () => {
    const ana = await somebody();
    const ran: unknown[] = [];
    const agent = new OpenAiAgent({ name: "Support", model: openAiModel(), tools: [openAiRefund(ran)] });
    const kept = (await run(agent, "Refund order A-1007.")).state.toString();
    const options = { to: ana.name, runName: fresh("run") };
    const stop = new AbortController();
    const first = answerInterruptions(client(), await RunState.fromString(agent, kept), {
      ...options,
      signal: stop.signal,
    });
    const crashed = assert.rejects(first, /crashed/);
    await isAsked(ana);
    stop.abort(new Error("crashed"));
    await crashed;

    const state = await RunState.fromString(agent, kept);
    const second = answerInterruptions(client(), state, options);
    assert.equal((await ana.inbox()).length, 1);
    await ana.decides({ approved: true });
    await second;
    assert.equal((await run(agent, state)).finalOutput, "All is done");
    assert.deepEqual(ran, [REFUND]);
  });

  it("OpenAI Agents SDK: a call is asked about anew though the model names it as one of an earlier turn", async () => {
    const ana = await somebody();
    const callId = "functions.issue_refund:0";
    const said: string[] = [];
    /** A state in which so many calls of this id have their result; null for one that keeps no history. */
    const stateAfter = (results: number | null, amount: number) => {
      const args = JSON.stringify({ ...REFUND, amount });
      const rawItem = { type: "function_call", name: "issue_refund", callId, arguments: args };
      const history = Array.from({ length: results ?? 0 }, () => ({ type: "function_call_result", callId }));
      return {
        getInterruptions: () => [{ name: "issue_refund", arguments: args, rawItem }],
        approve: () => said.push("approve"),
        reject: () => said.push("reject"),
        ...(results !== null && { history }),
      } as unknown as Interrupted;
    };
    const options = { runName: fresh("run"), to: ana.name };
    // In a new process the history tells the turns apart; without one, the process that has decided.
    const oldest = client();
    for (const [parley, results, amount] of [
      [client(), 0, 10],
      [client(), 1, 10],
      [client(), 1, 999],
      [oldest, null, 10],
      [oldest, null, 10],
    ] as const) {
      const answering = answerInterruptions(parley, stateAfter(results, amount), options);
      await ana.decides({ approved: said.length === 0 });
      await answering;
    }
    assert.deepEqual(said, ["approve", "reject", "reject", "reject", "reject"]);
    await assert.rejects(answerInterruptions(client(), stateAfter(0, 10), options), { code: "already_claimed" });
  });

  it("Vercel AI SDK: several calls are one plan where that is wanted, and one process uses it", async () => {
    const ana = await somebody();
    const kept = turnOfTwo();
    const options = { to: ana.name, asPlan: { title: "Refund both" } };
    const both = Promise.allSettled([1, 2].map(() => answerApprovals(client(), kept, options)));
    await isAsked(ana);
    const [line, ...others] = await ana.inbox();
    assert.deepEqual([line?.title, others], ["Refund both", []]);
    await ana.decides({ approved: true, approved_calls: 1, comment: "One only" });
    const ends = await both;
    const answers = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    const refused = ends.flatMap((end) => (end.status === "rejected" ? [(end.reason as { code: string }).code] : []));
    assert.deepEqual(refused, ["not_in_plan"]);
    const reason = `${ana.name} rejected issue_refund: It was taken out of the plan: One only`;
    assert.deepEqual(
      answers[0]?.content.map((part) => ("approved" in part ? [part.approved, part.reason] : [])),
      [
        [true, undefined],
        [false, reason],
      ],
    );
  });

  it("OpenAI Agents SDK: several calls are one plan where that is wanted", async () => {
    const ana = await somebody();
    const ran: unknown[] = [];
    const turn = [10, 20].map((amount, i) => functionCall("issue_refund", { ...REFUND, amount }, { callId: `c${i}` }));
    const model = new ScriptedModel([modelResponse(turn), modelResponse([assistantMessage("All is done")])]);
    const agent = new OpenAiAgent({ name: "Support", model, tools: [openAiRefund(ran)] });
    const { state } = await run(agent, "Refund both.");
    const answering = answerInterruptions(client(), state, { to: ana.name, asPlan: true });
    await ana.decides({ approved: true, approved_calls: 1, comment: "One only" });
    await answering;
    assert.equal((await run(agent, state)).finalOutput, "All is done");
    assert.deepEqual(ran, [{ ...REFUND, amount: 10 }]);
    assert.match(JSON.stringify(model.calls.at(-1)?.request.input), /taken out of the plan: One only/);
  });

  it("OpenAI Agents SDK: an equal turn of a state without history is another plan", async () => {
    const ana = await somebody();
    const said: string[] = [];
    const items = [10, 20].map((amount) => {
      const args = JSON.stringify({ ...REFUND, amount });
      const callId = `functions.issue_refund:${amount}`;
      return { name: "issue_refund", arguments: args, rawItem: { type: "function_call", callId, arguments: args } };
    });
    const state = {
      getInterruptions: () => items,
      approve: () => said.push("approve"),
      reject: () => said.push("reject"),
    } as unknown as Interrupted;
    const parley = client();
    for (const approved of [true, false]) {
      const answering = answerInterruptions(parley, state, { runName: "same", to: ana.name, asPlan: true });
      await ana.decides({ approved });
      await answering;
    }
    assert.deepEqual(said, ["approve", "approve", "reject", "reject"]);
  });

  it("Vercel AI SDK: a plan that was withdrawn is told as one, and late runs of an approved one are refused", async () => {
    const ana = await somebody();
    const parley = client();
    const keys: string[] = [];
    const noted: Planner = {
      approve: (request) => parley.approve(request),
      claim: (id, options) => parley.claim(id, options),
      approveAll: (calls, options) => {
        keys.push(options?.idempotencyKey ?? "");
        return parley.approveAll(calls, options);
      },
    };
    const options = { to: ana.name, asPlan: true, timeoutSeconds: 600 };
    const withdrawn = answerApprovals(noted, turnOfTwo(), options);
    await isAsked(ana);
    await parley.withdrawPlan(keys[0] ?? "", { reason: "Changed" });
    const why = "It was cancelled before anybody decided: issue_refund is not approved: Changed";
    const answer = await withdrawn;
    assert.deepEqual(
      answer?.content.map((part) => "reason" in part && part.reason),
      [why, why],
    );

    const stop = new AbortController();
    const messages = turnOfTwo();
    const crashed = assert.rejects(answerApprovals(parley, messages, { ...options, signal: stop.signal }), /crashed/);
    await isAsked(ana);
    stop.abort(new Error("crashed"));
    await crashed;
    await ana.decides({ approved: true });
    await scene.world.advance(600_000);
    await assert.rejects(answerApprovals(parley, messages, options), {
      code: "not_in_plan",
      details: { reason: "expired" },
    });
  });

  it("OpenAI Agents SDK: nobody is asked about arguments that are no object, and they do not run", async () => {
    const ana = await somebody();
    const ran: unknown[] = [];
    const model = openAiModel("[1, 2]");
    assert.equal(await withOpenAiAgents(client(), model, openAiRefund(ran), ana.name), "All is done");
    assert.match(JSON.stringify(model.calls.at(-1)?.request.input), /nobody could be shown them/);
    assert.deepEqual([ran, await ana.inbox()], [[], []]);
  });

  it("LangGraph.js: whoever takes over a paused graph gets the decision on what was asked", async () => {
    const ana = await somebody();
    const ran: unknown[] = [];
    const checkpointer = new MemorySaver();
    const graph = () =>
      new StateGraph(Annotation.Root({ done: Annotation<string> }))
        .addNode("refund", () => {
          const verdict = approveInNode({ fn: "issue_refund", args: REFUND });
          ran.push(verdict);
          return { done: verdict.isApproved ? "yes" : verdict.why };
        })
        .addNode("other", () => ({ done: interrupt<unknown, string>({ approve: "a form" }) }))
        .addEdge(START, "refund")
        .addEdge("refund", "other")
        .compile({ checkpointer });
    const config = { configurable: { thread_id: fresh("thread") } };
    const paused = graph();
    await paused.invoke({}, config);
    const stop = new AbortController();
    const first = answerInterrupts(client(), paused, { ...config, signal: stop.signal }, { to: ana.name });
    const crashed = assert.rejects(first, /crashed/);
    await isAsked(ana);
    stop.abort(new Error("crashed"));
    await crashed;

    const second = answerInterrupts(client(), graph(), config, { to: ana.name });
    assert.equal((await ana.inbox()).length, 1);
    await ana.decides({ approved: true });
    await second;
    const { values, tasks } = await graph().getState(config);
    assert.deepEqual([values.done, ran], ["yes", [{ isApproved: true, args: REFUND, isEdited: false }]]);
    assert.deepEqual(tasks[0]?.interrupts[0]?.value, { approve: "a form" });
  });

  it("LangGraph.js: a call of a review that may only be responded to is a question, and its answer the response", async () => {
    const ana = await somebody();
    const asks = { name: "ask_user", args: { question: "Which colour?", options: ["Red", "Blue"] } };
    const review = {
      actionRequests: [asks, { name: "issue_refund", args: REFUND }],
      reviewConfigs: [
        { actionName: "ask_user", allowedDecisions: ["respond"] },
        { actionName: "issue_refund", allowedDecisions: ["approve", "reject", "respond"] },
      ],
    };
    const graph = new StateGraph(Annotation.Root({ done: Annotation<unknown> }))
      .addNode("review", () => ({ done: interrupt<unknown, unknown>(review) }))
      .addEdge(START, "review")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: fresh("thread") } };
    await graph.invoke({}, config);
    const answered = answerInterrupts(client(), graph, config, { to: ana.name });
    const asked = await until(async () => {
      const inbox = await ana.inbox();
      return inbox.length === 2 ? inbox : undefined;
    });
    for (const { id, kind } of asked) {
      const reply = await ana.decide(id, kind === "approval" ? { approved: true } : { value: "Blue" });
      assert.equal(reply.status, 200, reply.text);
    }
    await answered;
    const { values } = await graph.getState(config);
    assert.deepEqual(values.done, { decisions: [{ type: "respond", message: "Blue" }, { type: "approve" }] });
  });

  it("LangGraph.js: a verdict on another call is none", async () => {
    const graph = new StateGraph(Annotation.Root({ done: Annotation<string> }))
      .addNode("refund", () => ({ done: String(approveInNode({ fn: "issue_refund", args: REFUND }).isApproved) }))
      .addEdge(START, "refund")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: fresh("thread") } };
    await graph.invoke({}, config);
    const on = JSON.stringify({ fn: "issue_refund", args: { ...REFUND, amount: 4.99 } });
    await assert.rejects(graph.invoke(new Command({ resume: { isApproved: true, on } }), config), /not what would run/);
  });
});
