import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Annotation, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { jsonSchema, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { answerApprovals } from "@parley/adapters/ai";
import { answerInterrupts, requireApproval } from "@parley/adapters/langgraph";
import { Parley } from "@parley/sdk";
import { support as withAiSdk } from "../../adapters/examples/ai-approval.ts";
import { canonical, digestOf } from "../../sdk/src/consent.ts";
import { openScene, type Scene } from "../support/a2h.ts";
import { fresh, until } from "../support/contract.ts";
import { officeOf, PROPERTIES, REFUND } from "../support/gated-agents.ts";

/** A client that notes the ids of the decisions that it claims. */
class NotingParley extends Parley {
  readonly claimed: string[] = [];

  override claim(...[id, options]: Parameters<Parley["claim"]>): Promise<void> {
    this.claimed.push(id);
    return super.claim(id, options);
  }
}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

describe("the end of a tool behind a framework's own approval", () => {
  let scene: Scene;
  before(async () => {
    // Clients go by the time of day where a server is away.
    scene = await openScene("sqlite", { at: Date.now() });
  });
  after(() => scene[Symbol.asyncDispose]());

  const { somebody } = officeOf(() => scene);
  const noting = () => new NotingParley({ url: scene.world.url, key: scene.agent.key });
  const outcomeOf = async (id = "") =>
    (await scene.agent.call("GET", `//a2h/v1alpha1/function_calls/${id}`)).body.status.outcome;
  const comesTo = (id: string | undefined, state: string) =>
    until(async () => {
      const outcome = await outcomeOf(id);
      return outcome?.state === state && outcome;
    });

  /** A graph of one node that runs this behind its approval, at its pause. */
  async function paused(run: (args: typeof REFUND) => unknown) {
    const refund = requireApproval("issue_refund", run);
    const graph = new StateGraph(Annotation.Root({ done: Annotation<unknown> }))
      .addNode("refund", async () => ({ done: await refund(REFUND) }))
      .addEdge(START, "refund")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: fresh("thread") } };
    await graph.invoke({}, config);
    return { graph, config };
  }

  it("LangGraph.js: is reported by requireApproval, with the digest of the result", async () => {
    const [ana, parley] = [await somebody(), noting()];
    const { graph, config } = await paused(({ order }) => ({ refunded: order }));
    const answering = answerInterrupts(parley, graph, config, { to: ana.name });
    await ana.decides({ approved: true });
    await answering;
    assert.deepEqual((await graph.getState(config)).values.done, { refunded: "A-1007" });
    const { result_digest: digest } = await comesTo(parley.claimed[0], "done");
    assert.equal(digest, await digestOf(canonical({ refunded: "A-1007" })));
  });

  it("LangGraph.js: is a failure by the error's name, and the graph has the error", async () => {
    const [ana, parley] = [await somebody(), noting()];
    const error = new RangeError("hunter2 is too far away");
    const { graph, config } = await paused(() => {
      throw error;
    });
    const answering = assert.rejects(answerInterrupts(parley, graph, config, { to: ana.name }), /hunter2/);
    await ana.decides({ approved: true });
    await answering;
    assert.equal((await comesTo(parley.claimed[0], "failed")).text, "RangeError");
  });

  it("LangGraph.js: is no failure where the tool itself pauses the graph", async () => {
    const [ana, parley] = [await somebody(), noting()];
    const { graph, config } = await paused(() => interrupt("a form of another program"));
    const answering = answerInterrupts(parley, graph, config, { to: ana.name });
    await ana.decides({ approved: true });
    await answering;
    assert.equal((await outcomeOf(parley.claimed[0])).state, "started");
  });

  it("LangChain: is told of a call that did not run because one beside it was rejected", async () => {
    const [ana, parley] = [await somebody(), noting()];
    const names = ["issue_refund", "drop_database"];
    const review = {
      actionRequests: names.map((name) => ({ name, args: REFUND })),
      reviewConfigs: names.map((actionName) => ({ actionName, allowedDecisions: ["approve", "reject"] })),
    };
    const graph = new StateGraph(Annotation.Root({ done: Annotation<unknown> }))
      .addNode("review", () => ({ done: interrupt<unknown, unknown>(review) }))
      .addEdge(START, "review")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: fresh("thread") } };
    await graph.invoke({}, config);
    const answering = answerInterrupts(parley, graph, config, { to: ana.name });
    const asked = await until(async () => {
      const inbox = await ana.inbox();
      return inbox.length === 2 ? inbox : undefined;
    });
    for (const { id, title } of asked)
      await ana.decide(id, title === "issue_refund" ? { approved: true } : { approved: false, comment: "No" });
    await answering;
    const outcomes = await Promise.all(parley.claimed.map((id) => outcomeOf(id)));
    const told = outcomes.filter((one) => one !== undefined).map(({ state, text }) => [state, text]);
    assert.deepEqual(told, [["failed", "Not run: a call beside it was rejected."]]);
  });

  for (const [how, execute, state] of [
    ["done", () => "refunded", "done"],
    ["failed", () => assert.fail("hunter2"), "failed"],
  ] as const) {
    it(`Vercel AI SDK: is ${how} as the messages show it`, async () => {
      const [ana, parley] = [await somebody(), noting()];
      const call = {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "issue_refund",
        input: JSON.stringify(REFUND),
      } as const;
      const turn = { usage: USAGE, warnings: [] };
      const model = new MockLanguageModelV4({
        doGenerate: [
          { ...turn, content: [call], finishReason: { unified: "tool-calls", raw: "tool_calls" } },
          { ...turn, content: [{ type: "text", text: "All is done" }], finishReason: { unified: "stop", raw: "stop" } },
        ],
      });
      const inputSchema = jsonSchema<typeof REFUND>({ type: "object", properties: PROPERTIES });
      const running = withAiSdk(parley, model, { issue_refund: tool({ inputSchema, execute }) }, ana.name);
      await ana.decides({ approved: true });
      assert.equal(await running, "All is done");
      const { text, result_digest: digest } = await comesTo(parley.claimed[0], state);
      assert.deepEqual([text, digest], [undefined, state === "done" ? await digestOf('"refunded"') : undefined]);
    });
  }

  it("Vercel AI SDK: is not read from the result of an earlier call of the same id", async () => {
    const [ana, parley] = [await somebody(), noting()];
    const call = { type: "tool-call", toolCallId: "c1", toolName: "issue_refund", input: REFUND } as const;
    const result = {
      type: "tool-result",
      toolCallId: "c1",
      toolName: "issue_refund",
      output: { type: "text", value: "earlier" },
    } as const;
    const request = { type: "tool-approval-request", approvalId: fresh("approval"), toolCallId: "c1" } as const;
    const messages: ModelMessage[] = [
      { role: "assistant", content: [call] },
      { role: "tool", content: [result] },
      { role: "assistant", content: [call, request] },
    ];
    const answering = answerApprovals(parley, messages, { to: ana.name });
    await ana.decides({ approved: true });
    const answers = await answering;
    assert.ok(answers);
    messages.push(answers);
    await answerApprovals(parley, messages);
    assert.equal((await outcomeOf(parley.claimed[0])).state, "started");
    messages.push({ role: "tool", content: [{ ...result, output: { type: "json", value: { n: 2 } } }] });
    await answerApprovals(parley, messages);
    assert.equal((await outcomeOf(parley.claimed[0])).result_digest, await digestOf('{"n":2}'));
  });
});
